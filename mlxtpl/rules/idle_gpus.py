"""The processes of a pod cannot share out its GPUs: some are never used.

## Why   a GPU of the limit is taken from the others whether a process uses it or not. A number that divides the GPUs
         is fine: a process may use several of them
## Bad   elasticPolicy: {nProcPerNode: 3} with limits: {nvidia.com/gpu: "8"}
## Good  elasticPolicy: {nProcPerNode: 8} with limits: {nvidia.com/gpu: "8"}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject, gpus
from mlxtpl.torchrun import processes

ID = "idle-gpus"
LEVEL = "warning"


def check(subject: Subject) -> Iterator[Finding]:
    """Compare the processes of each training container with its GPUs; more of them is an error, nproc-mismatch."""
    told = set()
    for _, container in subject.training():
        part, count = processes(container) or (container, 0)
        have = gpus(container)
        if 0 < count < have and have % count and (part.number, part.path) not in told:
            told.add((part.number, part.path))
            yield part.finding(f"must divide the {have} GPUs of a pod, or some of them idle, found {count}")
