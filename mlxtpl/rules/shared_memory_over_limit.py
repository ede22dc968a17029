"""The limit of the shared memory is above the container's memory limit.

## Why   what is written to /dev/shm counts against the memory limit of who writes it: the rest of the size is never
         there, and the container is OOMKilled while /dev/shm says that it has room
## Bad   emptyDir: {medium: Memory, sizeLimit: 64Gi} with limits: {memory: 32Gi}
## Good  emptyDir: {medium: Memory} with limits: {memory: 64Gi}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl import quantities, shared_memory
from mlxtpl.manifest import Finding, Subject, resource

ID = "shared-memory-over-limit"
LEVEL = "warning"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: SizeMemoryBackedVolumes of Kubernetes: the effective size is the least of both and the node's memory."""
    for template, container in subject.training():
        volume = shared_memory.mounted(template, container)
        if volume is None or not volume.map("emptyDir").get("medium"):
            continue
        given, limit = volume.map("emptyDir").get("sizeLimit"), resource(container, "memory")
        size, most = quantities.amount(given), quantities.amount(limit)
        if size is not None and most is not None and size > most:
            message = f"is {given}, more than the container's memory limit {limit}, which bounds it"
            yield volume.finding(message, "emptyDir", "sizeLimit", hint="leave it out, or raise the memory limit")
