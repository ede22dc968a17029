"""`lint --fix`: edits change the text they are about and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mlxtpl import repairs, yamlio
from mlxtpl.errors import Source
from mlxtpl.manifest import Edit
from mlxtpl.resources import plain

CASES: Any = plain(yamlio.load_one(yamlio.read_source(Path(__file__).with_name("repairs.yaml"))))
# The cases are about text: a head makes an object of them.
HEAD = "apiVersion: v1\nkind: X\n"


@pytest.mark.parametrize("title", CASES)
def test_edit(title: str) -> None:
    """The text after the edits is the one written down, or the edits are refused as a whole."""
    case = CASES[title]
    newline = "\r\n" if "\r\n" in case["before"] else "\n"
    head = HEAD.replace("\n", newline)
    edits = tuple((0, Edit(op, tuple(path), *value)) for op, path, *value in case["edits"])
    after = repairs.apply(Source("m.yaml", head + case["before"]), edits)
    assert (after and after.text.removeprefix(head)) == case.get("after")
