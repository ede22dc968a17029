"""Two items of a list have the same name where each needs one of its own.

## Why   the API server refuses it: containers[1].name: Duplicate value, volumeMounts[1].mountPath: must be unique. The
         types of a PyTorchJob refuse that of env and ports, too
## Bad   volumeMounts: [{name: data, mountPath: /data}, {name: cache, mountPath: /data}]
## Good  volumeMounts: [{name: data, mountPath: /data}, {name: cache, mountPath: /cache}]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mlxtpl.manifest import Finding, Part, Subject

ID = "duplicate-list-key"
LEVEL = "error"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/apis/core/validation; x-kubernetes-list-map-keys in the operator's CRD at v1.9.4."""
    for template in subject.templates():
        containers = [*template.items("spec", "initContainers"), *template.items("spec", "containers")]
        yield from _duplicates(containers, "name")
        yield from _duplicates(template.items("spec", "volumes"), "name")
        for container in containers:
            yield from _duplicates(container.items("volumeMounts"), "mountPath")
            if template.obj["kind"] == "PyTorchJob":
                yield from _duplicates(container.items("env"), "name")
                yield from _duplicates(container.items("ports"), "containerPort")


def _duplicates(parts: Iterable[Part], field: str) -> Iterator[Finding]:
    first: dict[tuple[str, object], Part] = {}
    for part in parts:
        value = part.value.get(field)
        if not isinstance(value, (str, int)):
            continue
        other = first.setdefault((str(value), part.value.get("protocol") or "TCP"), part) if _plain(part) else part
        if other is not part:
            yield part.finding(f"must be unique, {other.path[-2]}[{other.path[-1]}] has it, too", field)


def _plain(part: Part) -> bool:
    return isinstance(part.value.get("protocol"), (str, type(None)))
