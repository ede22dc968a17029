"""InfiniBand is asked for, and the training container may not lock memory.

## Why   InfiniBand locks the memory that it sends: without IPC_LOCK, NCCL stops with "Call to ibv_reg_mr failed with error
         Cannot allocate memory"
## Bad   annotations: {mlx.navercorp.com/zone: ai-infra} without a securityContext
## Good  securityContext: {capabilities: {add: [IPC_LOCK]}} on the container
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl import infiniband
from mlxtpl.manifest import Edit, Finding, Part, Subject

ID = "infiniband-without-ipc-lock"
LEVEL = "error"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the platform's guide, "Infiniband 사용"; libnccl's own message."""
    for template, container in subject.training("PyTorchJob"):
        why = infiniband.asks_for_infiniband(template, container)
        steps = ("securityContext", "capabilities", "add")
        added = {each.removeprefix("CAP_") for each in container.words(*steps)}
        may = added & {"IPC_LOCK", "ALL"} or container.map("securityContext").get("privileged") is True
        if why and infiniband.pods(template) > 1 and not may and not _goes_without(container, why):
            edits = (Edit("append", (*container.path, *steps), "IPC_LOCK"),)
            message = f"must have IPC_LOCK: {why} asks for InfiniBand"
            yield container.finding(message, *steps, hint="infiniband: true in a values file adds it", edits=edits)


def _goes_without(container: Part, why: str) -> bool:
    """Whether NCCL may run without InfiniBand: it is turned off, or NCCL_IB_HCA alone narrows the devices."""
    entries = (container.env(name) for name in ("NCCL_IB_DISABLE", "NCCL_NET"))
    disable, net = ("" if each is None else str(each.value.get("value")).lower() for each in entries)
    return disable == "1" or net == "socket" or (why == "NCCL_IB_HCA" and net != "ib")
