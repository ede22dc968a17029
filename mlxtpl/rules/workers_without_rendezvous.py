"""A PyTorchJob has several Workers, no Master and no elasticPolicy.

## Why   the operator then injects no rendezvous: each pod waits at 127.0.0.1 for peers that never come, and the
         GPUs idle until somebody notices
## Bad   pytorchReplicaSpecs: {Worker: {replicas: 2}} without elasticPolicy
## Good  the same with elasticPolicy: {rdzvBackend: c10d, minReplicas: 2, maxReplicas: 2}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject

ID = "workers-without-rendezvous"
LEVEL = "error"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/controller.v1/pytorch/envvar.go and elastic.go at v1.9.4."""
    for part in subject.parts("PyTorchJob"):
        replicas = part.at("spec", "pytorchReplicaSpecs")
        workers = replicas.integer("Worker", "replicas") or 1
        if "Master" not in replicas.map() and workers > 1 and not part.at("spec", "elasticPolicy").value:
            message = f"must be set for {workers} Workers without a Master, or they never find each other"
            hint = "elasticPolicy: {rdzvBackend: c10d}; in a values file: remove the patch that deletes it"
            yield part.finding(message, "spec", "elasticPolicy", hint=hint)
