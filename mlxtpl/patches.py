"""Patches of a kustomization: strategic merge and JSON 6902, inline or from a file, by name or by target."""

from __future__ import annotations

import copy
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from mlxtpl import jsonpatch, kinds, merge, schema, yamlio
from mlxtpl.errors import MergeError, MlxtplError, OverlayError, Place, Problem, Source
from mlxtpl.kustomization import Kustomization
from mlxtpl.resources import Id, Resource, Selector, Trace, find, id_of, near, plain, read_beside


def strategic_merges(kustomization: Kustomization, resources: list[Resource], trace: Trace | None) -> None:
    """`patchesStrategicMerge`: each item is a file or a patch itself.

    Raises:
        OverlayError: a patch cannot be read, or means no object or several.
    """
    for number, (text, place) in enumerate(kustomization.listed("patchesStrategicMerge")):
        inline = "\n" in text or ":" in text
        source = _inline(kustomization, text, "patchesStrategicMerge", number) if inline else None
        for node in _documents(source or read_beside(kustomization.root, text, place), place):
            _merge_by_name(node, resources, {}, trace)


def patches(kustomization: Kustomization, resources: list[Resource], field: str, trace: Trace | None) -> None:
    """`patches` and `patchesJson6902`.

    Raises:
        OverlayError: a patch cannot be read, does not fit, or means no object or several.
    """
    for number, (entry, place) in enumerate(kustomization.listed(field)):
        if "patch" in entry:
            source = _inline(kustomization, entry["patch"], field, number, "patch")
        elif "path" in entry:
            source = read_beside(kustomization.root, entry["path"], kustomization.place(field, number, "path"))
        else:
            raise kustomization.problem("needs patch or path", field, number)
        nodes = _documents(source, place)
        operations = [each for node in nodes if isinstance(node, yamlio.Sequence) for each in node.items]
        if operations and len(nodes) == 1:
            if "target" not in entry:
                raise kustomization.problem("a JSON patch needs a target", field, number)
            _json_patch(nodes[0], _selected(entry["target"], resources, field, kustomization, number), trace)
        elif "target" in entry:
            if len(nodes) != 1:
                raise kustomization.problem(f"has {len(nodes)} patches for one target", field, number)
            chosen = _selected(entry["target"], resources, field, kustomization, number)
            _merge_into(nodes[0], chosen, resources, entry.get("options", {}), trace, targeted=True)
        else:
            for node in nodes:
                _merge_by_name(node, resources, entry.get("options", {}), trace)


def _inline(kustomization: Kustomization, text: str, *path: Any) -> Source:
    place = kustomization.place(*path)
    node, _ = schema.locate(kustomization.node, path)
    if isinstance(node, yamlio.Scalar):
        # The lines of a literal block, left where they stand: places in the patch are places in the file.
        lines = node.source.text.split("\n")[node.line : node.end.line]
        if textwrap.dedent("\n".join(lines)).strip() == text.strip():
            return Source(node.source.name, "\n" * node.line + "\n".join(lines), str(kustomization.root))
    where = f"{place.source.name}:{place.line}" if place else kustomization.shown
    return Source(f"{where} ({path[0]})", text, str(kustomization.root))


def _documents(source: Source, place: Place | None) -> list[yamlio.Node]:
    try:
        nodes = [node for node in yamlio.load(source) if not yamlio.is_null(node)]
    except MlxtplError as error:
        raise OverlayError(error.problems) from None
    if not nodes or any(isinstance(node, yamlio.Scalar) for node in nodes):
        raise OverlayError(Problem("is no patch: a map or a list of operations was expected", source.name, place))
    return nodes


def selector(target: Mapping[str, Any]) -> Selector:
    """A `target` or `select` as a Selector."""
    names = {"labelSelector": "labels", "annotationSelector": "annotations"}
    return Selector(**{names.get(key, key): value for key, value in target.items()})


def _selected(
    target: Mapping[str, Any], resources: list[Resource], field: str, kustomization: Kustomization, number: int
) -> list[Resource]:
    import re

    try:
        return selector(target).select(resources)
    except (ValueError, re.error) as error:
        raise kustomization.problem(f"is no selector: {error}", field, number, "target") from None


def _merge_by_name(
    node: yamlio.Node, resources: list[Resource], options: Mapping[str, Any], trace: Trace | None
) -> None:
    patch = plain(node)
    wanted = id_of(patch) if isinstance(patch, dict) else Id("", "", "", "", "")
    if not wanted.kind or not wanted.name:
        missing = "kind" if not wanted.kind else "metadata.name"
        hint = "a patch names its object by apiVersion, kind and metadata.name, or has a target"
        raise OverlayError(Problem(f"the patch has no {missing}", "", node.place, hint=hint))
    found = find(resources, wanted)
    if not found:
        raise OverlayError(
            Problem(f"the patch is for {wanted}, which is not there", "", node.place, hint=near(resources, wanted))
        )
    if len(found) > 1:
        names = ", ".join(str(each.id) for each in found)
        hint = "give it a target, or metadata.namespace"
        raise OverlayError(
            Problem(f"the patch for {wanted} means {len(found)} objects: {names}", "", node.place, hint=hint)
        )
    _merge_into(node, found, resources, options, trace)


def _merge_into(
    node: yamlio.Node,
    found: Sequence[Resource],
    resources: list[Resource],
    options: Mapping[str, Any],
    trace: Trace | None,
    *,
    targeted: bool = False,
) -> None:
    patch = plain(node)
    if not isinstance(patch, dict):
        raise OverlayError(Problem("must be a map", "", node.place))
    if targeted and isinstance(patch.get("metadata"), dict):
        # kustomize copies both maps of a patch with a target, by which a null becomes an empty one.
        empty = ("labels", "annotations")
        metadata = {key: each for key, each in patch["metadata"].items() if key not in empty or each is not None}
        patch = {**patch, "metadata": metadata}
    for each in found:
        if patch.get("$patch") == "delete":
            resources.remove(each)
            continue
        kind = kinds.find_kind(each.obj)
        before, old = each.obj, each.id
        try:
            after = merge.merge(before, patch, kind.lists if kind else {}, order="patch-first", switch=False)
        except MergeError as error:
            told = [
                problem._replace(place=node.place, notes=(*problem.notes, ("object", str(old))))
                for problem in error.problems
            ]
            raise OverlayError(told) from None
        each.obj = copy.deepcopy(after)
        new = each.id
        keep = {}
        if not options.get("allowNameChange"):
            keep = {"name": old.name, "namespace": old.namespace}
        each.metadata().update({key: value for key, value in keep.items() if value})
        if "namespace" in keep and not keep["namespace"]:
            each.metadata().pop("namespace", None)
        if not options.get("allowKindChange"):
            each.obj["kind"] = old.kind
        if "apiVersion" in patch:
            each.obj["apiVersion"] = before["apiVersion"]
        if each.id != old and new.name != old.name:
            each.before.append(old)
        if trace is not None:
            trace.changed(each, before, node)


def _json_patch(node: yamlio.Node, found: Sequence[Resource], trace: Trace | None) -> None:
    operations = plain(node)
    for each in found:
        before, old = each.obj, each.id
        try:
            each.obj = jsonpatch.apply(before, operations)
        except MergeError as error:
            told = [
                problem._replace(place=node.place, notes=(*problem.notes, ("object", str(old))))
                for problem in error.problems
            ]
            raise OverlayError(told) from None
        if each.metadata().get("annotations") == {}:
            del each.metadata()["annotations"]  # as kustomize does, though not for labels
        if each.id != old:
            each.before.append(old)
        if trace is not None:
            trace.changed(each, before, node)
