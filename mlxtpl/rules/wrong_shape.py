"""A field that Kubernetes has as a map or a list of maps is something else.

## Why   the API server refuses the object, and no other rule can look into it
## Bad   containers: main
## Good  containers: [{name: main, image: i}]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mlxtpl import kinds
from mlxtpl.errors import Problem
from mlxtpl.kinds import Keyed, PrimitiveSet
from mlxtpl.manifest import Manifest, object_id

ID = "wrong-shape"
LEVEL = "error"
_TEXTS = ("command", "args")


def check(manifest: Manifest) -> Iterator[Problem]:
    """Source: the types of the fields in `kinds`, that is of kubernetes/api and of the training operator's CRD."""
    for obj in manifest:
        kind = kinds.find_kind(obj)
        for path, message in _faults(obj, kind.lists if kind else {"metadata": {}}, ""):
            yield Problem(message, f"{object_id(obj)}: {path}")
        replicas = obj.get("spec", {}).get("pytorchReplicaSpecs") if isinstance(obj.get("spec"), dict) else None
        for name, replica in (replicas if isinstance(replicas, dict) else {}).items():
            if not isinstance(replica, dict) and name not in ("Master", "Worker"):
                yield Problem("must be a map", f"{object_id(obj)}: spec.pytorchReplicaSpecs.{name}")


def _faults(value: Any, how: Any, path: str) -> Iterator[tuple[str, str]]:
    if value is None:
        return
    if isinstance(how, PrimitiveSet):
        if not isinstance(value, list):
            yield path, "must be a list"
    elif isinstance(how, Keyed):
        if not isinstance(value, list):
            yield path, "must be a list of maps"
            return
        for number, item in enumerate(value):
            yield from _faults(item, how.items, f"{path}[{number}]")
            if item is None:
                yield f"{path}[{number}]", "must be a map"
            if isinstance(item, dict) and any(isinstance(item.get(key), (dict, list)) for key in how.keys):
                yield f"{path}[{number}].{how.keys[0]}", "must be a scalar"
    elif isinstance(how, Mapping):
        if not isinstance(value, dict):
            yield path, "must be a map"
            return
        for name, inner in how.items():
            yield from _faults(value.get(name), inner, f"{path}.{name}" if path else name)
        for name in _TEXTS:
            if path.endswith("]") and value.get(name) is not None and not isinstance(value[name], list):
                yield f"{path}.{name}", "must be a list"
