"""A PyTorchJob makes one pod.

## Why   the platform recommends a Job for training on a single node: a PyTorchJob adds a Service and a rendezvous, and
         its retries and deadlines are less dependable than a Job's
## Bad   kind: PyTorchJob with Worker: {replicas: 1}
## Good  kind: Job that starts torchrun --standalone --nproc-per-node 8, or python
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject
from mlxtpl.training_operator import node_range, pods

ID = "single-node-pytorchjob"
LEVEL = "warning"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the platform's guide, "Job vs PyTorchJob"."""
    for part in subject.parts("PyTorchJob"):
        _, most = node_range(part) or (1, 1)
        if pods(part) == 1 and most <= 1:
            hint = "kind: Job; in a values file: leave distributed out"
            yield part.finding("makes one pod, for which the platform recommends a Job", "kind", hint=hint)
