"""A PyTorchJob asks for fewer than one Worker.

## Why   the operator's webhook refuses it: spec.pytorchReplicaSpecs[Worker].replicas: Forbidden: must be at least 1
## Bad   Worker: {replicas: 0}
## Good  no Worker at all beside a Master, or Worker: {replicas: 1}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject

ID = "worker-replicas"
LEVEL = "error"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/webhooks/pytorch/pytorchjob_webhook.go at v1.9.4."""
    for replica in subject.replicas():
        count = replica.integer("replicas")
        if replica.path[-1] == "Worker" and count is not None and count < 1:
            yield replica.finding(f"must be at least 1, found {count}", "replicas")
