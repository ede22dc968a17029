"""A PyTorchJob sets both spec.nprocPerNode and spec.elasticPolicy.nProcPerNode.

## Why   the operator's webhook refuses it, even when both say the same: spec.elasticPolicy.nProcPerNode: Forbidden:
         must not be used with spec.nprocPerNode
## Bad   nprocPerNode: "8" beside elasticPolicy: {nProcPerNode: 8}
## Good  one of the two
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Edit, Finding, Subject

ID = "two-nproc-fields"
LEVEL = "error"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/webhooks/pytorch/pytorchjob_webhook.go at v1.9.4."""
    for part in subject.parts("PyTorchJob"):
        one, other = part.at("spec", "nprocPerNode"), part.at("spec", "elasticPolicy", "nProcPerNode")
        if one.value is not None and other.value is not None:
            # The one that stays is not deprecated.
            edits = (Edit("remove", other.path),) if str(one.value) == str(other.value) else ()
            message = "must not be set beside spec.elasticPolicy.nProcPerNode"
            yield one.finding(message, hint="keep one of the two", edits=edits)
