"""Rules: what the platform, Kubernetes and the operator refuse or break on. A module is a rule.

A rule has an ID that names the fault, a LEVEL, a docstring (Why, Bad, Good: it is the user's documentation) and
`check(subject)`. The order here is the order of the messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from mlxtpl.manifest import Finding, Subject
from mlxtpl.rules import (
    args_after_shell_script,
    derived_name_too_long,
    duplicate_object,
    long_name,
    missing_training_container,
    request_over_limit,
    two_nproc_fields,
    undeclared_volume,
    workers_without_launcher,
    workers_without_rendezvous,
    wrong_shape,
)


class Rule(Protocol):
    """What a rule module has; mypy rejects a module that lacks one of these."""

    ID: str
    LEVEL: str

    def check(self, subject: Subject) -> Iterator[Finding]:
        """Yield a finding for each fault; the linter says which rule found it."""


RULES: tuple[Rule, ...] = (
    wrong_shape,
    duplicate_object,
    missing_training_container,
    workers_without_launcher,
    workers_without_rendezvous,
    two_nproc_fields,
    derived_name_too_long,
    undeclared_volume,
    request_over_limit,
    args_after_shell_script,
    long_name,
)
