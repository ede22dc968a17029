"""InfiniBand is asked for, and NCCL may do without it.

## Why   when NCCL finds no InfiniBand device it says "NET/IB : No device found." at level INFO and goes on over TCP; with
         NCCL_NET=IB it fails instead, which costs less than a slow run
## Bad   infiniband: true
## Good  infiniband: true with env: {NCCL_NET: IB}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl import infiniband
from mlxtpl.manifest import Finding, Subject

ID = "infiniband-not-required"
LEVEL = "info"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: NVIDIA/nccl docs/userguide/source/env.rst, NCCL_NET; strings of libnccl 2.32.3."""
    for template, container in subject.training("PyTorchJob"):
        why = infiniband.asks_for_infiniband(template, container)
        several = infiniband.pods(template) > 1
        if why and several and not container.env("NCCL_NET") and not container.at("envFrom").value:
            message = "is not set: without an InfiniBand device NCCL goes on over TCP in silence"
            yield container.finding(message, "env", "NCCL_NET", hint="NCCL_NET=IB makes it fail instead")
