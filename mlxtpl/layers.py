"""Values + package → Manifest: each layer that is on is rendered to partial objects and merged, in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from mlxtpl import kinds, merge
from mlxtpl.errors import LayerError, MergeError, Problem, ValuesError
from mlxtpl.manifest import Manifest, Object
from mlxtpl.package import CHECKS, JOB_STEMS, Layer
from mlxtpl.schema import dotted
from mlxtpl.templating import render, render_traced
from mlxtpl.tracing import unwrapped
from mlxtpl.values import Values


def render_layers(values: Values) -> Manifest:
    """Render and merge the layers.

    Raises:
        ValuesError: a layer's checks find fault with the values.
        LayerError, MergeError: a template fails, or its output does not fit.
    """
    check(values)
    objects = {step.name: step.after for step in merge_layers(values)}
    return manifest_of(objects, values)


class Step(NamedTuple):
    """One partial object merged.

    Attributes:
        layer: whose template it is; `stem` which.
        name: what it was merged into: `job`, or the stem of another object.
        partial: what the template rendered.
        before, after: the object.
    """

    layer: Layer
    stem: str
    name: str
    partial: Any
    before: Object | None
    after: Object


def merge_layers(values: Values, *, trace: bool = False) -> Iterator[Step]:
    """Render and merge, one partial object after the other; with `trace`, the scalars of a partial are leaves.

    Raises:
        LayerError, MergeError: as `render_layers`.
    """
    objects: dict[str, Object] = {}
    for layer in values.layers:
        for stem in layer.stems:
            name = "job" if stem in JOB_STEMS else stem
            for partial in _render(layer, stem, values, trace=trace):
                before = objects.get(name)
                try:
                    objects[name] = _merged(objects, stem, unwrapped(partial) if trace else partial)
                except MergeError as error:
                    at = ("layer", f"{layer.shown}/{stem}.yaml.j2")
                    # Most often it is the user's own patch that does not fit.
                    place = values.locate(("patch", stem)) if layer.name == "user" else None
                    told = [each._replace(place=place, notes=(*each.notes, at)) for each in error.problems]
                    raise MergeError(told) from None
                yield Step(layer, stem, name, partial, before, objects[name])


def manifest_of(objects: dict[str, Object], values: Values) -> Manifest:
    """The objects in the order in which they are applied.

    Raises:
        LayerError: there is none, or one has no kind.
    """
    objects = dict(objects)
    job = objects.pop("job", None)
    # What the job needs (a ConfigMap of files) comes first, since kubectl applies in order.
    manifest = [*objects.values(), *([job] if job else [])]
    if not manifest:
        raise LayerError(Problem("the layers that are on render no object", values.package.name))
    for name, obj in {**objects, "job": job or manifest[0]}.items():
        for key in ("apiVersion", "kind"):
            if not isinstance(obj.get(key), str):
                makers = [layer.shown for layer in values.layers if name in layer.stems]
                where = f"{makers[0]}/{name}.yaml.j2" if makers else values.package.name
                like = name != name.lower() and name.lower() in JOB_STEMS
                hint = f"the part of a job is called {name.lower()}.yaml.j2" if like else ""
                raise LayerError(Problem(f"the object came out without {key}", where, hint=hint))
        metadata = obj.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        for key in ("name", "namespace"):
            value = metadata.get(key)
            if not isinstance(value, str) and (key == "name" or value is not None):
                place = values.locate(("patch", "job", "metadata", key)) or values.locate(("patch", "job", "metadata"))
                raise LayerError(Problem(f"metadata.{key} of the {obj['kind']} must be text", "", place))
    return manifest


def check(values: Values) -> None:
    """Run the checks of the layers that are on: a `checks.yaml.j2` renders a list of {at, message, hint}.

    Raises:
        ValuesError: with every problem that they found.
    """
    problems = []
    for layer in values.layers:
        if not layer.has_checks:
            continue
        for document in _render(layer, CHECKS, values):
            for found in document if isinstance(document, list) else [document]:
                if not isinstance(found, dict) or "message" not in found:
                    where = f"{layer.shown}/{CHECKS}.yaml.j2"
                    raise LayerError(Problem("must render a list of {at, message, hint}", where))
                at = found.get("at", "")
                if not isinstance(at, (str, list)):
                    where = f"{layer.shown}/{CHECKS}.yaml.j2"
                    hint = "YAML reads words such as n, y and 1 as something else: quote it"
                    raise LayerError(Problem("`at` must be text or a list", where, hint=hint))
                path = at if isinstance(at, list) else at.split(".")
                place = next((p for n in range(len(path), 0, -1) if (p := values.locate(path[:n]))), None)
                notes = (("checked by", f"{layer.shown}/{CHECKS}.yaml.j2"),)
                problems.append(Problem(str(found["message"]), dotted(path), place, notes, str(found.get("hint", ""))))
    if problems:
        raise ValuesError(problems)


def _render(layer: Layer, stem: str, values: Values, *, trace: bool = False) -> list[Any]:
    name = f"{layer.prefix}{stem}.yaml.j2"
    if trace:
        documents = render_traced(layer.environment, name, values.tree, values.locate)
    else:
        documents = layer.environment.remembered(
            name, values.digests, lambda: render(layer.environment, name, values.tree, values.locate)
        )
    if stem != CHECKS:
        for document in documents:
            if not isinstance(document, dict):
                what = "a list" if isinstance(document, list) else f'"{document}"'
                raise LayerError(Problem(f"must render a map, found {what}", f"{layer.shown}/{stem}.yaml.j2"))
    return documents


def _merged(objects: dict[str, Object], stem: str, partial: Object) -> Object:
    if stem not in JOB_STEMS:
        return _merge_object(objects.get(stem), partial)
    job = objects.get("job")
    if stem == "job":
        return _merge_object(job, partial)
    if job is None or (kind := kinds.find_kind(job)) is None:
        what = "no job" if job is None else f"the kind {job.get('kind')}, whose pod templates are not known"
        raise MergeError(Problem(f"{stem}.yaml.j2 has no pod template to go to: there is {what}"))
    if stem == "container":
        partial = {"spec": {"containers": [{"name": kind.container, **partial}]}}
    for path in template_paths(job, kind):
        job = _replaced(job, path, merge.merge(_at(job, path), partial, kinds.POD_TEMPLATE))
    return job


def _merge_object(obj: Object | None, partial: Object) -> Object:
    if obj is None:
        kind = kinds.find_kind(partial)
        return merge.merge({}, partial, kind.lists if kind else {})  # type: ignore[no-any-return]
    new_kind = (partial.get("apiVersion", obj.get("apiVersion")), partial.get("kind", obj.get("kind")))
    if new_kind != (obj.get("apiVersion"), obj.get("kind")):
        return _changed_kind(obj, partial)
    kind = kinds.find_kind(obj)
    return merge.merge(obj, partial, kind.lists if kind else {})  # type: ignore[no-any-return]


def _changed_kind(obj: Object, partial: Object) -> Object:
    """A new object of another kind; metadata and the pod template of the old one move over."""
    old, new = kinds.find_kind(obj), kinds.find_kind(partial)
    lists = new.lists if new else {}
    moved = merge.merge({"metadata": obj.get("metadata", {})}, partial, lists)
    templates = kinds.pod_templates(obj)
    if old is None or new is None or not templates:
        return moved  # type: ignore[no-any-return]
    template = merge.merge(templates[0][1], {"spec": dict.fromkeys(new.omits)}, kinds.POD_TEMPLATE)
    spec = template.get("spec") or {}
    if "containers" in spec:
        renamed = [
            {**each, "name": new.container} if each.get("name") == old.container else each
            for each in spec["containers"]
        ]
        template = {**template, "spec": {**spec, "containers": renamed}}
    for path in template_paths(moved, new):
        moved = _replaced(moved, path, merge.merge(template, _at(moved, path), kinds.POD_TEMPLATE))
    return moved  # type: ignore[no-any-return]


def template_paths(obj: Object, kind: kinds.Kind) -> list[tuple[str, ...]]:
    """The paths of all pod templates of an object, those included that are not there yet."""
    paths: list[tuple[str, ...]] = []
    for pattern in kind.pod_templates:
        found: list[tuple[str, ...]] = [()]
        for step in pattern:
            found = [(*path, key) for path in found for key in (_at(obj, path) if step == "*" else (step,))]
        paths += found
    return paths


def _at(obj: Object, path: tuple[str, ...]) -> Any:
    for step in path:
        obj = obj.get(step) or {}
    return obj


def _replaced(obj: Object, path: tuple[str, ...], value: Any) -> Object:
    if not path:
        return value  # type: ignore[no-any-return]
    return {**obj, path[0]: _replaced(obj.get(path[0]) or {}, path[1:], value)}
