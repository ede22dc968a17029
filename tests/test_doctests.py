"""The examples in docstrings are tests."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import mlxtpl


def test_doctests() -> None:
    """Every module of the installed package; some examples must exist."""
    attempted = 0
    for info in pkgutil.walk_packages(mlxtpl.__path__, "mlxtpl."):
        if info.name == "mlxtpl.__main__":
            continue
        result = doctest.testmod(importlib.import_module(info.name))
        assert result.failed == 0, info.name
        attempted += result.attempted
    assert attempted > 15
