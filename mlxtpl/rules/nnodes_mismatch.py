"""torchrun's --nnodes is another number than the job has pods.

## Why   the flag beats the operator's PET_NNODES. With a greater number all pods wait for nodes that never come, until
         the rendezvous times out; with a smaller one the job falls apart, or the surplus pods are not let in. A plain
         Job runs one pod at a time, so --nnodes 2 never starts there
## Bad   args: ["torchrun --nnodes 4 train.py"] in a PyTorchJob with two Workers
## Good  args: ["torchrun train.py"], which reads PET_NNODES
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlxtpl.manifest import Finding, Part, Subject
from mlxtpl.torchrun import flag_place, launches
from mlxtpl.training_operator import node_range, pods

ID = "nnodes-mismatch"
LEVEL = "error"
_RANGE = re.compile(r"([0-9]{1,6})(?::([0-9]{1,6}))?", re.ASCII)
_PEERS = ("rdzv-endpoint", "master-addr", "node-rank")
_HINT = "leave --nnodes out: torchrun reads PET_NNODES"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: torch/distributed/run.py; pkg/controller.v1/pytorch/envvar.go at v1.9.4."""
    for template, container in subject.training():
        options = launches(container)
        # With several, one of them may be for another case.
        match = _RANGE.fullmatch(options[0].get("nnodes", "")) if len(options) == 1 else None
        if match is not None:
            at, wanted = flag_place(container, "nnodes"), (int(match[1]), int(match[2] or match[1]))
            if container.obj["kind"] == "PyTorchJob":
                yield from _pytorchjob(container._replace(path=(), value=container.obj), at, match, wanted)
            elif wanted[0] > _parallelism(template) > 0 and not _has_peers(container, options[0]):
                message = f"waits for {wanted[0]} nodes, but {_parallelism(template)} pod runs at a time"
                yield at.finding(message, hint="several nodes are a PyTorchJob: distributed.nodes in a values file")


def _pytorchjob(job: Part, at: Part, match: re.Match[str], wanted: tuple[int, int]) -> Iterator[Finding]:
    have, policy = pods(job), job.map("spec", "elasticPolicy")
    if have is None or policy.get("metrics"):  # An autoscaler sets the number.
        return
    if not wanted[0] <= have <= wanted[1]:
        message = f"must be {have}, as many as the job has pods, found {match[0]}"
        yield at.finding(message, hint=_HINT)
    elif match[2] and ("minReplicas" in policy or "maxReplicas" in policy) and node_range(job) not in (None, wanted):
        low, high = node_range(job) or wanted
        yield at.finding(f"beats elasticPolicy, which says {low}:{high}, found {match[0]}", hint=_HINT)


def _parallelism(template: Part) -> int:
    spec = template._replace(path=(), value=template.obj).at(*template.path[:-1])
    count = spec.integer("parallelism")
    return 1 if count is None else count


def _has_peers(container: Part, options: dict[str, str]) -> bool:
    """Whether the nodes may be pods of other Jobs."""
    named = [each.text("name") for each in container.items("env")]
    wired = container.at("envFrom").value or any(name.startswith("PET_") for name in named)
    return bool(wired) or any(name in options for name in _PEERS)
