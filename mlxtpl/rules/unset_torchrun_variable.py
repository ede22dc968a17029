"""A command uses variables of the distributed run that nothing sets here.

## Why   they become nothing: torchrun stops at `--rdzv_id` without a value (expected one argument, exit code 2), and
         restartPolicy OnFailure repeats that for ever. PET_RDZV_* need an elasticPolicy (PET_RDZV_ID also its rdzvId);
         MASTER_ADDR, MASTER_PORT, WORLD_SIZE, RANK need a Master; a Job and init containers get none of them
## Bad   args: ["torchrun --rdzv_id ${PET_RDZV_ID} train.py"] in a PyTorchJob without an elasticPolicy
## Good  args: ["torchrun train.py"] with an elasticPolicy; torchrun reads PET_* by itself
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlxtpl.manifest import TRAINING, Finding, Part, Subject, launch
from mlxtpl.torchrun import shell_script
from mlxtpl.training_operator import INJECTED, injected

ID = "unset-torchrun-variable"
LEVEL = "error"
_NAMES = (*INJECTED, "LOCAL_RANK", "LOCAL_WORLD_SIZE")
# Files that are known to set none of them; any other file may.
_HARMLESS = ("activate", "conda.sh", ".bashrc", ".profile", "profile", "bashrc")
_LONGEST = 10_000  # Nothing is said of a script that is longer.


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/controller.v1/pytorch/envvar.go and elastic.go at v1.9.4.

    It tells of a job that workers-without-rendezvous tells of, too: an elasticPolicy without rdzvId, which mends that,
    still leaves PET_RDZV_ID unset.
    """
    for container in subject.containers(*TRAINING):
        names = unset(container)
        if names:
            message = f"uses {', '.join(names)}, which nothing sets here"
            yield _place(container, names).finding(message, hint=_hint(container, names))


def unset(container: Part) -> list[str]:
    """The variables that a container's command uses and that nothing sets, in the order of the table."""
    if container.at("envFrom").value or not any("$" in word for word in launch(container)):
        return []
    given = injected(container) | {each.text("name") for each in container.items("env")}
    words, script = launch(container), shell_script(container)
    text = "" if len(script) > _LONGEST or _set_elsewhere(script) else _expanded(script)
    return [name for name in _NAMES if name not in given and (_by_kubernetes(words, name) or _by_shell(text, name))]


def _by_kubernetes(words: list[str], name: str) -> bool:
    return any(re.search(rf"(?<!\$)\$\({name}\)", word) for word in words)


def _by_shell(text: str, name: str) -> bool:
    """Whether a script needs a variable that it neither sets nor asks about."""
    own = rf"(?<![\w$]){name}=|\b(?:read|for)\b[^;\n]*\b{name}\b|\$\{{{name}[^}}\w]|-[nz]\s+\"?\$\{{?{name}\b"
    return bool(re.search(rf"(?<![\\$])\$(?:{name}\b|\{{{name}\}})", text)) and not re.search(own, text)


def _expanded(script: str) -> str:
    """What the shell expands of a script: no comments, no single quotes, nothing that is only printed."""
    text = re.sub(r"\\\r?\n", " ", re.sub(r"(?m)(^|\s)#.*$", r"\1", script))
    text = re.sub(r"""("(?:\\.|[^"\\])*")|'[^']*'""", lambda found: found[1] or "''", text, flags=re.DOTALL)
    printed = re.compile(r"\s*(?:(?:then|else|do)\s+)?(?:echo|printf)\b[^>]*(?:>\s*&\s*[12]\s*)?")
    return "\n".join(each for each in re.split(r"[;|\n]+|(?<!>)&+", text) if not printed.fullmatch(each))


def _set_elsewhere(script: str) -> bool:
    sourced = re.findall(r"(?:^|[;&|(\n]|\b(?:then|else|do)\b)\s*(?:source|\.)\s+([^\s;&|]+)", script)
    evaluated = re.findall(r"\beval\b.*", script)
    other = [each for each in sourced if each.strip("\"'").rpartition("/")[2] not in _HARMLESS]
    return bool(other) or "<<" in script or any("conda" not in each for each in evaluated)


def _place(container: Part, names: list[str]) -> Part:
    for field in ("command", "args"):
        words = container.at(field).value
        for number, word in enumerate(words if isinstance(words, list) else []):
            if re.search(rf"\$[({{]?(?:{'|'.join(names)})\b", str(word)):
                return container.at(field, number)
    return container.at("command")


def _hint(container: Part, names: list[str]) -> str:
    if container.obj.get("kind") != "PyTorchJob":
        return "the operator sets them in a PyTorchJob; in a Job, torchrun --standalone needs none of them"
    if all(name.startswith("PET_") for name in names):
        return "leave torchrun's flags out: it reads PET_* by itself; elasticPolicy brings PET_RDZV_*"
    return "torchrun sets them for each process; in the command they are there with a Master only"
