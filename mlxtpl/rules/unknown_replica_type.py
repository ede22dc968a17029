"""A PyTorchJob has replicas that are neither Master nor Worker, or none at all.

## Why   the operator's webhook refuses it: spec.pytorchReplicaSpecs[worker]: Unsupported value: "worker"; without
         pytorchReplicaSpecs: must be required. An empty map is accepted, and nothing ever runs
## Bad   pytorchReplicaSpecs: {worker: {replicas: 2}}
## Good  pytorchReplicaSpecs: {Worker: {replicas: 2}}
"""

from __future__ import annotations

from collections.abc import Iterator
from types import NoneType

from mlxtpl.manifest import Edit, Finding, Subject

ID = "unknown-replica-type"
LEVEL = "error"
_TYPES = ("Master", "Worker")
_MEANT = {"master": "Master", "chief": "Master", "launcher": "Master", "worker": "Worker"}


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/webhooks/pytorch/pytorchjob_webhook.go at v1.9.4."""
    for part in subject.parts("PyTorchJob"):
        replicas = part.at("spec", "pytorchReplicaSpecs")
        if replicas.value is None and isinstance(part.at("spec").value, (dict, NoneType)):
            yield replicas.finding("must be given", hint="pytorchReplicaSpecs: {Worker: {replicas: 2, template: …}}")
        elif replicas.value == {}:
            yield replicas.finding("must have a Worker or a Master, found none")
        for name in replicas.map():
            if name not in _TYPES:
                right = _MEANT.get(name.lower().removesuffix("s"), "")
                known = right in _TYPES and right not in replicas.map()
                edits = (Edit("rename", (*replicas.path, name), right),) if known else ()
                hint = f"did you mean {right}?" if right else ""
                message = f"must be Master or Worker, found {name}"
                yield replicas.finding(message, name, key=True, hint=hint, edits=edits)
