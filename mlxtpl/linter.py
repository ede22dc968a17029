"""Manifest → findings: runs the rules over it and says of each finding which rule it broke."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mlxtpl import fields, kinds
from mlxtpl.errors import Problem
from mlxtpl.manifest import Finding, Manifest, Subject, object_id
from mlxtpl.rules import RULES, Rule, wrong_shape

LEVELS = ("error", "warning", "info")


def lint(subject: Subject, rules: Sequence[Rule] = RULES) -> Iterator[tuple[Rule, Finding]]:
    """Every finding of the rules, rule by rule.

    What the schema says of a field is left out where an error of another rule is about the same field; and the schema
    knows more about a wrong shape than `wrong-shape` does.
    """
    told: set[tuple[int, tuple[object, ...]]] = set()
    general = {each.rule for each in subject.faults}
    for rule in rules:
        if general and rule is wrong_shape:
            continue
        for finding in rule.check(subject):
            at = (finding.number, finding.path)
            if rule.ID in general and at in told:
                continue
            if rule.LEVEL == "error":
                told.add(at)
            yield rule, finding


def problems(manifest: Manifest, ignored: Iterable[str] = (), level: str = "warning") -> list[Problem]:
    """The problems of at least this level that the rules find in a manifest without asking the schema.

    Args:
        ignored: ids of rules that are waived.
    """
    wanted = LEVELS[: LEVELS.index(level) + 1]
    rules = [rule for rule in RULES if rule.LEVEL in wanted and rule.ID not in ignored]
    return [problem_of(rule, finding, manifest) for rule, finding in lint(Subject(manifest), rules)]


def problem_of(rule: Rule, finding: Finding, manifest: Manifest) -> Problem:
    """The finding as a problem without a place."""
    where = field_text(manifest, finding)
    notes = (*finding.notes, ("rule", rule.ID))
    field = (finding.number, *finding.path)
    return Problem(finding.message, where, None, notes, finding.hint, rule.LEVEL, field)


def field_text(manifest: Manifest, finding: Finding) -> str:
    """`Job/mnist: spec.template.spec.containers[main].image`."""
    obj = manifest[finding.number]
    kind = kinds.find_kind(obj)
    field = fields.keyed(obj, kind.lists if kind else {}, finding.path)
    return ": ".join(part for part in (object_id(obj), fields.text(field)) if part)
