"""InfiniBand is asked for, and a variable turns it off.

## Why   NCCL then speaks TCP over the pod network without a word: the job runs, many times slower
## Bad   annotations: {mlx.navercorp.com/zone: ai-infra} with env: [{name: NCCL_IB_DISABLE, value: "1"}]
## Good  the same without that variable
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl import infiniband
from mlxtpl.manifest import Finding, Subject

ID = "infiniband-disabled"
LEVEL = "warning"
_OFF = {"NCCL_IB_DISABLE": ("1",), "NCCL_NET": ("Socket", "socket", "SOCKET")}


def check(subject: Subject) -> Iterator[Finding]:
    """Source: NVIDIA/nccl docs/userguide/source/env.rst, NCCL_IB_DISABLE and NCCL_NET."""
    for template, container in subject.training("PyTorchJob"):
        why = infiniband.asks_for_infiniband(template, container)
        for name, values in _OFF.items() if why else ():
            entry = container.env(name)
            if entry is not None and str(entry.value.get("value")) in values:
                message = f"turns InfiniBand off, which {why} asks for: NCCL uses TCP instead"
                yield entry.finding(message, "value", hint="remove the variable, or do not ask for InfiniBand")
