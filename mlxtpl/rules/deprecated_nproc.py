"""A PyTorchJob sets spec.elasticPolicy.nProcPerNode, which is deprecated.

## Why   it works, and the platform's guide writes it so, but since 1.7 the operator's webhook warns at each apply:
         spec.elasticPolicy.nProcPerNode is deprecated, use spec.nprocPerNode instead
## Bad   elasticPolicy: {nProcPerNode: 8}
## Good  nprocPerNode: "8" beside elasticPolicy
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject

ID = "deprecated-nproc"
LEVEL = "info"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/webhooks/pytorch/pytorchjob_webhook.go at v1.9.4."""
    for part in subject.parts("PyTorchJob"):
        policy = part.at("spec", "elasticPolicy")
        # Both together are refused; two-nproc-fields tells that.
        if policy.map().get("nProcPerNode") is not None and part.map("spec").get("nprocPerNode") is None:
            message = "is deprecated in favour of spec.nprocPerNode; both work"
            yield policy.finding(
                message, "nProcPerNode", key=True, hint="spec.nprocPerNode is text: a number in quotes"
            )
