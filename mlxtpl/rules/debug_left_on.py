"""Debugging is left on.

## Why   NCCL_DEBUG=INFO fills the logs of every rank; TORCH_DISTRIBUTED_DEBUG=DETAIL compares every collective and
         CUDA_LAUNCH_BLOCKING=1 waits for every kernel: the training is slower. Good while you look for something
## Bad   env: [{name: TORCH_DISTRIBUTED_DEBUG, value: DETAIL}] in a production run
## Good  env: [{name: NCCL_DEBUG, value: WARN}]
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject

ID = "debug-left-on"
LEVEL = "info"
_DEBUGGING = {
    "NCCL_DEBUG": ("INFO", "TRACE"),
    "TORCH_DISTRIBUTED_DEBUG": ("INFO", "DETAIL"),
    "TORCH_CPP_LOG_LEVEL": ("INFO", "0"),
    "CUDA_LAUNCH_BLOCKING": ("1",),
}


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the platform's guide, "PytorchJob 디버깅"; pytorch docs/source/distributed.md."""
    for _, container in subject.training():
        found = [
            entry
            for entry in container.items("env")
            if str(entry.value.get("value")).upper() in _DEBUGGING.get(entry.text("name"), ())
        ]
        if found:
            names = ", ".join(f"{each.text('name')}={each.value['value']}" for each in found)
            yield found[0].finding(f"is for debugging: {names}", "value", hint="turn it off for long runs")
