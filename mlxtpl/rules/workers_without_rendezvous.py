"""A PyTorchJob has several Workers, no Master and no elasticPolicy.

## Why   the operator then injects no rendezvous: each pod waits at 127.0.0.1 for peers that never come, and the
         GPUs idle until somebody notices
## Bad   pytorchReplicaSpecs: {Worker: {replicas: 2}} without elasticPolicy
## Good  the same with elasticPolicy: {rdzvBackend: c10d, minReplicas: 2, maxReplicas: 2}
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlxtpl.manifest import Edit, Finding, Part, Subject, training_container
from mlxtpl.rules.unset_torchrun_variable import unset
from mlxtpl.torchrun import launches
from mlxtpl.training_operator import workers

ID = "workers-without-rendezvous"
LEVEL = "error"
_BY_HAND = ("MASTER_ADDR", "PET_MASTER_ADDR", "PET_RDZV_ENDPOINT")


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/controller.v1/pytorch/envvar.go and elastic.go at v1.9.4."""
    for part in subject.parts("PyTorchJob"):
        replicas, policy = part.at("spec", "pytorchReplicaSpecs"), part.at("spec", "elasticPolicy")
        count = workers(part) or 0
        # The operator takes an empty elasticPolicy for one.
        if not replicas.map().keys() <= {"Worker"} or count < 2 or policy.value is not None:
            continue
        container = training_container(replicas.at("Worker", "template"))
        if container is None or not _wired_by_hand(container):
            message = f"must be set for {count} Workers without a Master, or they never find each other"
            hint = "elasticPolicy: {rdzvBackend: c10d}; in a values file: remove the patch that deletes it"
            # What does not start torchrun may want a Master instead.
            known = container is not None and launches(container) and part.text("metadata", "name")
            right = {"rdzvId": known, "rdzvBackend": "c10d", "minReplicas": count, "maxReplicas": count}
            yield policy.finding(message, hint=hint, edits=(Edit("set", policy.path, right),) if known else ())


def _wired_by_hand(container: Part) -> bool:
    """Whether the manifest names the place to meet by itself, by what the pod does have."""
    if any(container.env(name) for name in _BY_HAND):
        return True
    places = [each.get("rdzv-endpoint") or each.get("master-addr") or "" for each in launches(container)]
    missing = "|".join(unset(container)) or "(?!)"
    return any(place and not re.search(rf"\$[({{]?({missing})\b", place) for place in places)
