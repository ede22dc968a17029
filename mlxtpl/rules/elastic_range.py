"""The range of an elasticPolicy is empty, or the Workers are not in it.

## Why   nobody checks it before the job runs. Below minReplicas every pod waits for peers that never come and gives up
         after ten minutes; above maxReplicas the surplus pods hold their GPUs, are not let in and fail; with a
         minimum of 0, or above the maximum, torchrun fails at once
## Bad   elasticPolicy: {minReplicas: 4, maxReplicas: 4} with Worker: {replicas: 2}
## Good  elasticPolicy: {minReplicas: 2, maxReplicas: 4} with Worker: {replicas: 2}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Edit, Finding, Part, Subject, training_container
from mlxtpl.torchrun import launches
from mlxtpl.training_operator import node_range, workers

ID = "elastic-range"
LEVEL = "error"
_WORKER = ("spec", "pytorchReplicaSpecs", "Worker")


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/apis/kubeflow.org/v1/pytorch_defaults.go at v1.9.4; config_from_args in torch/distributed/run.py."""
    for part in subject.parts("PyTorchJob"):
        policy = part.at("spec", "elasticPolicy")
        found = node_range(part)
        written = next((each for each in ("minReplicas", "maxReplicas") if policy.integer(each) is not None), None)
        if found is None or written is None:
            continue
        low, high = found
        if low < 1:
            yield policy.finding(f"must be at least 1, found {low}", written)
        elif low > high:
            yield policy.finding(f"must be at most maxReplicas ({high}), found {low}", "minReplicas")
        else:
            yield from _workers(part, low, high)


def _workers(part: Part, low: int, high: int) -> Iterator[Finding]:
    replicas, policy = part.at("spec", "pytorchReplicaSpecs"), part.map("spec", "elasticPolicy")
    count = workers(part)
    # A Master takes part in the rendezvous too, and metrics let an autoscaler set the number.
    if count is None or count < 1 or low <= count <= high or "Master" in replicas.map() or policy.get("metrics"):
        return
    container = training_container(part.at(*_WORKER, "template"))
    own = [each.get("nnodes", "PET_NNODES") for each in launches(container)] if container else []
    if any("PET_NNODES" not in each for each in own):
        return  # nnodes-mismatch looks at these.
    given = replicas.integer("Worker", "replicas") is not None
    wanted = f"must be {low}" if low == high else f"must be from {low} to {high}"
    message = f"{wanted}, as elasticPolicy says, found {count if given else 'none, which is 1'}"
    edits = (Edit("set", (*_WORKER, "replicas"), low),) if low == high and not given else ()
    yield part.finding(message, *_WORKER, "replicas", edits=edits)
