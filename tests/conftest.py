"""Options of the test suite."""

from __future__ import annotations

import os
import tempfile

import pytest

# The tests must not fill the user's cache, nor depend on what lies there.
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="mlxtpl-tests-")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --update, which rewrites the golden error texts; read the diff before you keep it."""
    parser.addoption("--update", action="store_true", help="rewrite tests/cases/*/error.txt from what the command says")
