"""Workers with an elasticPolicy start a program that does not read its rendezvous.

## Why   with an elasticPolicy the operator injects PET_* variables only, which torchrun reads: a plain python finds no
         RANK and no MASTER_ADDR, so every pod trains alone, or fails at init_process_group
## Bad   command: [bash, -c, python train.py] in a Worker of a PyTorchJob with an elasticPolicy
## Good  command: [bash, -c, torchrun train.py]
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlxtpl.manifest import Finding, Part, Subject, launch
from mlxtpl.training_operator import node_range, workers

ID = "workers-without-launcher"
LEVEL = "warning"
# A script or an image's entrypoint may start torchrun itself; what is judged is text that plainly starts python.
_LAUNCHERS = ("torchrun", "torch.distributed", "PET_", "--rdzv", "composer", "elastic")
_NEED_A_MASTER = ("accelerate", "deepspeed")


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the table of injected variables, pkg/controller.v1/pytorch/envvar.go and elastic.go at v1.9.4."""
    for _, container in subject.training("PyTorchJob"):
        text = " ".join(launch(container))
        job = container._replace(path=(), value=container.obj)
        if not _meet_by_rendezvous(job) or container.env("MASTER_ADDR") or any(each in text for each in _LAUNCHERS):
            continue
        needy = next((each for each in _NEED_A_MASTER if each in re.split(r"[\s/;&|]+", text)), None)
        if needy:
            message = f"{needy} does not read the rendezvous of Workers without a Master"
            yield container.finding(message, "command", hint="set distributed.master: true")
        elif "python" in text:
            message = f"starts python without torchrun, so that Workers do not find each other: {text[:60]}"
            hint = "start it with torchrun; `command: [python, train.py]` in a values file becomes that by itself"
            yield container.finding(message, "command", hint=hint)


def _meet_by_rendezvous(job: Part) -> bool:
    """Whether there is an elasticPolicy, no Master, and somebody to meet."""
    _, most = node_range(job) or (0, 0)
    return "Master" not in job.map("spec", "pytorchReplicaSpecs") and most > 0 and max(most, workers(job) or 1) > 1
