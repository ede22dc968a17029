"""The installed package has all its data."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import mlxtpl
from mlxtpl.package import data_path

ROOT = Path(__file__).parent.parent


def test_every_template_and_values_file_is_there() -> None:
    """What stands in templates/, values/ and scaffold/ is what is installed, byte for byte."""
    assert data_path("copier.yml").read_bytes() == (ROOT / "copier.yml").read_bytes()
    for name in ("templates", "values", "scaffold"):
        ours = {path.relative_to(ROOT / name): path.read_bytes() for path in (ROOT / name).rglob("*") if path.is_file()}
        there = {
            path.relative_to(data_path(name)): path.read_bytes()
            for path in data_path(name).rglob("*")
            if path.is_file()
        }
        assert there == ours


def test_version() -> None:
    """One version everywhere."""
    assert version("mlxtpl") == mlxtpl.__version__
