"""A variable of NCCL or PyTorch has a value that it does not know.

## Why   NCCL ignores it without a word; PyTorch raises for TORCH_DISTRIBUTED_DEBUG when the training starts
## Bad   {name: NCCL_DEBUG, value: DEBUG}, {name: TORCH_DISTRIBUTED_DEBUG, value: TRACE}
## Good  {name: NCCL_DEBUG, value: INFO}, {name: TORCH_DISTRIBUTED_DEBUG, value: DETAIL}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import TRAINING, Finding, Subject

ID = "ignored-env-value"
LEVEL = "warning"
_BIT = "0 1"
_FLAG = "0 1 N NO F FALSE Y YES T TRUE"
_LEVELS = "LOC NVL NVB C2C PIX PXB P2C PXN PHB SYS 0 1 2 3 4 5"
# name → its values, in upper case: NCCL_DEBUG and its levels are read without regard to case.
_VALUES = {
    "NCCL_DEBUG": "VERSION WARN INFO TRACE ABORT",
    "NCCL_IB_DISABLE": _BIT,
    "NCCL_P2P_DISABLE": _BIT,
    "NCCL_SHM_DISABLE": _BIT,
    "NCCL_P2P_LEVEL": _LEVELS,
    "NCCL_NET_GDR_LEVEL": _LEVELS,
    "NCCL_CROSS_NIC": "0 1 2",
    "NCCL_NVLS_ENABLE": "0 1 2",
    "TORCH_DISTRIBUTED_DEBUG": "OFF INFO DETAIL",
    "TORCH_CPP_LOG_LEVEL": "INFO WARNING ERROR FATAL 0 1 2 3",
    "TORCH_NCCL_ASYNC_ERROR_HANDLING": "0 1 2 3",
    "TORCH_NCCL_BLOCKING_WAIT": _FLAG,
    "USE_LIBUV": _BIT,
}


def check(subject: Subject) -> Iterator[Finding]:
    """Source: NVIDIA/nccl docs/userguide/source/env.rst, src/debug.cc, src/graph/paths.cc; pytorch c10d/Utils.hpp."""
    for container in subject.containers(*TRAINING):
        for entry in container.items("env"):
            value, values = entry.value.get("value"), _VALUES.get(entry.text("name"), "").split()
            # A number or boolean is told as a wrong type.
            if values and isinstance(value, str) and value and "$(" not in value and value.upper() not in values:
                yield entry.finding(f'must be one of {", ".join(values)}, found "{value}"', "value")
