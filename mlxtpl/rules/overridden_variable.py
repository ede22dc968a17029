"""The env of a container sets a variable that the operator or torchrun sets again.

## Why   the operator appends its own env, and the last of a name counts; torchrun sets RANK, WORLD_SIZE and the like
         anew for each process. What the manifest says has no effect
## Bad   env: [{name: PET_NNODES, value: "4"}], or {name: WORLD_SIZE, value: "16"} beside torchrun
## Good  elasticPolicy: {minReplicas: 4, maxReplicas: 4}, or torchrun's flag, which counts
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlxtpl.manifest import TRAINING, Finding, Part, Subject, launch
from mlxtpl.torchrun import launches
from mlxtpl.training_operator import injected

ID = "overridden-variable"
LEVEL = "warning"
_PER_PROCESS = ("RANK", "LOCAL_RANK", "GROUP_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/controller.v1/pytorch/envvar.go at v1.9.4; torch/distributed/elastic/agent/server."""
    for container in subject.containers(*TRAINING):
        operators, torchrun = injected(container), bool(launches(container))
        for entry in container.items("env"):
            name = entry.text("name")
            field = "valueFrom" if "valueFrom" in entry.value else "value"
            if name == "PYTHONUNBUFFERED" and str(entry.value.get("value")) == "1":
                continue
            if name in operators:
                yield entry.finding("has no effect: the operator sets it, too, and its value counts", field)
            elif torchrun and name in _PER_PROCESS and not _is_used(container, name):
                yield entry.finding("has no effect: torchrun sets it anew for each process", field)


def _is_used(container: Part, name: str) -> bool:
    """Whether the command hands it on, as in --master-addr=$MASTER_ADDR."""
    return re.search(rf"\$[({{]?{name}\b", " ".join(launch(container))) is not None
