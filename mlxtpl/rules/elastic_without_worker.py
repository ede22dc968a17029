"""A PyTorchJob has an elasticPolicy and no Worker.

## Why   the operator's webhook refuses it: spec.pytorchReplicaSpecs[Worker]: Required value: must be configured if
         elastic policy is used
## Bad   elasticPolicy: {rdzvBackend: c10d} with pytorchReplicaSpecs: {Master: …}
## Good  the same with pytorchReplicaSpecs: {Worker: …}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject

ID = "elastic-without-worker"
LEVEL = "error"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/webhooks/pytorch/pytorchjob_webhook.go at v1.9.4."""
    for part in subject.parts("PyTorchJob"):
        replicas = part.map("spec", "pytorchReplicaSpecs")
        # A misspelt Worker, or no replicas at all, is the cause then: unknown-replica-type tells it.
        worker = any(name.lower() == "worker" for name in replicas)
        if isinstance(part.at("spec", "elasticPolicy").value, dict) and replicas and not worker:
            message = f"must be there where there is an elasticPolicy, found {', '.join(replicas)}"
            yield part.finding(message, "spec", "pytorchReplicaSpecs", "Worker", hint="or leave elasticPolicy out")
