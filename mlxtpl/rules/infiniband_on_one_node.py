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
        whole = template._replace(path=(), value=template.obj)
        # The pods of an Indexed Job may train together.
        together = whole.integer(*template.path[:-1], "parallelism") or 1
        if why and infiniband.pods(template) == 1 and together < 2:
            yield container.finding(f"asks for InfiniBand ({why}), which connects nodes; this job has one")
