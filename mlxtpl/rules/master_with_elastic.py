"""A PyTorchJob has a Master and an elasticPolicy.

## Why   the operator takes both, but they do not fit: the rendezvous is at worker-0, PET_NNODES counts the Workers
         only, and the Master, whose end is the end of the job, asks to be let in as one more node
## Bad   elasticPolicy: {rdzvBackend: c10d} with pytorchReplicaSpecs: {Master: …, Worker: …}
## Good  an elasticPolicy with Workers only, or a Master without elasticPolicy
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject

ID = "master-with-elastic"
LEVEL = "warning"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/controller.v1/pytorch/envvar.go, elastic.go and pytorchjob_controller.go at v1.9.4."""
    for part in subject.parts("PyTorchJob"):
        replicas = part.map("spec", "pytorchReplicaSpecs")
        # Without a Worker the webhook refuses the job: elastic-without-worker.
        if "Master" in replicas and "Worker" in replicas and isinstance(part.map("spec").get("elasticPolicy"), dict):
            message = "must not stand beside an elasticPolicy, whose rendezvous does not count the Master"
            hint = "torchrun needs no Master"
            yield part.finding(message, "spec", "pytorchReplicaSpecs", "Master", key=True, hint=hint)
