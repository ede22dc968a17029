"""Rules: each file of tests/rules is named after its rule and has manifests that it finds fault with, and others."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlxtpl import kube_schema, yamlio
from mlxtpl.linter import field_text
from mlxtpl.manifest import Subject
from mlxtpl.resources import plain
from mlxtpl.rules import RULES

CASES = {
    path.stem: plain(yamlio.load_one(yamlio.read_source(path)))
    for path in (Path(__file__).parent / "rules").glob("*.yaml")
}


def test_every_rule_has_cases_and_a_docstring() -> None:
    """A rule without cases, or cases without a rule, are a mistake."""
    assert set(CASES) == {rule.ID for rule in RULES}
    for rule in RULES:
        assert all(f"## {part}" in (rule.__doc__ or "") for part in ("Why", "Bad", "Good")), rule.ID


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.ID)
def test_rule(rule: object) -> None:
    """Every `bad` manifest gets the message beside it, no `good` one gets any."""
    for case in CASES[rule.ID]["bad"]:
        subject = Subject(case["manifest"], case.get("driver", ""), kube_schema.faults(case["manifest"]))
        found = [f"{field_text(case['manifest'], each)}: {each.message}" for each in rule.check(subject)]
        assert found == case["found"]
    for manifest in CASES[rule.ID]["good"]:
        assert list(rule.check(Subject(manifest, faults=kube_schema.faults(manifest)))) == []
