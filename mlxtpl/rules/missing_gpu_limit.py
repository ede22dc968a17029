"""The training container of a PyTorchJob has no GPU.

## Why   GPUs come with a limit of nvidia.com/gpu alone: without it the container sees none ("Found no NVIDIA driver on your
         system") or, on some runtimes, GPUs of others
## Bad   a PyTorchJob without limits, such as the first example of the platform's guide
## Good  resources: {limits: {nvidia.com/gpu: "8"}}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject

ID = "missing-gpu-limit"
LEVEL = "warning"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: Kubernetes, "Schedule GPUs"; a PyTorchJob on CPUs (gloo) is rare, hence a warning."""
    for _, container in subject.training("PyTorchJob"):
        limits = container.map("resources", "limits")
        if not any("gpu" in name.lower() or name.startswith("nvidia.com/") for name in limits):
            message = "must have a limit of GPUs, or the container gets none"
            hint = "resources: {gpus: 8} in a values file"
            yield container.finding(message, "resources", "limits", "nvidia.com/gpu", hint=hint)
