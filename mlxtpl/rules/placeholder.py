"""A placeholder is left where a name or value is due.

## Why   examples are copied before they are filled in: `image: { … }` is a YAML map, `p-{projectName}` no namespace, and a
         nodeSelector of "<zone>" matches no node
## Bad   namespace: p-{projectName}, image: { training image }, claimName: <pvc>, image: your-registry/train:1.0
## Good  namespace: p-myproject
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from mlxtpl import kinds
from mlxtpl.manifest import Finding, Subject

ID = "placeholder"
LEVEL = "error"
_BRACES = r"\{\{?[^{}\"':,]*\w[^{}\"':,]*\}?\}|<[^<>=/]*\w[^<>=]*>"
_WORD = r"(?:^|[/:@._-])(?:change|replace)[-_]?me|(?:^|[/:@.]|^p-)your[-_][\w-]+"
_TODO = r"(?:^|[/:@])(?-i:TODO|FIXME)$|^x{3,}$"
_HINTS = ("{", "<", "change", "replace", "your", "todo", "fixme", "xxx")
_NAMES = frozenset(
    """name namespace image claimName secretName serviceAccountName priorityClassName schedulerName runtimeClassName
    nodeName server path rdzvId rdzvHost queue hostname subdomain storageClassName""".split()
)
_MAPS = ("nodeSelector", "labels", "matchLabels")
_MAPS_OF_TEXT = (*_MAPS, "annotations")


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the examples of the platform's guide, which have `{ … }` in four places."""
    for part in subject.parts():
        # The data of a ConfigMap may hold anything, and kinds that we do not know have templates of their own.
        opaque = part.obj.get("kind") in ("ConfigMap", "Secret") or kinds.find_kind(part.obj) is None
        where = part.at("metadata") if opaque else part
        for path, found in _left_over(where.value, where.path):
            yield Finding(f"must be filled in, found {found}", part.number, path)


def _left_over(value: Any, path: tuple[Any, ...]) -> list[tuple[tuple[Any, ...], str]]:
    """(path, what stands there) of each placeholder in a map or list."""
    found: list[tuple[tuple[Any, ...], str]] = []
    if isinstance(value, dict):
        if len(value) == 1 and _is_braces(value) and _is_name(path, _MAPS_OF_TEXT):
            return [(path, f"{{ {next(iter(value))} }}")]
        if path in (("status",), ("metadata", "managedFields")):
            return []
        for key, each in value.items():
            if isinstance(each, str):
                if _is_name((*path, key), _MAPS) and _is_left(each):
                    found.append(((*path, key), f'"{each}"'))
            elif isinstance(each, (dict, list)):
                found += _left_over(each, (*path, key))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            if isinstance(each, (dict, list)):
                found += _left_over(each, (*path, number))
    return found


def _is_left(text: str) -> bool:
    """Whether text has a placeholder in it."""
    lower = text.lower()
    return any(each in lower for each in _HINTS) and _left().search(text) is not None


@lru_cache(1)
def _left() -> re.Pattern[str]:
    # Compiled when a text looks like it: that takes longer than all other rules of a cold start together.
    return re.compile(rf"(?<!\$)(?:{_BRACES})|(?:{_WORD})(?:$|[/:@.])|{_TODO}", re.IGNORECASE)


def _is_name(path: tuple[Any, ...], maps: tuple[str, ...]) -> bool:
    if len(path) > 1 and path[-2] in maps:
        return True
    if path[-1:] == ("path",):  # elsewhere it may be a pattern, of an Ingress for one
        return path[-2:-1] in (("hostPath",), ("nfs",))
    return bool(path) and path[-1] in _NAMES


def _is_braces(value: Any) -> bool:
    """Whether text in braces was read as a map of one key without a value."""
    return isinstance(value, dict) and len(value) == 1 and next(iter(value.values())) is None
