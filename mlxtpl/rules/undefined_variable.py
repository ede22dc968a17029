"""A $(VARIABLE) in a command, in args or in env is not defined.

## Why   Kubernetes replaces only what the container's own env defines, in env only what stands earlier in the list, and
         leaves the rest as it is written: the program gets the text $(VARIABLE), and a shell takes it for a command
## Bad   args: ["--data=$(DATA_DIR)"] without such an entry in env
## Good  the same with env: [{name: DATA_DIR, value: /data}]
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from mlxtpl.manifest import TRAINING, Finding, Part, Subject, launch
from mlxtpl.rules.unset_torchrun_variable import unset
from mlxtpl.training_operator import injected

ID = "undefined-variable"
LEVEL = "warning"
# Two dollars are one that is meant as such. What is not all upper case is more likely a command of a shell.
_REFERENCE = re.compile(r"\$\$|\$\(([A-Z_][A-Z0-9_]*)\)")
# Kubernetes sets these for each Service of the namespace.
_OF_SERVICES = re.compile(r".+_SERVICE_(HOST|PORT)(_.+)?|.+_PORT_[0-9]+_(TCP|UDP|SCTP)(_.+)?")


def check(subject: Subject) -> Iterator[Finding]:
    """Source: third_party/forked/golang/expansion and pkg/kubelet/container/helpers.go, Kubernetes v1.32.

    What is to come from the operator or torchrun and does not, unset-torchrun-variable tells.
    """
    for container in subject.containers():
        texts = [*launch(container), *(str(each.value.get("value")) for each in container.items("env"))]
        if container.at("envFrom").value or not any("$(" in each for each in texts):
            continue
        earlier: set[str] = set()
        entries = container.items("env")
        names = {each.text("name") for each in entries}
        for entry in entries:
            yield from _undefined(entry.at("value"), earlier, names)
            earlier.add(entry.text("name"))
        names |= injected(container) | _of_job(container)
        names |= set(unset(container)) if container.obj["kind"] in TRAINING else set()
        for field in ("command", "args"):
            words = container.at(field).value
            for number in range(len(words) if isinstance(words, list) else 0):
                yield from _undefined(container.at(field, number), names)


def _undefined(part: Part, known: Collection[str], later: Collection[str] = ()) -> Iterator[Finding]:
    text = part.value if isinstance(part.value, str) else ""
    for name in dict.fromkeys(match[1] for match in _REFERENCE.finditer(text) if match[1]):
        if name not in known and not _OF_SERVICES.fullmatch(name):
            why = "which is not defined earlier in env" if name in later else "which nothing defines here"
            hint = f"a shell's variable is ${{{name}}}; the text itself is $$({name})"
            yield part.finding(f"uses $({name}), {why}, and keeps it as it is written", hint=hint)


def _of_job(container: Part) -> set[str]:
    """What the Job controller sets for the pods of an Indexed Job."""
    whole = container._replace(path=(), value=container.obj)
    spec = whole.at("spec") if container.obj["kind"] == "Job" else whole.at("spec", "jobTemplate", "spec")
    return {"JOB_COMPLETION_INDEX"} if spec.text("completionMode") == "Indexed" else set()
