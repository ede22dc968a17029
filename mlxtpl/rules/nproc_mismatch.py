"""More processes start in a pod than it has GPUs, or the command starts another number than the job says.

## Why   nobody compares them. Two processes on one GPU die with "Duplicate GPU detected" or "invalid device ordinal";
         and torchrun's flag silently beats what the job says
## Bad   elasticPolicy: {nProcPerNode: 8} with limits: {nvidia.com/gpu: "4"}
## Good  elasticPolicy: {nProcPerNode: 4} with limits: {nvidia.com/gpu: "4"}, and no --nproc-per-node
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject, gpus
from mlxtpl.torchrun import of_job, processes

ID = "nproc-mismatch"
LEVEL = "error"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: torch/distributed/run.py (a flag beats PET_NPROC_PER_NODE); NCCL's and CUDA's own messages."""
    told = set()
    for _, container in subject.training():
        part, count = processes(container) or (container, 0)
        at_most, (field, wanted) = gpus(container), of_job(container) or (container, count)
        if (part.number, part.path) in told:
            continue
        told.add((part.number, part.path))
        if at_most and count > at_most:
            yield part.finding(f"must be at most {at_most}, the GPUs of a pod, found {count}")
        elif wanted != count and count:
            message = f"starts {count} processes, but the job says {wanted} ({'.'.join(field.path)}); this one counts"
            yield part.finding(message, hint="leave --nproc-per-node out: torchrun reads PET_NPROC_PER_NODE")
