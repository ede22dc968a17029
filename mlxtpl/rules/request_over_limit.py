"""A container requests more of a resource than its limit allows.

## Why   the API server refuses the pod, and for a PyTorchJob only the operator's events tell it
## Bad   requests: {cpu: 16}, limits: {cpu: 8}
## Good  requests: {cpu: 4}, limits: {cpu: 8}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl import quantities
from mlxtpl.manifest import Finding, Subject

ID = "request-over-limit"
LEVEL = "error"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: validation of ResourceRequirements, pkg/apis/core/validation, Kubernetes v1.32."""
    for container in subject.containers():
        limits = container.map("resources", "limits")
        for name, wanted in container.map("resources", "requests").items():
            more, most = quantities.amount(wanted), quantities.amount(limits.get(name))
            # Of an extended resource a request has to equal its limit: a rule of its own.
            if more is not None and most is not None and more > most and "/" not in name:
                message = f"is {wanted}, more than the limit {limits[name]}"
                yield container.finding(message, "resources", "requests", name)
