"""Every values key with every kind of wrong value: a manifest or an error with a message, never a bug."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from mlxtpl import reference
from mlxtpl.errors import LayerError, MlxtplError, Source, format_problem
from mlxtpl.pipeline import render
from mlxtpl.values import Packages
from mlxtpl.yamldump import dump

KEYS = [row["key"] for row in reference.key_list(reference.load(None))]
VALUES: list[Any] = [
    None,
    [],
    {},
    0,
    "",
    True,
    False,
    [None],
    [{}],
    {"a": None},
    {"a": {}},
    {"/a": True},
    "x\0y",
    "1" * 5000,
]
PACKAGES: Packages = {}
BASES: list[dict[str, Any]] = [{}, {"distributed": {"nodes": 2}, "infiniband": True, "zone": "a", "debug": True}]


def nested(key: str, value: Any, root: dict[str, Any]) -> None:
    """Set a dotted key; `<name>` is some free key, `[]` the map that a list would hold."""
    parts = key.replace("[]", "").split(".")
    at = root
    for part in parts[:-1]:
        name = "nm" if part == "<name>" else part
        if not isinstance(at.get(name), dict):
            at[name] = {}
        at = at[name]
    at[parts[-1]] = value


@pytest.mark.parametrize("key", KEYS)
def test_key(key: str) -> None:
    """Whatever stands there, the render ends in a manifest that dumps or in problems that can be shown."""

    for base in BASES:
        for value in VALUES:
            root = json.loads(json.dumps({"name": "a", "image": "b", **base}))
            nested(key, value, root)
            try:
                text = dump(render([Source("v.yaml", yaml.safe_dump(root))], packages=PACKAGES)[0])
            except MlxtplError as error:
                assert error.problems
                # null means absent: the built-in templates must never stumble over it.
                assert value is not None or not isinstance(error, LayerError), error
                assert all(format_problem(problem, error.stage) for problem in error.problems)
            else:
                assert all(isinstance(each["kind"], str) for each in yaml.safe_load_all(text))
