"""The Master of a PyTorchJob is not written as one replica.

## Why   the operator's webhook refuses it, and there the default of 1 is not filled in yet:
         spec.pytorchReplicaSpecs[Master].replicas: Forbidden: must be 1
## Bad   Master: {template: …}
## Good  Master: {replicas: 1, template: …}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Edit, Finding, Subject

ID = "master-replicas"
LEVEL = "error"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/webhooks/pytorch/pytorchjob_webhook.go at v1.9.4."""
    for replica in subject.replicas():
        if replica.path[-1] != "Master":
            continue
        count = replica.integer("replicas")
        if replica.at("replicas").value is None:
            edits = (Edit("set", (*replica.path, "replicas"), 1),)
            yield replica.finding("must be written as 1, found none", "replicas", edits=edits)
        elif count not in (None, 1):
            hint = "more pods are Workers" if (count or 0) > 1 else ""
            yield replica.finding(f"must be 1, found {count}", "replicas", hint=hint)
