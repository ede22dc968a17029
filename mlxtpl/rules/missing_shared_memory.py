"""The training container has no shared memory of its own at /dev/shm.

## Why   a container's /dev/shm has 64 MiB: DataLoader workers die with a bus error, and NCCL fails with "failed to
         extend /dev/shm/nccl-…"
## Bad   a PyTorchJob, or a Job with more than one GPU, without a volume at /dev/shm
## Good  volumeMounts: [{name: shared-memory, mountPath: /dev/shm}] and
         volumes: [{name: shared-memory, emptyDir: {medium: Memory}}]
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl import infiniband, shared_memory
from mlxtpl.manifest import Edit, Finding, Part, Subject, gpus

ID = "missing-shared-memory"
LEVEL = "warning"
_NAME = "shared-memory"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the platform's guide, "Shared Memory" and "Infiniband"; the default of the container runtimes."""
    for template, container in subject.training():
        needs = template.obj["kind"] == "PyTorchJob" or gpus(container) > 1
        mounts = [str(each.value.get("mountPath")).rstrip("/") for each in container.items("volumeMounts")]
        if needs and shared_memory.PATH not in mounts and template.map("spec").get("hostIPC") is not True:
            why = infiniband.asks_for_infiniband(template, container)
            message = f"must have a volume at {shared_memory.PATH}, where 64 MiB are all that there is"
            message += f"; {why} asks for InfiniBand, which needs it, too" if why else ""
            hint = "sharedMemory: true in a values file; emptyDir: {medium: Memory} in a manifest"
            yield container.finding(message, "volumeMounts", hint=hint, edits=_edits(template, container))


def _edits(template: Part, container: Part) -> tuple[Edit, ...]:
    if any(each.text("name") == _NAME for each in template.items("spec", "volumes")):
        return ()
    mount = {"name": _NAME, "mountPath": shared_memory.PATH}
    volume = {"name": _NAME, "emptyDir": {"medium": "Memory"}}
    return (
        Edit("append", (*container.path, "volumeMounts"), mount),
        Edit("append", (*template.path, "spec", "volumes"), volume),
    )
