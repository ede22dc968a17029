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
    duplicate_env,
    duplicate_list_key,
    duplicate_object,
    elastic_range,
    elastic_without_worker,
    empty_rdzv_conf,
    endless_restarts,
    extended_resource,
    generated_field,
    idle_gpus,
    indexed_job,
    invalid_label,
    invalid_name,
    invalid_quantity,
    job_restart_policy,
    long_name,
    master_replicas,
    master_with_elastic,
    milli_bytes,
    misplaced_nproc,
    missing_field,
    missing_training_container,
    negative_number,
    nnodes_mismatch,
    nproc_mismatch,
    overridden_variable,
    pod_failure_policy,
    removed_api_version,
    request_over_limit,
    single_node_pytorchjob,
    standalone_rendezvous,
    template_restart_policy,
    two_nproc_fields,
    two_volume_sources,
    undeclared_volume,
    undefined_variable,
    unknown_field,
    unknown_policy,
    unknown_rdzv_backend,
    unknown_replica_type,
    unknown_value,
    unreliable_deadline,
    unset_torchrun_variable,
    value_with_value_from,
    worker_replicas,
    workers_without_launcher,
    workers_without_rendezvous,
    wrong_shape,
    wrong_type,
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
    invalid_name,
    invalid_label,
    generated_field,
    duplicate_list_key,
    duplicate_env,
    undeclared_volume,
    two_volume_sources,
    value_with_value_from,
    undefined_variable,
    invalid_quantity,
    milli_bytes,
    request_over_limit,
    extended_resource,
    unknown_value,
    negative_number,
    job_restart_policy,
    indexed_job,
    pod_failure_policy,
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
    # the schema of Kubernetes; last, since the others know better what is meant
    removed_api_version,
    wrong_type,
    missing_field,
    unknown_field,
)
