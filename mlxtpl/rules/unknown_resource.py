"""A container asks for a resource that there is not.

## Why   a name without a domain has to be one of Kubernetes' own: the API server refuses the pod (must be a standard resource
         type or fully qualified). A misspelt name of a GPU is taken, and the pod waits for a node that offers it
## Bad   limits: {gpu: 1}, limits: {cpus: 8}, limits: {nvidia.com/gpus: 1}
## Good  limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Edit, Finding, Subject

ID = "unknown-resource"
LEVEL = "error"
_OWN = ("cpu", "memory", "ephemeral-storage")
_MEANT = {
    "gpu": "nvidia.com/gpu",
    "gpus": "nvidia.com/gpu",
    "cpus": "cpu",
    "mem": "memory",
    "ram": "memory",
    "nvidia.com/gpus": "nvidia.com/gpu",
    "nvidia/gpu": "nvidia.com/gpu",
    "nvidia.com/gpu": "nvidia.com/gpu",
    "nvidia.com.gpu": "nvidia.com/gpu",
    "nvidia-gpu": "nvidia.com/gpu",
    "amd.com/gpus": "amd.com/gpu",
}


def check(subject: Subject) -> Iterator[Finding]:
    """Source: validateContainerResourceName in pkg/apis/core/validation; the names of the device plugins."""
    for container in subject.containers():
        for field in ("limits", "requests"):
            given = container.map("resources", field)
            for name in given:
                right = _MEANT.get(name.lower())
                own = name in _OWN or name.startswith("hugepages-")
                if own or name == right or ("/" in name and right is None):
                    continue
                edits = (Edit("rename", (*container.path, "resources", field, name), right),)
                hint = (
                    f"did you mean {right}?"
                    if right
                    else "one of cpu, memory, ephemeral-storage, or a name with a domain"
                )
                mend = edits if right and right not in given else ()
                yield container.finding("is no resource", "resources", field, name, key=True, hint=hint, edits=mend)
