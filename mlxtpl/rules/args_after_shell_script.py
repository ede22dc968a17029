"""Arguments follow a script that a shell runs with -c and that does not use them.

## Why   `sh -c SCRIPT A B` takes A for $0 and B for $1: the program in the script never sees them, and the jobs of a
         sweep over such arguments all train the same
## Bad   command: [bash, -c, python train.py], args: [--lr, 1e-3]
## Good  command: [python, train.py], args: [--lr, 1e-3]
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject, launch

ID = "args-after-shell-script"
LEVEL = "error"
_SHELL = re.compile(r"(.*/)?(ba|da|z|k|a)?sh")
_USES_ARGUMENTS = re.compile(r"\$(\{?[0-9@*#]|\{!?[@*#0-9])")


def check(subject: Subject) -> Iterator[Finding]:
    """Source: POSIX, sh, "-c": the operand after the command string is the command name, the next is $1."""
    for _, container in subject.training():
        words = launch(container)
        if not words or not _SHELL.fullmatch(words[0]):
            continue
        at = next((n for n, word in enumerate(words[1:], 1) if re.fullmatch(r"-[a-z]*c", word)), 0)
        script, rest = words[at + 1 : at + 2], words[at + 2 :]
        if at and script and rest and not _USES_ARGUMENTS.search(script[0]):
            message = f"the shell drops what follows its script: {' '.join(rest)[:60]}"
            hint = 'write them into the script, let it use "$0" "$@", or start the program without a shell'
            yield container.finding(message, "args", hint=hint)
