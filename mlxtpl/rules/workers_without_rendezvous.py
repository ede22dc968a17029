"""A PyTorchJob has several Workers, no Master and no elasticPolicy.

## Why   the operator then injects no rendezvous: each pod waits at 127.0.0.1 for peers that never come, and the
         GPUs idle until somebody notices
## Bad   pytorchReplicaSpecs: {Worker: {replicas: 2}} without elasticPolicy
## Good  the same with elasticPolicy: {rdzvBackend: c10d, minReplicas: 2, maxReplicas: 2}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.errors import Problem
from mlxtpl.manifest import Manifest, object_id

ID = "workers-without-rendezvous"
LEVEL = "error"


def check(manifest: Manifest) -> Iterator[Problem]:
    """Source: pkg/controller.v1/pytorch/envvar.go and elastic.go at v1.9.4."""
    for obj in manifest:
        if obj.get("kind") != "PyTorchJob" or not isinstance(obj.get("spec"), dict):
            continue
        spec = obj["spec"]
        replicas = spec.get("pytorchReplicaSpecs") or {}
        workers = (replicas.get("Worker") or {}).get("replicas", 1)
        if "Master" not in replicas and isinstance(workers, int) and workers > 1 and not spec.get("elasticPolicy"):
            message = f"must be set for {workers} Workers without a Master, or they never find each other"
            hint = "remove the patch that deletes it, or use distributed.master: true"
            yield Problem(message, f"{object_id(obj)}: spec.elasticPolicy", hint=hint)
