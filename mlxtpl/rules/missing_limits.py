"""The training container has no limit of CPU or memory.

## Why   a namespace with a quota of them refuses the pod ("failed quota: … must specify limits.cpu"), and without a memory
         limit one job can bring down the others of its node
## Bad   resources: {limits: {nvidia.com/gpu: "8"}}
## Good  resources: {limits: {cpu: "64", memory: 512Gi, nvidia.com/gpu: "8"}}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject, resource

ID = "missing-limits"
LEVEL = "warning"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/admission/plugin/resourcequota of kubernetes/apiserver; the examples of the platform's guide."""
    for _, container in subject.training():
        missing = [name for name in ("cpu", "memory") if resource(container, name) is None]
        if missing:
            hint = "resources: {cpu: 8, memory: 64Gi} in a values file"
            yield container.finding(f"must have a limit of {' and '.join(missing)}", "resources", "limits", hint=hint)
