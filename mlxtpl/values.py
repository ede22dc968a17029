"""Values files and `--set` → Values: merged nodes that keep spelling and place, and plain data typed by the schema."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mlxtpl import assignments, filecontents, package, schema, validation, yamlio
from mlxtpl.assignments import Assignment
from mlxtpl.errors import MlxtplError, PackageError, Place, Problem, Source, ValuesError
from mlxtpl.package import Layer, Package
from mlxtpl.yamlio import Node

_MAX_EXTENDS = 50
_MOST_PROBLEMS = 200


class Stage(NamedTuple):
    """One tree that was merged, at a path of the values (the root, but for a `--set`)."""

    path: tuple[str | int, ...]
    node: Node


class Values(NamedTuple):
    """What the layers render.

    Attributes:
        tree: plain data; every declared key is there, None when absent; switches are maps or None.
        nodes: the merged nodes, for places.
        package: the package with the user's own layers.
        layers: the layers that are on, in order.
        name: the values file as messages call it.
        stages: what was merged, lowest first: defaults, extended files, files, each `--set`.
        digests: of the value of each top-level key that is there; equal only for equal values.
    """

    tree: dict[str, Any]
    nodes: yamlio.Mapping
    package: Package
    layers: tuple[Layer, ...]
    name: str
    stages: tuple[Stage, ...] = ()
    digests: dict[str, bytes] = {}  # noqa: RUF012 - always given

    def locate(self, path: Sequence[Any]) -> Place | None:
        """Where a value was written; None for one that nobody wrote."""
        node, whole = schema.locate(self.nodes, path)
        return node.place if whole and node is not None else None


Packages = dict[tuple[Path, ...], Package]


def load_values(
    files: Sequence[Source],
    sets: Sequence[tuple[str, str]] = (),
    *,
    package_path: Path | None = None,
    layer_paths: Sequence[Path] = (),
    packages: Packages | None = None,
) -> Values:
    """Merge, type and validate: layers' defaults < extends… < files left to right < sets.

    Args:
        files: the values files, read.
        sets: `(option, text)`, such as `("set", "resources.gpus=8")`, in the order of the command line.
        package_path: a package that wins over the values' own `package`.
        layer_paths: further layers, after the values' own `layers`.
        packages: loaded packages, for many calls in one process; it is filled.

    Raises:
        YamlError, ValuesError, PackageError: with every problem that was found.
    """
    stages, problems = _load_files(files)
    try:
        nodes = _merged(stages, files[0])
    except ValuesError as error:
        raise ValuesError([*problems, *error.problems]) from None
    assigned: list[Stage] = []
    counts: dict[str, int] = {}
    for option, text in sets:
        counts[option] = counts.get(option, 0) + 1
        try:
            for assignment in assignments.parse(option, text, counts[option]):
                nodes = _assign(nodes, assignment)
                assigned.append(Stage(assignment.path, assignment.node))
        except MlxtplError as error:
            problems += error.problems
    if problems:
        raise ValuesError(problems)
    loaded = _load_packages(nodes, package_path, layer_paths, {} if packages is None else packages)
    defaults, on = _defaults(nodes, loaded)
    nodes = _merged([*defaults, nodes], files[0])
    tree = {key: schema.typed(node, loaded.keys.get(key, {})) for key, (_, node) in nodes.items.items()}
    digests = {key: validation.digest(value) for key, value in tree.items()}
    assert loaded.validator is not None
    # A fault inside a map can be reported by several rules of one place; the first says it best.
    found: dict[tuple[Any, ...], Problem] = {}
    for fault in loaded.validator.faults(tree, digests):
        if len(found) == _MOST_PROBLEMS:
            found[()] = Problem(f"there are more than {_MOST_PROBLEMS} problems; the others are not shown")
            break
        if fault[0] not in found:
            found[fault[0]] = validation.problem_of(fault, nodes, loaded.keys, loaded.schema_nodes)
    if found:
        raise ValuesError(_named(sorted(found.values(), key=_by_place), files[0].name))
    for layer in loaded.layers:
        if _is_switch(layer):
            value = tree.get(layer.name)
            tree[layer.name] = ({} if value is True else value) if layer.name in on else None
            digests[layer.name] = validation.digest(tree[layer.name])
    tree = schema.complete(tree, {"schema": loaded.keys})
    if tree.get("files"):
        tree["files"] = filecontents.read(tree["files"], nodes, [each.source for each in defaults])
        digests["files"] = validation.digest(tree["files"])
    layers = tuple(layer for layer in loaded.layers if not _is_switch(layer) or layer.name in on)
    told = (*(Stage((), each) for each in (*defaults, *stages)), *assigned)
    return Values(tree, nodes, loaded, layers, files[0].name, told, digests)


def read_values(path: str, stdin: Callable[[], bytes] | None = None) -> Source:
    """Read a values file; `-` is standard input.

    Raises:
        YamlError: it cannot be read.
    """
    if path == "-" and stdin is not None:
        return yamlio.decode(stdin(), "<stdin>")
    return yamlio.read_source(Path(path))._replace(directory=str(Path(path).parent))


# --- files -------------------------------------------------------------------------------------


def _load_files(files: Sequence[Source]) -> tuple[list[yamlio.Mapping], list[Problem]]:
    stages: list[yamlio.Mapping] = []
    problems: list[Problem] = []
    for source in files:
        try:
            stages += _load_extended(source, ())
        except MlxtplError as error:
            problems += error.problems
    return stages, problems


def _merged(stages: Sequence[yamlio.Mapping], source: Source) -> yamlio.Mapping:
    empty = yamlio.Mapping({}, source, 1, 1)
    return functools.reduce(merge_nodes, stages) if stages else empty


def _load_extended(source: Source, chain: tuple[tuple[Path, str], ...]) -> list[yamlio.Mapping]:
    """One file after what it extends; `chain` is the files on the way here."""
    node = _load_file(source)
    if "extends" not in node.items:
        return [node]
    key, parents = node.items["extends"]
    items = {name: item for name, item in node.items.items() if name != "extends"}
    rest = yamlio.Mapping(items, node.source, node.line, node.column)
    stages: list[yamlio.Mapping] = []
    problems: list[Problem] = []
    here = Path(source.directory) / Path(source.name).name
    chain = (*chain, (here.resolve(), source.name))
    for parent in parents.items if isinstance(parents, yamlio.Sequence) else [parents]:
        if yamlio.is_null(parent):
            continue
        if not isinstance(parent, yamlio.Scalar) or not parent.text or "\0" in parent.text:
            problems.append(Problem("must be the path of a values file", "extends", parent.place))
            continue
        path = Path(source.directory, parent.text)
        names = [each for each, _ in chain]
        if path.resolve() in names:
            cycle = [name for _, name in chain[names.index(path.resolve()) :]]
            shown = " -> ".join([*cycle, cycle[0]])
            problems.append(Problem(f"the files extend each other in a cycle: {shown}", "extends", parent.place))
            continue
        if len(chain) > _MAX_EXTENDS:
            problems.append(Problem(f"more than {_MAX_EXTENDS} files deep", "extends", key.place))
            continue
        try:
            read = yamlio.read_source(path)._replace(directory=str(path.parent))
        except MlxtplError as error:
            for problem in error.problems:
                hint = problem.hint or "a path is relative to the file that writes it"
                problems.append(problem._replace(place=parent.place, hint=hint))
            continue
        try:
            stages += _load_extended(read, chain)
        except MlxtplError as error:
            problems += error.problems
    if problems:
        raise ValuesError(problems)
    return [*stages, rest]


@functools.lru_cache(maxsize=64)  # many files extend one; nodes are never changed
def _load_file(source: Source) -> yamlio.Mapping:
    node = yamlio.load_one(source)
    if node is None:
        raise ValuesError(Problem("the file is empty", source.name, hint="a values file needs at least name and image"))
    if not isinstance(node, yamlio.Mapping):
        message = f"a values file must be a map, found {schema.found_words(node)}"
        raise ValuesError(Problem(message, source.name, node.place, hint="write key: value lines"))
    if "apiVersion" in node.items and "kind" in node.items:
        raise ValuesError(
            Problem(
                "this is a manifest (it has apiVersion and kind), not a values file",
                source.name,
                node.items["kind"][0].place,
                hint="a values file has keys such as name, image, command; `mlxtpl values` lists them",
            )
        )
    return node


def merge_nodes(base: Node, over: Node, path: tuple[str, ...] = ()) -> Any:
    """Merge one values tree over another: maps deeply, scalars and lists are replaced.

    null replaces (and so removes) what was there; `true` over a map is `{}` over it and leaves the map.

    Raises:
        ValuesError: a map over a list or the reverse, naming both places.
    """
    if isinstance(base, yamlio.Mapping) and isinstance(over, yamlio.Mapping):
        items = dict(base.items)
        problems: list[Problem] = []
        for key, (key_node, node) in over.items.items():
            old = items.get(key)
            try:
                items[key] = (key_node, node if old is None else merge_nodes(old[1], node, (*path, key)))
            except ValuesError as error:
                problems += error.problems
        if problems:
            raise ValuesError(problems)
        return yamlio.Mapping(items, over.source, over.line, over.column)
    if isinstance(base, yamlio.Mapping) and isinstance(over, yamlio.Scalar) and over.plain and over.text == "true":
        # The map stays; who looks for what it lacks is sent to where it was turned on.
        return yamlio.Mapping(base.items, over.source, over.line, over.column)
    # An empty one has no form to keep: a wrong type is told by the schema.
    if {type(base), type(over)} == {yamlio.Mapping, yamlio.Sequence} and not _is_empty(base):
        new, old_words = schema.found_words(over), schema.found_words(base)
        raise ValuesError(
            Problem(
                f"{new} cannot replace {old_words}",
                schema.dotted(path),
                over.place,
                ((old_words, str(base.place)),),
                "--set-json sets a map"
                if over.source.name.startswith("--set")
                else "write both in the same form, or set it to null in a file between the two",
            )
        )
    return over


def _is_empty(node: Node) -> bool:
    return isinstance(node, (yamlio.Mapping, yamlio.Sequence)) and not node.items


def _assign(nodes: yamlio.Mapping, assignment: Assignment) -> yamlio.Mapping:
    """A `--set`: a map from --set-json merges, everything else replaces, but never a map a list or the reverse."""
    if isinstance(assignment.node, (yamlio.Mapping, yamlio.Sequence)):
        old, whole = schema.locate(nodes, assignment.path)
        if whole and old is not None:
            path = tuple(str(step) for step in assignment.path)
            assignment = assignment._replace(node=merge_nodes(old, assignment.node, path))
    return assignments.assign(nodes, assignment)


# --- packages, defaults, types -----------------------------------------------------------------


def _load_packages(
    nodes: yamlio.Mapping, package_path: Path | None, layer_paths: Sequence[Path], packages: Packages
) -> Package:
    chosen = nodes.items["package"][1] if "package" in nodes.items else None
    listed = nodes.items["layers"][1] if "layers" in nodes.items else None
    wanted = listed.items if isinstance(listed, yamlio.Sequence) else []
    # A value of a wrong type is left for validation, which says what is wrong with it.
    named = {
        Path(node.source.directory, node.text): node.place
        for node in (chosen, *wanted)
        if isinstance(node, yamlio.Scalar) and node.text and not yamlio.is_null(node) and "\0" not in node.text
    }
    own = [path for path in named if not isinstance(chosen, yamlio.Scalar) or named[path] != chosen.place]
    base = package_path or next((path for path in named if path not in own), None)
    layers = [*own, *layer_paths]
    key = (base or Path(), *layers)
    if key in packages:
        return packages[key]
    problems: list[Problem] = []
    loaded = None
    extra = []
    for path in (base, *layers):
        try:
            if path is None or path is base:
                loaded = package.load_package(path or package.data_path("templates"), str(path or "templates"))
            else:
                extra.append(package.load_layer(path))
        except MlxtplError as error:
            # The place in the values file says who asked for a directory that is not there.
            asked = None if path is None else named.get(path)
            problems += [each if each.place else each._replace(place=asked) for each in error.problems]
    if problems or loaded is None:
        raise PackageError(problems)
    packages[key] = package.assemble(loaded, tuple(extra))
    return packages[key]


def _is_switch(layer: Layer) -> bool:
    return layer.name in layer.keys


def _defaults(nodes: yamlio.Mapping, loaded: Package) -> tuple[list[yamlio.Mapping], frozenset[str]]:
    """The layers' defaults, those below a layer's own switch only when it is on; and the switches that are on."""
    on = set()
    for layer in loaded.layers:
        value = nodes.items.get(layer.name)
        if _is_switch(layer) and value is not None and not _is_off(value[1]):
            on.add(layer.name)
    found = []
    for layer in loaded.layers:
        if layer.defaults is None:
            continue
        items = {
            key: item
            for key, item in layer.defaults.items.items()
            if key != layer.name or not _is_switch(layer) or layer.name in on
        }
        found.append(yamlio.Mapping(items, layer.defaults.source, 1, 1))
    return found, frozenset(on)


def _is_off(node: Node) -> bool:
    return yamlio.is_null(node) or (isinstance(node, yamlio.Scalar) and node.plain and node.text == "false")


def _by_place(problem: Problem) -> tuple[str, int, int, str]:
    place = problem.place
    name, line, column = ("", 0, 0) if place is None else (place.source.name, place.line, place.column)
    return name, line, column, problem.where


def _named(problems: list[Problem], name: str) -> list[Problem]:
    """A problem without a place names the file instead."""
    return [p if p.place else p._replace(notes=(("file", name), *p.notes)) for p in problems]
