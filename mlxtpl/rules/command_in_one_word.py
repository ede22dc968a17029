"""A whole command, or an option with its value, stands in one word of a list.

## Why   no shell splits it: the container starts a program of that very name ("python -u train.py": executable file not
         found), or the program gets one argument "--epochs 10", which it does not know
## Bad   command: ["python -u train.py"], args: [--epochs 10]
## Good  command: [python, -u, train.py], args: [--epochs, "10"]
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject

ID = "command-in-one-word"
LEVEL = "error"
_PROGRAM = re.compile(
    r"(\S*/)?(python[0-9.]*|torchrun|accelerate|deepspeed|bash|sh|pip|nvidia-smi|mpirun|sleep|echo) +\S.*"
)
_OPTION = re.compile(r"--?[A-Za-z][\w-]* +[^\s-]\S*")


def check(subject: Subject) -> Iterator[Finding]:
    """Source: Container.command in core/v1/types.go: not executed within a shell."""
    for container in subject.containers():
        command, args = container.words("command"), container.words("args")
        if command and _PROGRAM.fullmatch(command[0]):
            words = command[0].split()
            yield container.finding(f"must be {len(words)} words: {', '.join(words)}", "command", 0)
        shell = bool(command) and re.fullmatch(r"(\S*/)?(ba|da|z|k|a)?sh", command[0]) is not None
        for number, word in enumerate([] if shell else args):
            if _OPTION.fullmatch(word):
                yield container.finding(f"must be two words: {', '.join(word.split())}", "args", number)
