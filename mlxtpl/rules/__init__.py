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
    backoff_never_counts,
    clean_pods_none_with_elastic,
    deprecated_nproc,
    derived_name_too_long,
    duplicate_object,
    elastic_range,
    elastic_without_worker,
    empty_rdzv_conf,
    endless_restarts,
    idle_gpus,
    long_name,
    master_replicas,
    master_with_elastic,
    misplaced_nproc,
    missing_training_container,
    nnodes_mismatch,
    nproc_mismatch,
    overridden_variable,
    request_over_limit,
    single_node_pytorchjob,
    standalone_rendezvous,
    template_restart_policy,
    two_nproc_fields,
    undeclared_volume,
    unknown_policy,
    unknown_rdzv_backend,
    unknown_replica_type,
    unreliable_deadline,
    unset_torchrun_variable,
    worker_replicas,
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
    # what the API server refuses
    wrong_shape,
    duplicate_object,
    missing_training_container,
    undeclared_volume,
    request_over_limit,
    # the operator
    unknown_replica_type,
    master_replicas,
    worker_replicas,
    elastic_without_worker,
    elastic_range,
    two_nproc_fields,
    misplaced_nproc,
    deprecated_nproc,
    nproc_mismatch,
    idle_gpus,
    nnodes_mismatch,
    workers_without_rendezvous,
    workers_without_launcher,
    unset_torchrun_variable,
    overridden_variable,
    standalone_rendezvous,
    empty_rdzv_conf,
    unknown_rdzv_backend,
    unknown_policy,
    master_with_elastic,
    template_restart_policy,
    endless_restarts,
    backoff_never_counts,
    unreliable_deadline,
    clean_pods_none_with_elastic,
    derived_name_too_long,
    # the platform
    single_node_pytorchjob,
    long_name,
    args_after_shell_script,
)
