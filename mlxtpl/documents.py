"""PATHs → what is in them: values files, kustomization directories, manifests document by document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from mlxtpl import resources, schema, yamlio
from mlxtpl.errors import MlxtplError, Problem, Source, YamlError
from mlxtpl.kustomization import NAMES, is_kustomization
from mlxtpl.manifest import Manifest, Object

_SUFFIXES = (".yaml", ".yml")
_DOCUMENT = re.compile(r"^---(?=\s|$)", re.MULTILINE)
_GO_TEMPLATE = re.compile(r"\{\{-?\s*(\.|\$|if |else|end\b|range |include |with |define |template |toYaml |/\*)")
_JINJA = re.compile(r"\{%|\{#|\{\{")
_HELM = "lint what it renders: helm template CHART | mlxtpl lint -"


class Input(NamedTuple):
    """One thing to lint: `kind` is directory (with a kustomization), file (or `-`), or skipped, with a note why.

    Attributes:
        named: the user named it, or its directory only.
    """

    kind: str
    path: str
    named: bool = True
    note: str = ""


class Read(NamedTuple):
    """What a file holds: the objects with their nodes, or one values file, and what cannot be read."""

    source: Source
    objects: Sequence[Object] = ()
    nodes: tuple[yamlio.Node, ...] = ()
    values: bool = False
    problems: tuple[Problem, ...] = ()
    notes: tuple[Problem, ...] = ()


def expand(paths: Sequence[str]) -> Iterator[Input]:
    """The inputs that PATHs stand for; a directory is searched in depth, hidden ones and partials left out."""
    for path in paths:
        if path == "-" or not Path(path).is_dir():
            kustomization = path != "-" and Path(path).name in NAMES and Path(path).is_file()
            yield Input("directory", str(Path(path).parent)) if kustomization else Input("file", path)
        else:
            found = list(_walk(Path(path), named=True))
            yield from found or [Input("skipped", path, True, "has no file to check (*.yaml, *.yml)")]


def _walk(directory: Path, *, named: bool) -> Iterator[Input]:
    names = sorted(path.name for path in directory.iterdir())
    if "Chart.yaml" in names:
        yield Input("skipped", str(directory), named, "is a Helm chart")
        return
    inside = is_kustomization(directory)
    if inside:
        yield Input("directory", str(directory), named)
    for name in names:
        path = directory / name
        if name.startswith((".", "_")):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _walk(path, named=False)
        elif not inside and name.endswith(_SUFFIXES) and path.is_file():
            # What stands beside a kustomization belongs to it: resources, and patches that are no whole objects.
            yield Input("file", str(path), named=False)


def read(source: Source, *, named: bool = True) -> Read:
    """Tell what a file holds. A document that cannot be read does not stop the others.

    Args:
        named: the user named the file; else what is neither objects nor values is no problem, only noted.
    """
    nodes: list[yamlio.Node] = []
    problems: list[Problem] = []
    try:
        nodes = yamlio.load(source)
    except MlxtplError as error:
        nodes, problems = _one_by_one(source, error)
    if len(nodes) == 1 and not problems and _is_values(nodes[0]):
        if named or _looks_like_values(nodes[0]):
            return Read(source, values=True)
        note = Problem("is neither a Kubernetes object nor a values file: not checked", source.name, level="info")
        return Read(source, notes=(note,))
    objects: Manifest = []
    kept: list[yamlio.Node] = []
    for node in (each for document in nodes for each in resources.items(document)):
        fault = _fault(node, source)
        try:
            obj = resources.plain(node)
        except YamlError as error:
            problems += error.problems
            continue
        if fault is not None:
            problems.append(fault)
        else:
            objects.append(obj)
            kept.append(node)
    return Read(source, objects, tuple(kept), problems=tuple(problems))


def _one_by_one(source: Source, error: MlxtplError) -> tuple[list[yamlio.Node], list[Problem]]:
    """The documents that can be read, and what is wrong with the others."""
    template = _template(source, error)
    if template is not None:
        return [], [template]
    starts = [0, *(match.start() for match in _DOCUMENT.finditer(source.text) if match.start())]
    if len(starts) < 2:
        return [], list(error.problems)
    nodes: list[yamlio.Node] = []
    problems: list[Problem] = []
    for start, end in zip(starts, [*starts[1:], len(source.text)], strict=True):
        # Empty lines instead of the documents above, so that places stay right; the whole text is shown.
        above = "\n" * source.text.count("\n", 0, start)
        part = source._replace(text=above + source.text[start:end])
        try:
            nodes += yamlio.load(part)
        except MlxtplError as fault:
            problems += fault.problems
    return nodes, problems or list(error.problems)


def _template(source: Source, error: MlxtplError) -> Problem | None:
    """What a text looks like whose first fault is in a line with braces of a template."""
    place = error.problems[0].place
    if place is None or not any(each in place.text() for each in ("{{", "{%", "{#")):
        return None
    match = _GO_TEMPLATE.search(source.text)
    if match is not None:
        return Problem("looks like a Go template of a Helm chart, not like YAML", source.name, hint=_HELM)
    if _JINJA.search(source.text):
        hint = "lint the values file that it is rendered with: mlxtpl lint values/prod.yaml"
        return Problem("looks like a Jinja template, not like YAML", source.name, hint=hint)
    return None


def _is_values(node: yamlio.Node) -> bool:
    return isinstance(node, yamlio.Mapping) and not {"apiVersion", "kind"} & set(node.items)


def _looks_like_values(node: yamlio.Node) -> bool:
    return isinstance(node, yamlio.Mapping) and ("extends" in node.items or {"name", "image"} <= set(node.items))


def _fault(node: yamlio.Node, source: Source) -> Problem | None:
    """Why a document is no object."""
    if not isinstance(node, yamlio.Mapping):
        return Problem(f"must be a Kubernetes object, found {schema.found_words(node)}", source.name, node.place)
    for key in ("apiVersion", "kind"):
        given = node.items.get(key)
        if given is None or not isinstance(given[1], yamlio.Scalar) or yamlio.is_null(given[1]):
            place = node.place if given is None else given[0].place
            return Problem(f"{key} is missing: this is no Kubernetes object", source.name, place)
    return None
