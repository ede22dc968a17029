"""kustomization.yaml: found in its directory, checked field by field, with the place of each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from mlxtpl import package, schema, validation, yamlio
from mlxtpl.errors import MlxtplError, OverlayError, Place, Problem

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")


class Kustomization(NamedTuple):
    """One directory.

    Attributes:
        root: the directory; `shown` how messages call its file.
        fields: what the file says, typed, absent fields left out.
        node: the same with places.
    """

    root: Path
    shown: str
    fields: dict[str, Any]
    node: yamlio.Mapping

    def place(self, *path: Any) -> Place | None:
        """Where something in the file stands."""
        node, _ = schema.locate(self.node, path)
        return None if node is None else node.place

    def listed(self, field: str) -> list[tuple[Any, Place | None]]:
        """The items of a list field with their places."""
        return [(item, self.place(field, number)) for number, item in enumerate(self.fields.get(field) or [])]

    def problem(self, message: str, *path: Any, hint: str = "", notes: Sequence[tuple[str, str]] = ()) -> OverlayError:
        """An error at a place of the file."""
        return OverlayError(Problem(message, schema.dotted(path), self.place(*path), tuple(notes), hint))


def is_kustomization(path: Path) -> bool:
    """Whether a directory has a kustomization file."""
    return any((path / name).is_file() for name in NAMES)


def load_kustomization(root: Path) -> Kustomization:
    """Read and check the kustomization file of a directory.

    Raises:
        OverlayError: there is none or more than one, or it says something that it may not.
    """
    found = [root / name for name in NAMES if (root / name).is_file()]
    if len(found) != 1:
        many = (
            f"has {' and '.join(path.name for path in found)}; one is allowed" if found else "has no kustomization.yaml"
        )
        raise OverlayError(Problem(f"the directory {many}", str(root)))
    path = found[0]
    try:
        node = yamlio.load_one(yamlio.read_source(path))
    except MlxtplError as error:
        raise OverlayError(error.problems) from None
    if not isinstance(node, yamlio.Mapping):
        raise OverlayError(Problem(f"must be a map, found {schema.found_words(node)}", str(path)))
    keys, nodes, validator = _schema()
    tree = {key: schema.typed(each, keys.get(key, {})) for key, (_, each) in node.items.items()}
    tree = {key: value for key, value in tree.items() if value is not None}
    faults: dict[Any, Problem] = {}
    for fault in validator.faults(tree, {key: validation.digest(value) for key, value in tree.items()}):
        faults.setdefault(fault[0], validation.problem_of(fault, node, keys, nodes))
    if faults:
        # The hint of an unknown key speaks of values.
        hint = "docs/kustomize.md lists what is supported"
        told = [each._replace(notes=()) for each in faults.values()]
        raise OverlayError([each._replace(hint=hint) if "mlxtpl values" in each.hint else each for each in told])
    fields = {key: _without_absent(value) for key, value in tree.items()}
    fields["resources"] = [*fields.get("resources", []), *fields.pop("bases", [])]
    return Kustomization(root, str(path), fields, node)


def _without_absent(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_absent(each) for key, each in value.items() if each is not None}
    return [_without_absent(each) for each in value if each is not None] if isinstance(value, list) else value


@lru_cache(maxsize=1)
def _schema() -> tuple[dict[str, Any], dict[str, yamlio.Node], validation.Validator]:
    node = yamlio.load_one(yamlio.read_source(Path(__file__).with_name("kustomization_fields.yaml")))
    assert isinstance(node, yamlio.Mapping)
    nodes = {key: item for key, (_, item) in node.items.items()}
    keys = {key: package.plain(item) for key, item in nodes.items()}
    return keys, nodes, validation.Validator(keys)
