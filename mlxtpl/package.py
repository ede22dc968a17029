"""Packages and layers: a directory → its templates, schema and defaults. Comes before values in the flow."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mlxtpl import schema, schemarules, validation, yamlio
from mlxtpl.errors import MlxtplError, PackageError, Problem
from mlxtpl.yamlio import Node

if TYPE_CHECKING:
    from mlxtpl.sandbox import LayerEnvironment

# The templates of a layer that are merged into the job, in this order; any other stem is one more object.
JOB_STEMS = ("job", "pod", "container")
# Not an object: a list of problems with the values.
CHECKS = "checks"
_SUFFIX = ".yaml.j2"
_PACKAGE_KEYS = ("name", "version", "description", "layers")


class Layer(NamedTuple):
    """One layer.

    Attributes:
        name: the values key of this name turns the layer on; without such a key it is always on.
        shown: its directory as messages call it.
        prefix: what stands before a template's file name in `environment`.
        stems: the templates it has, `job`, `pod`, `container` first.
        keys: its Cerberus schema by values key; `schema_nodes` the same with places.
        defaults: its defaults.yaml, None when it has none.
    """

    name: str
    shown: str
    environment: LayerEnvironment
    prefix: str
    stems: tuple[str, ...]
    has_checks: bool
    keys: Mapping[str, Any]
    schema_nodes: Mapping[str, Node]
    defaults: yamlio.Mapping | None


class Package(NamedTuple):
    """An ordered set of layers.

    `keys`, `schema_nodes` and `validator` are those of all layers and of mlxtpl's own keys; `assemble` fills them.
    """

    name: str
    version: str
    description: str
    layers: tuple[Layer, ...]
    keys: Mapping[str, Any] = {}
    schema_nodes: Mapping[str, Node] = {}
    validator: validation.Validator | None = None


def data_path(name: str) -> Path:
    """A directory that ships with mlxtpl (`templates`, `values`): inside the wheel, or at the root of a checkout."""
    inside = Path(__file__).parent / "_data" / name
    return inside if inside.exists() else Path(__file__).parent.parent / name


def load_package(path: Path, shown: str | None = None) -> Package:
    """Load a package directory.

    Raises:
        PackageError: no package.yaml, a wrong one, a layer that is missing, lies outside, or is wrong itself.
    """
    shown = str(path) if shown is None else shown
    _need_directory(path, shown, "package", "a package is a directory with a package.yaml")
    root = _load_mapping(path / "package.yaml", f"{shown}/package.yaml", needed=True)
    assert root is not None
    problems = [
        Problem("unknown key", key, node.place, hint=schema.nearest(key, dict.fromkeys(_PACKAGE_KEYS), ()))
        for key, (node, _) in root.items.items()
        if key not in _PACKAGE_KEYS
    ]
    texts = {}
    for key in ("name", "version", "description"):
        node = root.items[key][1] if key in root.items else None
        if key == "name" and node is None:
            problems.append(Problem("is required", key, root.place))
        elif node is not None and not isinstance(node, yamlio.Scalar):
            problems.append(Problem(f"must be text, found {schema.found_words(node)}", key, node.place))
        texts[key] = node.text if isinstance(node, yamlio.Scalar) else ""
    names = root.items["layers"][1] if "layers" in root.items else None
    if not isinstance(names, yamlio.Sequence) or not names.items:
        place = root.place if names is None else names.place
        problems.append(Problem("must be a list of layer directories", "layers", place, hint="layers: [base, user]"))
    if problems:
        raise PackageError(problems)
    from mlxtpl.templating import make_environment

    environment = make_environment(path, shown)
    layers = []
    assert isinstance(names, yamlio.Sequence)
    for node in names.items:
        if not isinstance(node, yamlio.Scalar) or not node.text:
            problems.append(Problem("a layer must be the name of a directory", "layers", node.place))
            continue
        directory = path / node.text
        if path.resolve() not in directory.resolve().parents:
            hint = "a layer of a package is a directory inside it"
            problems.append(
                Problem(f'the layer "{node.text}" lies outside its package', "layers", node.place, hint=hint)
            )
        elif not directory.is_dir():
            have = ", ".join(sorted(each.name for each in path.iterdir() if each.is_dir()))
            message = f'the layer "{node.text}" does not exist'
            problems.append(Problem(message, "layers", node.place, (("there are", have or "no directories"),)))
        else:
            try:
                layers.append(_layer(directory, f"{shown}/{node.text}", environment, f"{node.text}/"))
            except MlxtplError as error:
                problems += error.problems
    if problems:
        raise PackageError(problems)
    return Package(texts["name"], texts["version"], texts["description"], tuple(layers))


def load_layer(path: Path, shown: str | None = None) -> Layer:
    """Load a layer directory of the user's own, outside any package.

    Raises:
        PackageError: it does not exist, has no template, or is wrong itself.
    """
    shown = str(path) if shown is None else shown
    _need_directory(path, shown, "layer", "a layer is a directory with templates *.yaml.j2")
    from mlxtpl.templating import make_environment

    return _layer(path, shown, make_environment(path, shown), "")


def _need_directory(path: Path, shown: str, what: str, hint: str) -> None:
    try:
        if path.is_dir():
            next(path.iterdir(), None)
            return
        reason = "is no directory" if path.exists() else "does not exist"
    except OSError as error:
        reason = f"cannot be read: {(error.strerror or str(error)).lower()}"
    raise PackageError(Problem(f"the {what} {reason}", shown, hint=hint))


def assemble(package: Package, layers: tuple[Layer, ...] = ()) -> Package:
    """The package with further layers before its last one, `user`, or at its end; schemas joined, validator made.

    Raises:
        PackageError: two layers have one name, or declare the same values key.
    """
    last = len(package.layers) - (package.layers[-1].name == "user")
    merged = (*package.layers[:last], *layers, *package.layers[last:])
    problems = []
    names: dict[str, Layer] = {}
    keys, nodes = _directives()
    for layer in merged:
        if layer.name in names:
            notes = (("first", names[layer.name].shown),)
            problems.append(Problem(f'two layers have the name "{layer.name}"', layer.shown, notes=notes))
        names[layer.name] = layer
        for key, node in layer.schema_nodes.items():
            if key in nodes:
                hint = "a layer may use the key of another without declaring it"
                note = ("first", "{0.source.name}:{0.line}".format(nodes[key].place))
                problems.append(Problem("this values key is declared twice", key, node.place, (note,), hint))
            keys[key], nodes[key] = layer.keys[key], node
    if problems:
        raise PackageError(problems)
    return package._replace(layers=merged, keys=keys, schema_nodes=nodes, validator=validation.Validator(keys))


def _schema_problem(path: tuple[str, ...], message: str, nodes: Mapping[str, Node]) -> Problem:
    node, _ = schema.locate(nodes[path[0]], path[1:])
    return Problem(message, schema.dotted(path), None if node is None else node.place)


def _directives() -> tuple[dict[str, Any], dict[str, Node]]:
    """The schema of the keys that speak to mlxtpl itself, plain and with places."""
    node = _load_mapping(Path(__file__).parent / "directives.yaml", "mlxtpl/directives.yaml", needed=True)
    assert node is not None
    nodes = {key: item for key, (_, item) in node.items.items()}
    return {key: plain(item) for key, item in nodes.items()}, nodes


def _layer(directory: Path, shown: str, environment: LayerEnvironment, prefix: str) -> Layer:
    resolved = directory.resolve()
    stems, problems = [], []
    for file in sorted(directory.iterdir()):
        if any("\ud800" <= char <= "\udfff" for char in file.name):
            problems.append(Problem("has a file whose name is no UTF-8", shown))
        elif file.name.endswith(_SUFFIX) and not file.name.startswith("_"):
            stems.append(file.name[: -len(_SUFFIX)])
        elif file.name.endswith((".yaml.jinja", ".yml.j2", ".j2")) and not file.name.startswith("_"):
            hint = "a template's name ends in .yaml.j2; a partial's name starts with _"
            problems.append(Problem("is no template's name", f"{shown}/{file.name}", hint=hint))
    if not stems:
        problems.append(
            Problem("the layer has no template", shown, hint="add job.yaml.j2, pod.yaml.j2 or container.yaml.j2")
        )
    keys: dict[str, Any] = {}
    schema_nodes: dict[str, Node] = {}
    defaults = None
    try:
        rules = _load_mapping(directory / "schema.yaml", f"{shown}/schema.yaml", root=resolved)
        if rules is not None:
            schema_nodes = {key: node for key, (_, node) in rules.items.items()}
            keys = {key: plain(node) for key, node in schema_nodes.items()}
            problems += [_schema_problem(path, text, schema_nodes) for path, text in schemarules.faults(keys)]
        defaults = _load_mapping(directory / "defaults.yaml", f"{shown}/defaults.yaml", root=resolved)
    except MlxtplError as error:
        problems += error.problems
    if problems:
        raise PackageError(problems)
    ordered = [stem for stem in JOB_STEMS if stem in stems]
    ordered += [stem for stem in stems if stem not in JOB_STEMS and stem != CHECKS]
    return Layer(
        directory.name or resolved.name,
        shown,
        environment,
        prefix,
        tuple(ordered),
        CHECKS in stems,
        keys,
        schema_nodes,
        defaults,
    )


def plain(node: Node) -> Any:
    """A node of a schema or of defaults as plain data."""
    if isinstance(node, yamlio.Scalar):
        return yamlio.scalar_value(node)
    if isinstance(node, yamlio.Sequence):
        return [plain(each) for each in node.items]
    return {key: plain(value) for key, (_, value) in node.items.items()}


def _load_mapping(path: Path, shown: str, *, needed: bool = False, root: Path | None = None) -> yamlio.Mapping | None:
    if not path.exists() and not path.is_symlink():
        if needed:
            hint = "a package.yaml has name, version, description and layers"
            raise PackageError(Problem("the file does not exist", shown, hint=hint))
        return None
    if root is not None and root not in path.resolve().parents:
        raise PackageError(Problem("the file is a link that leads out of its layer", shown))
    if not path.is_file():
        raise PackageError(Problem("is no regular file", shown))
    source = yamlio.read_source(path, shown)._replace(directory=str(path.parent))
    node = yamlio.load_one(source)
    if node is None:
        if needed:
            raise PackageError(Problem("the file is empty", shown))
        return None
    if not isinstance(node, yamlio.Mapping):
        raise PackageError(Problem(f"must be a map, found {schema.found_words(node)}", shown, node.place))
    return node
