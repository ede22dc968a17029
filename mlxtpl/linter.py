"""Manifest → problems: runs the rules, stamps rule and level."""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.errors import Problem
from mlxtpl.manifest import Manifest
from mlxtpl.rules import RULES, wrong_shape


def lint(manifest: Manifest) -> Iterator[Problem]:
    """Every problem that the rules find, rule by rule; of a wrong shape only that, since no other rule can look into it."""
    for rule in RULES:
        found = False
        for problem in rule.check(manifest):
            found = True
            yield problem._replace(level=rule.LEVEL, notes=(*problem.notes, ("rule", rule.ID)))
        if found and rule is wrong_shape:
            return
