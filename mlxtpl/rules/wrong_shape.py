"""A field that Kubernetes has as a map or a list of maps is something else.

## Why   the API server refuses the object, and no other rule can look into it
## Bad   containers: main
## Good  containers: [{name: main, image: i}]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mlxtpl import kinds
from mlxtpl.kinds import Keyed, PrimitiveSet
from mlxtpl.manifest import Finding, Subject

ID = "wrong-shape"
LEVEL = "error"
_TEXTS = ("command", "args")


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the types of the fields in `kinds`, that is of kubernetes/api and of the training operator's CRD."""
    for part in subject.parts():
        kind = kinds.find_kind(part.obj)
        for path, message in _faults(part.obj, kind.lists if kind else {"metadata": {}}, ()):
            yield part.finding(message, *path)
        for name, replica in part.map("spec", "pytorchReplicaSpecs").items():
            if not isinstance(replica, dict) and name not in ("Master", "Worker"):
                yield part.finding("must be a map", "spec", "pytorchReplicaSpecs", name)


def _faults(value: Any, how: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], str]]:
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
            yield from _faults(item, how.items, (*path, number))
            if item is None:
                yield (*path, number), "must be a map"
            if isinstance(item, dict) and any(isinstance(item.get(key), (dict, list)) for key in how.keys):
                yield (*path, number, how.keys[0]), "must be a scalar"
    elif isinstance(how, Mapping):
        if not isinstance(value, dict):
            yield path, "must be a map"
            return
        for name, inner in how.items():
            yield from _faults(value.get(name), inner, (*path, name))
        for name in _TEXTS:
            if path and isinstance(path[-1], int) and value.get(name) is not None and not isinstance(value[name], list):
                yield (*path, name), "must be a list"
