"""InfiniBand is asked for by a job on one node.

## Why   InfiniBand connects nodes; within one, NCCL uses NVLink and shared memory. The zone only narrows where the pod fits
## Bad   kind: Job with annotations: {mlx.navercorp.com/zone: ai-infra}
## Good  kind: Job without it, or a PyTorchJob on several nodes
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl import infiniband
from mlxtpl.manifest import Finding, Subject

ID = "infiniband-on-one-node"
LEVEL = "info"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the platform's guide, "Infiniband 사용": it is for nodes of a distributed training."""
    for template, container in subject.training():
        why = infiniband.asks_for_infiniband(template, container)
        if why and infiniband.pods(template) == 1:
            yield container.finding(f"asks for InfiniBand ({why}), which connects nodes; this job has one")
