"""`replacements`: a field of one object copied into fields of others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mlxtpl import yamlio
from mlxtpl.errors import MlxtplError, OverlayError
from mlxtpl.kustomization import Kustomization
from mlxtpl.patches import selector
from mlxtpl.resources import Resource, Selector, plain, read_beside


def replace(kustomization: Kustomization, resources: Sequence[Resource]) -> None:
    """Carry out all replacements.

    Raises:
        OverlayError: a source or target is not there, or means several objects.
    """
    for number, (entry, place) in enumerate(kustomization.listed("replacements")):
        entries = [entry]
        if "path" in entry:
            source = read_beside(kustomization.root, entry["path"], place)
            try:
                trees = [plain(node) for node in yamlio.load(source)]
            except MlxtplError as error:
                raise OverlayError(error.problems) from None
            entries = [each for tree in trees for each in (tree if isinstance(tree, list) else [tree])]
        for each in entries:
            _replace(kustomization, number, each, resources)


def _replace(
    kustomization: Kustomization, number: int, entry: Mapping[str, Any], resources: Sequence[Resource]
) -> None:
    def problem(message: str) -> OverlayError:
        return kustomization.problem(message, "replacements", number)

    if not isinstance(entry, Mapping) or not entry.get("targets") or not ("source" in entry or "sourceValue" in entry):
        raise problem("needs a source and targets")
    value = entry["sourceValue"] if "sourceValue" in entry else _source(entry["source"], resources, problem)
    for target in entry["targets"]:
        select, reject = target.get("select"), [_selector(each) for each in target.get("reject", [])]
        if not select:
            raise problem("a target needs select")
        rejected = {id(each) for one in reject for each in one.select(resources)}
        for resource in _selector(select).select(resources):
            if id(resource) in rejected:
                continue
            for path in target.get("fieldPaths") or ["metadata.name"]:
                old = resource.id
                _write(resource, path, value, target.get("options") or {}, problem)
                if resource.id != old:
                    resource.before.append(old)


def _selector(fields: Mapping[str, Any]) -> Selector:
    return selector(
        {key: re.escape(value) if key in ("group", "version", "kind") else value for key, value in fields.items()}
    )


def _source(source: Mapping[str, Any], resources: Sequence[Resource], problem: Any) -> Any:
    wanted = {key: source.get(key) for key in ("group", "version", "kind", "namespace", "name")}
    found = [
        each
        for each in resources
        if any(all(not value or getattr(one, key) == value for key, value in wanted.items()) for one in each.ids())
    ]
    named = ", ".join(f"{key} {value}" for key, value in wanted.items() if value)
    if len(found) != 1:
        many = ", ".join(str(each.id) for each in found) if found else "none of the objects"
        raise problem(f"the source ({named}) must be one object, found {len(found)}: {many}")
    path = source.get("fieldPath") or "metadata.name"
    values = [node[key] for node, key in _places(found[0].obj, split(path), create=False)]
    if not values:
        raise problem(f"the source {found[0].id} has no field {path}")
    options = source.get("options") or {}
    value = values[0]
    if options.get("delimiter"):
        parts = _text(value).split(options["delimiter"])
        index = options.get("index", 0)
        if not 0 <= index < len(parts):
            raise problem(f'the index {index} is past the end of "{value}" split at "{options["delimiter"]}"')
        value = parts[index]
    return value


def _write(resource: Resource, path: str, value: Any, options: Mapping[str, Any], problem: Any) -> None:
    places = list(_places(resource.obj, split(path), create=bool(options.get("create"))))
    if not places:
        raise problem(f"the target {resource.id} has no field {path}; options.create makes it")
    for node, key in places:
        new = value
        if options.get("delimiter"):
            delimiter = options["delimiter"]
            parts = _text(node[key]).split(delimiter) if node[key] is not None else [""]
            index = options.get("index", 0)
            if index < 0:
                parts.insert(0, _text(value))
            elif index >= len(parts):
                parts.append(_text(value))
            else:
                parts[index] = _text(value)
            new = delimiter.join(parts)
        elif isinstance(node[key], str) and not isinstance(value, (dict, list)):
            new = _text(value)
        node[key] = new


def _text(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def split(path: str) -> list[str]:
    r"""The steps of a field path: dots between them, `\.` a dot inside one, `[key=value]` an item of a list.

    >>> split(r"spec.containers.[name=main].env.0.metadata.a\.b/c")
    ['spec', 'containers', '[name=main]', 'env', '0', 'metadata', 'a.b/c']
    """
    steps = re.findall(r"\[[^\]]*\]|(?:\\.|[^.\\\[])+", path)
    return [re.sub(r"\\(.)", r"\1", step) for step in steps]


def _places(node: Any, steps: Sequence[str], *, create: bool) -> Iterator[tuple[Any, Any]]:
    """(parent, key) of every field that a path means."""
    step, rest = steps[0], steps[1:]
    keys: list[Any] = []
    if isinstance(node, dict):
        if step == "*":
            keys = list(node)
        elif step in node or create:
            if step not in node:
                node[step] = None if not rest else [] if rest[0].startswith("[") else {}
            keys = [step]
    elif isinstance(node, list):
        wanted = re.fullmatch(r"\[([^=\]]+)=(.*)\]", step)
        if step == "*":
            keys = list(range(len(node)))
        elif wanted:
            keys = [
                n for n, each in enumerate(node) if isinstance(each, dict) and _text(each.get(wanted[1])) == wanted[2]
            ]
            if not keys and create:
                node.append({wanted[1]: wanted[2]})
                keys = [len(node) - 1]
        elif step.isdigit() and int(step) < len(node):
            keys = [int(step)]
        elif step == "-" and create:
            node.append(None if not rest else {})
            keys = [len(node) - 1]
    for key in keys:
        if not rest:
            yield node, key
        else:
            if node[key] is None and create:
                node[key] = [] if rest[0].startswith("[") else {}
            yield from _places(node[key], rest, create=create)
