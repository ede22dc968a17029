"""The volume at /dev/shm is on a disk.

## Why   an emptyDir without medium: Memory is a directory on the node's disk: shared memory of DataLoader workers and of
         NCCL becomes as slow as that
## Bad   emptyDir: {} at /dev/shm
## Good  emptyDir: {medium: Memory}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl import shared_memory
from mlxtpl.manifest import Edit, Finding, Subject

ID = "disk-shared-memory"
LEVEL = "warning"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: emptyDir in core/v1/types.go of Kubernetes: the medium "" is the node's default."""
    for template, container in subject.training():
        volume = shared_memory.mounted(template, container)
        given = None if volume is None else volume.value.get("emptyDir", {} if set(volume.value) == {"name"} else None)
        if volume is not None and isinstance(given, dict) and not given.get("medium"):
            path = (*volume.path, "emptyDir", "medium")
            message = "must be Memory at /dev/shm, or shared memory is as slow as the node's disk"
            yield volume.finding(message, "emptyDir", "medium", edits=(Edit("set", path, "Memory"),))
