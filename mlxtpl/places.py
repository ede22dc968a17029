"""Findings → where the user wrote what is at fault: a line of a manifest, of a values file, of an overlay."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mlxtpl import fields, kinds, yamlio
from mlxtpl.errors import Place, Problem
from mlxtpl.explain import Explained
from mlxtpl.manifest import Finding, Manifest
from mlxtpl.origins import Origin

Locate = Callable[[Finding], Place | None]
_SHORTEST_SECRET = 4
_HIGHEST = 50  # lines that a key may stand above the first value below it


def in_nodes(nodes: Sequence[yamlio.Node]) -> Locate:
    """Places in a manifest that was read: `nodes` are its objects.

    A field that is not there is told at the key of what it should stand in.
    """

    def locate(finding: Finding) -> Place | None:
        node: yamlio.Node = nodes[finding.number]
        place = _start(node)
        for step in finding.path:
            if isinstance(node, yamlio.Mapping) and step in node.items:
                key, node = node.items[step]
                place = key.place
            elif isinstance(node, yamlio.Sequence) and isinstance(step, int) and step < len(node.items):
                node = node.items[step]
                place = _start(node)
            else:
                return place
        return place if finding.key or not isinstance(node, yamlio.Scalar) else node.place

    return locate


def _start(node: yamlio.Node) -> Place:
    """Of a map its first key, which says more than a brace or a dash."""
    if isinstance(node, yamlio.Mapping) and node.items:
        return next(iter(node.items.values()))[0].place
    return node.place


def in_values(manifest: Manifest, explained: Sequence[Explained]) -> Locate:
    """Places in values files, options and overlays, by the origins of the fields of a manifest.

    A field that a template writes by itself is told at the key that turned its layer on; one that is not there where it
    was removed, else at the first field beside it that somebody wrote.
    """
    removed = {(each.path[0], each.field): each for each in explained if each.removed}
    written = [each for each in explained if not each.removed and each.origins]

    def locate(finding: Finding) -> Place | None:
        obj = manifest[finding.number]
        kind = kinds.find_kind(obj)
        field = fields.keyed(obj, kind.lists if kind else {}, finding.path)
        for length in range(len(field), 0, -1):
            gone = removed.get((finding.number, field[:length]))
            if gone is not None and gone.origins[0].place is not None:
                return gone.origins[0].place
        path = (finding.number, *finding.path)
        for length in range(len(path), 0, -1):
            beside = [each.origins[0] for each in written if each.path[:length] == path[:length]]
            if length < len(path):
                # What somebody wrote there, before what a layer does by itself.
                beside.sort(key=lambda origin: origin.kind in ("default", "template"))
            place = next((place for each in beside if (place := _of(each)) is not None), None)
            if place is not None:
                return _key_place(place, str(finding.path[-1])) if finding.key and length == len(path) else place
        return None

    return locate


def _key_place(place: Place, key: str) -> Place:
    """Where a key is written: before a value that stands below it, on its line or one above."""
    for line in range(place.line, max(0, place.line - _HIGHEST), -1):
        text = place._replace(line=line).text()
        before = text[: place.column - 1] if line == place.line else text
        match = re.search(rf"""(?:^|[\s{{,\[-])(["']?{re.escape(key)}["']?)\s*:""", before)
        if match is not None:
            return place._replace(line=line, column=match.start(1) + 1, length=len(match[1]))
    return place


def _of(origin: Origin) -> Place | None:
    return origin.place or next((place for _, place in origin.uses), origin.switch)


def located(problems: Sequence[Problem], manifest: Manifest, explained: Sequence[Explained]) -> list[Problem]:
    """Problems of a rendered manifest with their places."""
    locate = in_values(manifest, explained)
    return [
        each._replace(place=locate(Finding("", each.field[0], each.field[1:]))) if each.field else each
        for each in problems
    ]


def masked(problems: Iterable[Problem], secrets: Iterable[Any]) -> list[Problem]:
    """The problems without the secrets, in their texts and in the lines that are shown beside them."""
    hidden = {
        line.strip()
        for secret in secrets
        for line in str(secret).splitlines() or [""]
        if len(line.strip()) >= _SHORTEST_SECRET
    }
    if not hidden:
        return list(problems)

    def mask(text: str) -> str:
        for each in sorted(hidden, key=len, reverse=True):
            text = text.replace(each, "*" * len(each))
        return text

    found = []
    for each in problems:
        place = each.place
        if place is not None:
            place = place._replace(source=place.source._replace(text=mask(place.source.text)))
        notes = tuple((label, mask(text)) for label, text in each.notes)
        found.append(
            each._replace(
                message=mask(each.message), hint=mask(each.hint), where=mask(each.where), notes=notes, place=place
            )
        )
    return found
