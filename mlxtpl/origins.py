"""Where one field came from: the history that the steps of a traced render leave, field by field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from mlxtpl import fields, kinds, resources, schema, tracing, yamlio
from mlxtpl.errors import Place
from mlxtpl.fields import Field
from mlxtpl.layers import Step, template_paths
from mlxtpl.manifest import Object
from mlxtpl.values import Values


class Over(NamedTuple):
    """A value in the values files that a later one replaced."""

    spelling: str
    place: Place


class Origin(NamedTuple):
    """Where one value of a field came from.

    Attributes:
        kind: `values` (a file), `set` (an option), `patch` (the key `patch` of a file), `default` (of a layer),
            `template` (a literal, or what an expression makes of `uses`), `manifest` (a resource of a kustomization),
            `overlay` (what a kustomization does to it).
        value: the value that it gave; None with `removes` when it took the field away.
        place: where the value was written, for all kinds but `template`.
        path: its path in the values.
        template, line: what wrote it into the manifest; empty for the last two kinds.
        layer: whose template that is; `switch` is the place of the key that turned the layer on.
        uses: the values that the expression of a `template` reads.
        over: what it replaced in the values, lowest first.
    """

    kind: str
    value: Any
    place: Place | None
    path: tuple[Any, ...]
    template: str
    line: int
    layer: str
    switch: Place | None
    uses: tuple[tuple[tuple[Any, ...], Place], ...] = ()
    over: tuple[Over, ...] = ()
    removes: bool = False

    @property
    def written(self) -> str:
        """The template with its line."""
        return f"{self.template}:{self.line}" if self.line else self.template

    def text(self) -> str:
        """The origin in a few words: `values/prod.yaml:12:9`, `default templates/base/defaults.yaml:4:6`."""
        where = self.written if self.place is None else str(self.place)
        return where if self.kind in ("values", "set") else f"{self.kind} {where}"


def values_origins(values: Values, path: Sequence[Any]) -> tuple[Place | None, tuple[Over, ...]]:
    """Where a value was written, and what it replaced, lowest first. A list is replaced as a whole."""
    whole: tuple[Any, ...] = tuple(path)
    for length, step in enumerate(path):
        if isinstance(step, int):
            whole = whole[:length]
            break
    node, found = schema.locate(values.nodes, whole)
    if not found or node is None:
        return None, ()
    place = values.locate(path) or node.place
    over: list[Over] = []
    for stage in values.stages:
        if whole[: len(stage.path)] != stage.path:
            continue
        old, there = schema.locate(stage.node, whole[len(stage.path) :])
        if there and old is not None and old.place != node.place:
            spelling = old.text if isinstance(old, yamlio.Scalar) else "a list" if _is_list(old) else "a map"
            replaced = Over(spelling, old.place)
            over = [each for each in over if each != replaced] + [replaced]
    return place, tuple(over)


def _is_list(node: Any) -> bool:
    return isinstance(node, yamlio.Sequence)


class History:
    """What the steps so far wrote into one object: field → origins, latest last."""

    def __init__(self, values: Values | None = None) -> None:
        self._values = values
        self._origins: dict[Field, list[Origin]] = {}
        self._removed: dict[Field, list[Origin]] = {}
        layers = values.package.layers if values is not None else ()
        self._defaults = {id(layer.defaults.source) for layer in layers if layer.defaults is not None}

    def read(self, obj: Object, node: yamlio.Node | None, place: Place | None) -> None:
        """An object that was read from a node, or generated at a place."""
        kind = kinds.find_kind(obj)
        for field, path, value in fields.walk(obj, kind.lists if kind else {}):
            found, _ = schema.locate(node, path)
            self._origins[field] = [_elsewhere("manifest", value, found.place if found else place)]

    def overlaid(self, before: Object, after: Object, node: yamlio.Node | None) -> None:
        """What a patch, or another field of a kustomization, changed."""
        kind = kinds.find_kind(after)
        lists = kind.lists if kind else {}
        old = {field: value for field, _, value in fields.walk(before, lists)}
        new = {field: (path, value) for field, path, value in fields.walk(after, lists)}
        places = _patch_places(node, lists)
        for field, (path, value) in new.items():
            if field not in old or old[field] != value:
                found = places.get(field) or _operation(node, path) or (node.place if node else None)
                self._origins.setdefault(field, []).append(_elsewhere("overlay", value, found))
        for field in old:
            if field not in new and field in self._origins:
                found = next((places[field[:n]] for n in range(len(field), 0, -1) if field[:n] in places), None)
                place = found or (node.place if node else None)
                remover = _elsewhere("overlay", None, place)._replace(removes=True)
                self._removed[field] = [*self._origins.pop(field), remover]

    def take(self, step: Step) -> None:
        """Remember one step."""
        after = step.after
        if step.before is not None and kinds.find_kind(step.before) != kinds.find_kind(after):
            self._move(step.before, after)
        kind = kinds.find_kind(after)
        there = {field for field, _, _ in fields.walk(after, kind.lists if kind else {})}
        for root, lists, partial in _roots(step, after, kind):
            written = list(fields.walk(partial, lists, root))
            for whole in {_list_of(field) for field, _, leaf in written if isinstance(leaf, tracing.Leaf)}:
                self._replace_list(whole)
            leaves = {field: leaf for field, _, leaf in written if isinstance(leaf, tracing.Leaf)}
            for field, leaf in leaves.items():
                if field[-1] == "$patch":
                    # Whoever wrote the name of the item had it deleted.
                    named = (each for at, each in leaves.items() if at[:-1] == field[:-1] and each.written.path)
                    self._remove(field[:-1], by := next(named, leaf), step)
                    if field[:-2] in there and field[:-2] not in self._origins:
                        self._origins[field[:-2]] = [self._origin(by, step)._replace(value=[])]
                elif leaf.value is None and field not in there:
                    self._remove(field, leaf, step)
                    if field[:-1] in there and field[:-1] not in self._origins:
                        # The null was all that a new map held.
                        self._origins[field[:-1]] = [self._origin(leaf, step)._replace(value={})]
                elif field in there and not (leaf.written.line == 0 and field in self._origins):
                    self._origins.setdefault(field, []).append(self._origin(leaf, step))
        for field in [each for each in self._origins if each not in there]:
            # Something of the step took it away without a word about it: a list or source that it replaced.
            self._removed[field] = self._origins.pop(field)

    def _replace_list(self, whole: Field | None) -> None:
        """A list that does not merge was written anew: what was there lost as a whole, told at the first item."""
        old = [] if whole is None else [each for each in self._origins if each[: len(whole)] == whole]
        if whole is None or not old:
            return
        lost = [self._origins.pop(each) for each in old]
        first = lost[0][-1]._replace(value=[origins[-1].value for origins in lost])
        self._origins[(*whole, 0)] = [*lost[0][:-1], first]

    def _remove(self, field: Field, leaf: tracing.Leaf, step: Step) -> None:
        origin = self._origin(leaf, step)._replace(removes=True, value=None)
        for each in [old for old in self._origins if old[: len(field)] == field]:
            self._removed[each] = [*self._origins.pop(each), origin]

    def _origin(self, leaf: tracing.Leaf, step: Step) -> Origin:
        written, values = leaf.written, self._values
        assert values is not None
        switch = schema.key_place(values.nodes, (step.layer.name,)) if step.layer.name in step.layer.keys else None
        made = Origin("template", leaf.value, None, (), written.template, written.line, step.layer.name, switch)
        path = written.path or ()
        while path and values.locate(path) is None:
            path = path[:-1]
        if not path:
            uses = ((use, place) for use in written.uses if (place := values.locate(use)) is not None)
            return made._replace(uses=tuple(uses))
        place, over = values_origins(values, path)
        kind = "values"
        if place is not None and place.source.name.startswith("--"):
            kind = "set"
        elif place is not None and id(place.source) in self._defaults:
            kind = "default"
        elif path[0] == "patch":
            kind = "patch"
        return made._replace(kind=kind, place=place, path=path, over=over)

    def _move(self, before: Object, after: Object) -> None:
        """The object is of a new kind: metadata stays, the pod template moves, as in `layers`."""
        old, new = kinds.find_kind(before), kinds.find_kind(after)
        templates = kinds.pod_templates(before)
        moved = {field: origins for field, origins in self._origins.items() if field[0] == "metadata"}
        if old is not None and new is not None and templates:
            source = templates[0][0]
            for field, origins in self._origins.items():
                if field[: len(source)] != source:
                    continue
                rest = tuple(
                    fields.Item(new.container) if isinstance(step, fields.Item) and step == old.container else step
                    for step in field[len(source) :]
                )
                for target in template_paths(after, new):
                    moved[(*target, *rest)] = list(origins)
        self._origins = moved

    def of(self, field: Field) -> tuple[Origin, ...]:
        """The origins of a field that is there, latest first."""
        return tuple(reversed(self._origins.get(field, [])))

    def removed(self) -> Iterator[tuple[Field, tuple[Origin, ...]]]:
        """The fields that somebody took away, with who did first."""
        for field, origins in self._removed.items():
            if field not in self._origins and origins[-1].removes:
                yield field, tuple(reversed(origins))


def _roots(step: Step, after: Object, kind: kinds.Kind | None) -> Iterator[tuple[Field, Any, Any]]:
    """Where a partial object went: (path, how the lists below it merge, the partial)."""
    partial = step.partial
    if step.stem not in ("pod", "container") or kind is None:
        yield (), kind.lists if kind else {}, partial
        return
    if step.stem == "container":
        name = tracing.Leaf(kind.container, tracing.Written(f"{step.layer.shown}/{step.stem}.yaml.j2", 0))
        partial = {"spec": {"containers": [{"name": name, **partial}]}}
    for path in template_paths(after, kind):
        yield path, kinds.POD_TEMPLATE, partial


def _elsewhere(kind: str, value: Any, place: Place | None) -> Origin:
    return Origin(kind, value, place, (), "", 0, "", None)


def _patch_places(node: yamlio.Node | None, lists: Any) -> dict[Field, Place]:
    """Where a strategic-merge patch writes each field; for an item that it deletes, the item."""
    if not isinstance(node, yamlio.Mapping):
        return {}
    places = {}
    for field, path, _ in fields.walk(resources.plain(node), lists):
        found, _ = schema.locate(node, path)
        if found is not None:
            places[field[:-1] if field[-1] == "$patch" else field] = found.place
    return places


def _operation(node: yamlio.Node | None, path: Field) -> Place | None:
    """Which operation of a JSON patch wrote a path; the last one that fits."""
    found = None
    for each in node.items if isinstance(node, yamlio.Sequence) else []:
        written = each.items["path"][1] if isinstance(each, yamlio.Mapping) and "path" in each.items else None
        if isinstance(written, yamlio.Scalar):
            steps = [step.replace("~1", "/").replace("~0", "~") for step in written.text.split("/")[1:]]
            fits = all(step in (str(at), "-") for step, at in zip(steps, path, strict=False))
            found = each.place if fits and len(steps) <= len(path) else found
    return found


def _list_of(field: Field) -> Field | None:
    """The outermost list by numbers that a field is in."""
    at = next((n for n, step in enumerate(field) if isinstance(step, int)), None)
    return None if at is None else field[:at]
