"""A placeholder is left where a name or value is due.

## Why   examples are copied before they are filled in: `image: { … }` is a YAML map, `p-{projectName}` no namespace, and a
         nodeSelector of "<zone>" matches no node
## Bad   namespace: p-{projectName}, image: { training image }, claimName: <pvc>, image: your-registry/train:1.0
## Good  namespace: p-myproject
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from mlxtpl.manifest import Finding, Part, Subject

ID = "placeholder"
LEVEL = "error"
# In a name or reference, any of these; elsewhere the whole text has to be one.
_BRACES = r"\{\{?[^{}\"':,]*\}?\}|<[^<>=]+>"
_WORD = r"change[-_ ]?me|replace[-_ ]?me|to[-_ ]?do|fix[-_ ]?me|xxx+|your[-_ ][\w-]+"
_PART = re.compile(
    rf"(?<!\$)(?:{_BRACES})|(?:^|[/:@._-])(?:your[-_][\w-]+|change-?me|replace-?me)(?:$|[/:@.])", re.IGNORECASE
)
_WHOLE = re.compile(rf"(?:{_BRACES}|{_WORD})", re.IGNORECASE)
_NAMES = frozenset(
    """name namespace image claimName secretName serviceAccountName priorityClassName schedulerName runtimeClassName
    nodeName server path rdzvId rdzvHost queue hostname subdomain storageClassName""".split()
)
_MAPS = frozenset(("nodeSelector", "labels", "annotations", "matchLabels"))
_FREE = ("metadata", "managedFields"), ("status",)  # what a server wrote


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the examples of the platform's guide, which have `{ … }` in four places."""
    for part in subject.parts():
        if part.obj["kind"] not in ("ConfigMap", "Secret"):
            yield from _walk(part)
        else:
            yield from _walk(part.at("metadata"))


def _walk(part: Part) -> Iterator[Finding]:
    if part.path in _FREE:
        return
    if _is_braces(part):
        yield part.finding(f"must be filled in, found {{ {next(iter(part.value))} }}")
    elif isinstance(part.value, dict):
        for key in part.value:
            yield from _walk(part.at(key))
    elif isinstance(part.value, list):
        for number in range(len(part.value)):
            yield from _walk(part.at(number))
    elif isinstance(part.value, str) and _is_left(part.path, part.value):
        yield part.finding(f'must be filled in, found "{part.value}"')


def _is_braces(part: Part) -> bool:
    """Whether text in braces was read as a map of one key without a value."""
    value: Any = part.value
    named = part.path and (part.path[-1] in _NAMES or (len(part.path) > 1 and part.path[-2] in _MAPS))
    return bool(named) and isinstance(value, dict) and len(value) == 1 and next(iter(value.values())) is None


def _is_left(path: tuple[Any, ...], text: str) -> bool:
    if len(path) > 1 and path[-2] in _MAPS and path[-2] != "annotations":
        return _PART.search(text) is not None
    if path[-1] in _NAMES and not (path[-1] == "path" and "items" in path):
        return _PART.search(text) is not None
    # Shells, JSON and formats have braces of their own.
    return _WHOLE.fullmatch(text.strip()) is not None and ("args" in path or "command" in path or path[-1] == "value")
