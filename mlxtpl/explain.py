"""Values → the origin of every field: the render again with tracing on, remembering what each step wrote and replaced."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mlxtpl import assignments, fields, kinds, overlays, schema, yamlio
from mlxtpl.errors import MlxtplError, Place, Source
from mlxtpl.fields import Field
from mlxtpl.layers import check, manifest_of, merge_layers
from mlxtpl.manifest import Manifest, Object, object_id
from mlxtpl.origins import History, Origin, values_origins
from mlxtpl.pipeline import overlays_of, render
from mlxtpl.resources import Resource
from mlxtpl.values import Values, load_values
from mlxtpl.yamldump import dump, dump_tree

# Keys that speak to mlxtpl itself: they reach every field or none.
_WIDEST = 60
_DIRECTIVES = ("extends", "layers", "lint", "overlays", "package")


class Explained(NamedTuple):
    """One field of one object.

    Attributes:
        obj: the object's id.
        field: its path; `path` the same by numbers, which starts with the object's number in the manifest.
        origins: the one that won, then those that lost, latest first. A field that was removed starts with the
            origin that removed it.
    """

    obj: str
    field: Field
    path: Field
    value: Any
    origins: tuple[Origin, ...]

    @property
    def removed(self) -> bool:
        """Whether the field is not in the manifest."""
        return self.origins[0].removes if self.origins else False


def explain(values: Values, overlay_paths: Sequence[Path] = ()) -> tuple[Manifest, list[Explained]]:
    """The manifest of values, and each of its fields with its origins, in order; removed fields after each object.

    Args:
        overlay_paths: kustomization directories, applied after the values' own.

    Raises:
        ValuesError, LayerError, MergeError, OverlayError: as `pipeline.render`.
    """
    resources = _rendered(values)
    directories = [*overlays_of(values), *((path, None) for path in overlay_paths)]
    if directories:
        resources = overlays.apply_overlays(resources, directories, _never, _Tracer())
    return _told(resources)


def explain_files(files: Sequence[Source], arguments: Mapping[str, Any]) -> tuple[Manifest, list[Explained]]:
    """The same for values files and what `pipeline.render` takes beside them.

    Raises:
        MlxtplError: as `pipeline.render`.
    """
    for_values = {key: value for key, value in arguments.items() if key not in ("overlay_paths", "linted")}
    return explain(load_values(files, **for_values), arguments.get("overlay_paths", ()))


def explain_directory(root: Path) -> tuple[Manifest, list[Explained]]:
    """The same for a kustomization directory.

    Raises:
        MlxtplError: as `pipeline.build`.
    """
    return _told(overlays.build(root, _never, _Tracer()))


def _never(source: Source) -> Manifest:
    raise AssertionError(source.name)  # a trace renders values files itself


class _Tracer:
    """Writes what overlays do into the histories of their resources."""

    def loaded(self, resource: Resource, node: yamlio.Node | None) -> None:
        """As `resources.Trace`."""
        resource.history = History()
        resource.history.read(resource.obj, node, resource.place)

    def rendered(self, source: Source) -> list[Resource]:
        """As `resources.Trace`."""
        values = load_values([source])
        found = _rendered(values)
        directories = overlays_of(values)
        return overlays.apply_overlays(found, directories, _never, self) if directories else found

    def changed(self, resource: Resource, before: Object, node: yamlio.Node | None) -> None:
        """As `resources.Trace`."""
        if resource.history is not None:
            resource.history.overlaid(before, resource.obj, node)


def _rendered(values: Values) -> list[Resource]:
    """The objects of values, each with its history."""
    check(values)
    histories: dict[str, History] = {}
    objects: dict[str, Object] = {}
    for step in merge_layers(values, trace=True):
        histories.setdefault(step.name, History(values)).take(step)
        objects[step.name] = step.after
    manifest = manifest_of(objects, values)
    names = {id(obj): name for name, obj in objects.items()}
    found = []
    for obj in manifest:
        found.append(Resource(copy.deepcopy(obj)))
        found[-1].history = histories[names[id(obj)]]
    return found


def _told(resources: Sequence[Resource]) -> tuple[Manifest, list[Explained]]:
    manifest = [each.obj for each in resources]
    explained: list[Explained] = []
    for number, (obj, resource) in enumerate(zip(manifest, resources, strict=True)):
        history, kind, name = resource.history, kinds.find_kind(obj), object_id(obj)
        for field, path, value in fields.walk(obj, kind.lists if kind else {}):
            explained.append(Explained(name, field, (number, *path), value, history.of(field)))
        for field, origins in history.removed():
            explained.append(Explained(name, field, (number,), None, origins))
    order: dict[Field, int] = {}

    def note(path: Field) -> None:
        order[path] = len(order)

    dump(manifest, note)
    explained.sort(key=lambda each: (each.path[0], order.get(each.path, len(order))))
    return manifest, explained


def below(explained: Sequence[Explained], written: str) -> list[Explained]:
    """The fields that a person means: those below a path, those that contain it, or those that a values key reached.

    Raises:
        ValuesError: what they wrote is no path.
    """
    steps = fields.parse(written)
    chosen = set(fields.matching([each.field for each in explained], steps))
    if chosen:
        return [each for each in explained if each.field in chosen]

    def from_key(origin: Origin) -> bool:
        paths = (origin.path, *(path for path, _ in origin.uses))
        return any(tuple(str(step) for step in path[: len(steps)]) == steps for path in paths)

    return [each for each in explained if any(from_key(origin) for origin in each.origins)]


def unused(files: Sequence[Source], arguments: dict[str, Any]) -> list[tuple[tuple[Any, ...], Place]]:
    """Values that a file or option sets and that change nothing, with their places.

    A value that no field shows can still decide something (`sharedMemory: false`): the render is tried without it, and
    what then comes out the same is unused.

    Args:
        files: the values files, read.
        arguments: what `pipeline.render` takes beside files.

    Raises:
        MlxtplError: the values do not render.
    """
    for_values = {key: value for key, value in arguments.items() if key != "overlay_paths"}
    manifest, explained = explain(values := load_values(files, **for_values), arguments.get("overlay_paths", ()))
    seen = set()
    for each in explained:
        if not each.removed and each.origins:
            seen |= {each.origins[0].path, *(path for path, _ in each.origins[0].uses)}
    found = []
    for path, place in _written(values):
        if any(path[: len(each)] == each or each[: len(path)] == path for each in seen if each):
            continue
        without = [*arguments.get("sets", ()), ("set-json", f"{assignments.path_text(path)}=null")]
        try:
            if render(files, **{**arguments, "sets": without, "linted": False})[0] == manifest:
                found.append((path, place))
        except MlxtplError:
            continue
    return found


def _written(values: Values) -> Iterator[tuple[tuple[Any, ...], Place]]:
    """Every value that a file or option wrote and that none replaced."""
    defaults = {id(layer.defaults.source) for layer in values.package.layers if layer.defaults is not None}

    def walk(node: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Place]]:
        if isinstance(node, yamlio.Mapping) and node.items:
            for key, (_, each) in node.items.items():
                yield from walk(each, (*path, key))
        elif id(node.source) not in defaults:
            yield path, node.place

    for key, (_, node) in values.nodes.items.items():
        if key not in _DIRECTIVES:
            yield from walk(node, (key,))


def as_data(explained: Sequence[Explained]) -> list[dict[str, Any]]:
    """The fields for JSON: `{object, field, value, removed, origins: [{kind, at, …}]}`."""
    return [
        {
            "object": each.obj,
            "field": fields.text(each.field),
            "value": each.value,
            "removed": each.removed,
            "origins": [_origin_data(origin) for origin in each.origins],
        }
        for each in explained
    ]


def values_data(values: Values, merged: Any) -> list[dict[str, Any]]:
    """Merged values for JSON: `{key, value, at, over: [{value, at}]}` for each scalar."""
    rows = []
    for _, path, value in fields.walk(merged, None):
        place, over = values_origins(values, path)
        told = [{"value": each.spelling, "at": str(each.place)} for each in over]
        at = None if place is None else str(place)
        rows.append({"key": schema.dotted(path), "value": value, "at": at, "over": told})
    return rows


def comments(explained: Sequence[Explained]) -> Callable[[Field], str | None]:
    """What `yamldump.dump` writes after each scalar of the explained manifest."""
    texts = {each.path: each.origins[0].text() for each in explained if each.origins and not each.removed}
    return texts.get


def _origin_data(origin: Origin) -> dict[str, Any]:
    return {
        "kind": origin.kind,
        "value": origin.value,
        "at": None if origin.place is None else str(origin.place),
        "key": schema.dotted(origin.path) or None,
        "template": origin.written,
        "layer": origin.layer,
        "switch": None if origin.switch is None else str(origin.switch),
        "uses": [{"key": schema.dotted(path), "at": str(place)} for path, place in origin.uses],
        "over": [{"value": each.spelling, "at": str(each.place)} for each in origin.over],
        "removes": origin.removes,
    }


def as_text(explained: Sequence[Explained]) -> str:
    """The fields for a person, an object's id before its fields when there are several objects."""
    lines: list[str] = []
    several = len({each.obj for each in explained}) > 1
    last = ""
    for each in explained:
        if several and each.obj != last:
            lines.append(f"# {each.obj}")
            last = each.obj
        value = "(removed)" if each.removed else shown(each.value)
        lines.append(f"{fields.text(each.field)}: {value}")
        for number, origin in enumerate(each.origins):
            if number == 0:
                lines.append(f"  {'by' if origin.removes else 'from'} {_sentence(origin)}")
                lines += [f"  over {brief(old.spelling)} at {old.place}" for old in reversed(origin.over)]
            else:
                lines.append(f"  lost {shown(origin.value)} from {_sentence(origin)}")
    return "".join(f"{line}\n" for line in lines)


def _sentence(origin: Origin) -> str:
    text = origin.text()
    if origin.path:
        text += f" ({schema.dotted(origin.path)})"
    if origin.place is not None and origin.template:
        text += f", written by {origin.written}"
    text += "".join(f", with {schema.dotted(path)} at {place}" for path, place in origin.uses)
    if origin.switch is not None:
        text += f"; layer {origin.layer}, on at {origin.switch}"
    return text


def shown(value: Any) -> str:
    """A value on one line."""
    text = dump_tree(value).rstrip("\n")
    return text if "\n" not in text else json.dumps(value, ensure_ascii=False)


def brief(spelling: str) -> str:
    """A spelling on one line, cut when it is long."""
    text = " ".join(spelling.split())
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"
