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
from mlxtpl.manifest import Finding, Part, Subject

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
        yield from _walk(part.at("metadata") if opaque else part)


def _walk(part: Part) -> Iterator[Finding]:
    if part.path in (("status",), ("metadata", "managedFields")):
        return
    if _is_name(part.path, _MAPS_OF_TEXT) and _is_braces(part.value):
        yield part.finding(f"must be filled in, found {{ {next(iter(part.value))} }}")
    elif isinstance(part.value, (dict, list)):
        for step in part.value if isinstance(part.value, dict) else range(len(part.value)):
            yield from _walk(part.at(step))
    elif isinstance(part.value, str) and _is_name(part.path, _MAPS) and _is_left(part.value):
        yield part.finding(f'must be filled in, found "{part.value}"')


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
