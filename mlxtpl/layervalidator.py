"""Cerberus with strict types and the rules of layers."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, ClassVar

from mlxtpl.schema import Rules


def _import_cerberus() -> Any:
    """Cerberus without importlib.metadata, of which it wants its own version only: that is a tenth of a cold start."""
    import importlib
    import sys
    import types

    name = "importlib.metadata"
    if name in sys.modules:
        return importlib.import_module("cerberus")
    stand_in: Any = types.ModuleType(name)
    stand_in.version, stand_in.PackageNotFoundError = lambda _name: "unknown", LookupError
    sys.modules[name] = importlib.metadata = stand_in
    try:
        return importlib.import_module("cerberus")
    finally:
        del sys.modules[name], importlib.metadata


@lru_cache(maxsize=1)
def _validator_class() -> Any:
    cerberus = _import_cerberus()
    from cerberus import TypeDefinition

    class Unsorted(cerberus.errors.ErrorList):  # type: ignore[misc, name-defined]
        def sort(self, **_how: Any) -> None:
            """Errors are sorted by place, when all are there."""

    class NoTree:
        @staticmethod
        def add(_error: Any) -> None:
            """Cerberus wants to."""

    class LayerValidator(cerberus.Validator):  # type: ignore[misc, name-defined]
        """Cerberus with strict integers, whole-text regexes and the rules of layers."""

        # Cerberus sorts all errors at each new one, and keeps a tree of them by schema that nothing here reads.
        schema_error_tree = property(lambda _self: NoTree, lambda _self, _tree: None)
        _errors = property(
            lambda self: self.__dict__["unsorted"], lambda self, found: self.__dict__.update(unsorted=Unsorted(found))
        )

        types_mapping: ClassVar = {
            **cerberus.Validator.types_mapping,
            "integer": TypeDefinition("integer", (int,), (bool,)),
            "number": TypeDefinition("number", (int, float), (bool,)),
            "duration": TypeDefinition("duration", (int,), (bool,)),
        }

        def _validate_regex(self, pattern: str, field: str, value: Any) -> None:
            """{'type': 'string'}"""
            if isinstance(value, str) and not re.fullmatch(pattern, value):
                self._error(field, cerberus.errors.REGEX_MISMATCH)

        def _validate_meta(self, constraint: Any, field: str, value: Any) -> None:
            """{'type': 'dict'}"""

        def _validate_exactlyOneKey(self, keys: list[str], field: str, value: Any) -> None:  # noqa: N802
            """{'type': 'list', 'schema': {'type': 'string'}}"""
            if isinstance(value, dict):
                found = [key for key in keys if value.get(key) is not None]
                if len(found) != 1:
                    some = f"found {' and '.join(found)}" if found else "found none"
                    self._error(field, f"must have exactly one of {', '.join(keys)}; {some}")

        def _validate_elements(self, rules: Any, field: str, value: Any) -> None:
            """{'type': 'dict'}"""
            if isinstance(value, list):
                wrong = [f"[{index}]" for index, each in enumerate(value) if not isinstance(each, str)]
                if wrong:
                    self._error(field, f"{' and '.join(wrong)} must be text")

        def _validate_onlyTrue(self, constraint: bool, field: str, value: Any) -> None:  # noqa: N802
            """{'type': 'boolean'}"""
            if value is False:
                self._error(field, "must be true or a map; leave it out or set it to null to turn it off")

        def _validate_allowedText(self, allowed: list[str], field: str, value: Any) -> None:  # noqa: N802
            """{'type': 'list', 'schema': {'type': 'string'}}"""
            if isinstance(value, str) and value not in allowed:
                self._error(field, f"must be a whole number or one of {', '.join(allowed)}")

        def _validate_min(self, lowest: Any, field: str, value: Any) -> None:
            """{'nullable': False}"""
            if isinstance(value, (int, float)):
                super()._validate_min(lowest, field, value)

        def _validate_max(self, highest: Any, field: str, value: Any) -> None:
            """{'nullable': False}"""
            if isinstance(value, (int, float)):
                super()._validate_max(highest, field, value)

    return LayerValidator


def make_validator(keys: Rules) -> Any:
    """A Cerberus validator of maps with these keys, which `schemarules` found nothing wrong with."""
    validator = _validator_class()  # the first to import Cerberus, in its own way
    # Cerberus would check the schema once more, with itself: a sixth of a cold start.
    from cerberus.schema import UnvalidatedSchema

    return validator(UnvalidatedSchema(keys), ignore_none_values=True, allow_unknown=False)
