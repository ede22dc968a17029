"""The name of a pod's Service, <job>-worker-<index>, is longer than 63 characters.

## Why   the pod is created, its Service is not, and the rendezvous never resolves
## Bad   a PyTorchJob with a name of 60 characters
## Good  at most 54 characters for up to 10 Workers, 53 for 100, 52 for 1000; the platform recommends 50
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.errors import Problem
from mlxtpl.manifest import Manifest, object_id

ID = "derived-name-too-long"
LEVEL = "error"
_LONGEST = 63


def check(manifest: Manifest) -> Iterator[Problem]:
    """Source: pkg/controller.v1/common/service.go at v1.9.4, DNS-1035 label; for a Job the pod's label value."""
    for obj in manifest:
        metadata = obj.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        if not isinstance(name, str):
            continue
        longest = name if obj.get("kind") == "Job" else ""
        replicas = (obj.get("spec") or {}).get("pytorchReplicaSpecs") if obj.get("kind") == "PyTorchJob" else None
        for kind, spec in (replicas or {}).items():
            count = (spec or {}).get("replicas", 1)
            last = f"{name}-{kind.lower()}-{max(0, count - 1) if isinstance(count, int) else 0}"
            longest = max(longest, last, key=len)
        if len(longest) > _LONGEST:
            message = f"makes the name {longest} of {len(longest)} characters; {_LONGEST} are allowed"
            yield Problem(message, f"{object_id(obj)}: metadata.name", hint="the platform recommends at most 50")
