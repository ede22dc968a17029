"""The pods of an elastic PyTorchJob are not cleaned up when it ends.

## Why   an elastic job has succeeded as soon as one of its Workers has. With cleanPodPolicy None, which is the default,
         the others go on and hold their GPUs until they end by themselves
## Bad   elasticPolicy: {minReplicas: 2, maxReplicas: 4} with runPolicy: {cleanPodPolicy: None}
## Good  the same with runPolicy: {cleanPodPolicy: Running}, which keeps the pods that have ended, and their logs
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject
from mlxtpl.training_operator import node_range

ID = "clean-pods-none-with-elastic"
LEVEL = "info"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/controller.v1/pytorch/pytorchjob_controller.go and common/job.go at v1.9.4.

    Workers of a fixed number end together.
    """
    for part in subject.parts("PyTorchJob"):
        low, high = node_range(part) or (1, 1)
        policy = part.at("spec", "runPolicy", "cleanPodPolicy")
        if low < high and policy.value in (None, "None") and "Master" not in part.map("spec", "pytorchReplicaSpecs"):
            message = f"is None{'' if policy.value else ' by default'}, so Workers that outlive the job keep their GPUs"
            yield policy.finding(message, hint="cleanPodPolicy: Running keeps the logs of what has ended")
