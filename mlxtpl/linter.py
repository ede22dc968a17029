"""Manifest → problems: runs the rules, stamps rule and level."""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.errors import Problem
from mlxtpl.manifest import Manifest
from mlxtpl.rules import RULES


def lint(manifest: Manifest) -> Iterator[Problem]:
    """Every problem that the rules find, rule by rule."""
    for rule in RULES:
        for problem in rule.check(manifest):
            yield problem._replace(level=rule.LEVEL, notes=(*problem.notes, ("rule", rule.ID)))
