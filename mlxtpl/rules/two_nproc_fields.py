"""A PyTorchJob sets both spec.nprocPerNode and spec.elasticPolicy.nProcPerNode.

## Why   the operator's webhook refuses it: must not be used with spec.nprocPerNode
## Bad   nprocPerNode: "8" beside elasticPolicy: {nProcPerNode: 8}
## Good  one of the two
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject

ID = "two-nproc-fields"
LEVEL = "error"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/webhooks/pytorch/pytorchjob_webhook.go at v1.9.4."""
    for part in subject.parts("PyTorchJob"):
        if part.at("spec", "nprocPerNode").value is not None and part.map("spec", "elasticPolicy").get("nProcPerNode"):
            message = "must not be set beside spec.elasticPolicy.nProcPerNode"
            yield part.finding(message, "spec", "nprocPerNode", hint="keep one of the two")
