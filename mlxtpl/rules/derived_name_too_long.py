"""The name of a pod's Service, <job>-worker-<index>, is longer than 63 characters.

## Why   the pod is created, its Service is not, and the rendezvous never resolves
## Bad   a PyTorchJob with a name of 60 characters
## Good  at most 54 characters for up to 10 Workers, 53 for 100, 52 for 1000; the platform recommends 50
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject

ID = "derived-name-too-long"
LEVEL = "error"
_LONGEST = 63


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/controller.v1/common/service.go at v1.9.4, DNS-1035 label; for a Job the pod's label value."""
    for part in subject.parts("Job", "PyTorchJob"):
        name = part.text("metadata", "name")
        longest = name if part.obj["kind"] == "Job" else ""
        for replica in part.items("spec", "pytorchReplicaSpecs"):
            count = replica.integer("replicas")
            last = f"{name}-{replica.path[-1].lower()}-{max(0, (1 if count is None else count) - 1)}"
            longest = max(longest, last, key=len)
        if len(longest) > _LONGEST:
            message = f"makes the name {longest} of {len(longest)} characters; {_LONGEST} are allowed"
            yield part.finding(message, "metadata", "name", hint="the platform recommends at most 50")
