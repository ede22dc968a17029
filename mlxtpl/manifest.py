"""The manifest: the ordered Kubernetes objects that come out, and how messages name them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mlxtpl import kinds

Object = dict[str, Any]
Manifest = list[Object]


def object_id(obj: Object) -> str:
    """`Kind/name`, with the namespace in front when there is one."""
    metadata = obj.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    namespace = metadata.get("namespace")
    return f"{f'{namespace}/' if namespace else ''}{obj.get('kind')}/{metadata.get('name')}"


def training_containers(obj: Object) -> Iterator[tuple[str, Object]]:
    """The training container of each pod template with its path; nothing for an unknown kind."""
    kind = kinds.find_kind(obj)
    if kind is None:
        return
    for path, template in kinds.pod_templates(obj):
        for container in (template.get("spec") or {}).get("containers") or []:
            if isinstance(container, dict) and container.get("name") == kind.container:
                yield ".".join((*path, "spec", f"containers[{kind.container}]")), container
