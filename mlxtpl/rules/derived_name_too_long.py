"""The name of a pod's Service, <job>-worker-<index>, is longer than 63 characters.

## Why   the pod is created, its Service is not (event FailedCreateService: must be no more than 63 characters), and the
         rendezvous never resolves. The highest index counts: of maxReplicas, where an elasticPolicy lets Workers scale
         up. The name of a Job becomes a label of its pods, which has the same limit
## Bad   a PyTorchJob with a name of 60 characters
## Good  at most 54 characters for up to 10 Workers, 53 for 100, 52 for 1000; the platform recommends 50
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Part, Subject
from mlxtpl.training_operator import node_range, workers

ID = "derived-name-too-long"
LEVEL = "error"
_LONGEST = 63


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/controller.v1/common/service.go at v1.9.4, DNS-1035 label; for a Job the pod's label value."""
    for part in subject.parts("Job", "PyTorchJob"):
        name = part.text("metadata", "name")
        longest = name if part.obj["kind"] == "Job" else max(_services(part, name), key=len, default="")
        if len(longest) > _LONGEST:
            message = f"makes the name {longest} of {len(longest)} characters; {_LONGEST} are allowed"
            yield part.finding(message, "metadata", "name", hint="the platform recommends at most 50")


def _services(part: Part, name: str) -> list[str]:
    """The Service of the Master, and that of the last Worker there may be."""
    _, most = node_range(part) or (1, 1)
    last = {"Master": 0, "Worker": max(most, workers(part) or 1, 1) - 1}
    replicas = part.map("spec", "pytorchReplicaSpecs")
    return [f"{name}-{each.lower()}-{last[each]}" for each in replicas if each in last]
