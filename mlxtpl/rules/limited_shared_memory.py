"""The shared memory at /dev/shm has a small limit.

## Why   the platform recommends no limit or a large one: below 1 GiB a few DataLoader workers, or NCCL with eight GPUs,
         fill it, and whoever writes next gets a bus error
## Bad   emptyDir: {medium: Memory, sizeLimit: 64Mi}
## Good  emptyDir: {medium: Memory}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl import quantities, shared_memory
from mlxtpl.manifest import Finding, Subject

ID = "limited-shared-memory"
LEVEL = "warning"
_SMALL = 2**30  # bytes


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the platform's guide, "Shared Memory 설정"; where small begins is our choice."""
    for template, container in subject.training():
        volume = shared_memory.mounted(template, container)
        size = None if volume is None else quantities.amount(volume.map("emptyDir").get("sizeLimit"))
        if volume is not None and size is not None and size < _SMALL:
            message = f"limits /dev/shm to {volume.map('emptyDir')['sizeLimit']}; the platform recommends no limit"
            yield volume.finding(message, "emptyDir", "sizeLimit", hint="leave it out")
