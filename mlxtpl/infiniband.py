"""InfiniBand on the platform: what in a manifest asks for it, and the zone that it is in."""

from __future__ import annotations

from mlxtpl import training_operator
from mlxtpl.manifest import Part

ZONE = "mlx.navercorp.com/zone"


def asks_for_infiniband(template: Part, container: Part) -> str:
    """What asks for InfiniBand, in words; empty when nothing does.

    Source: the platform's guide, "Infiniband": a zone in the annotations of the object, and IPC_LOCK; NCCL's own
    variables say the same.
    """
    whole = template._replace(path=(), value=template.obj)
    if whole.map("metadata", "annotations").get(ZONE):
        return f"the annotation {ZONE}"
    if "IPC_LOCK" in container.words("securityContext", "capabilities", "add"):
        return "IPC_LOCK"
    for entry in container.items("env"):
        name, value = entry.text("name"), str(entry.value.get("value") or "")
        if name == "NCCL_NET" and value == "IB":
            return "NCCL_NET=IB"
        if name == "NCCL_IB_HCA" and value:
            return name
    return ""


def pods(template: Part) -> int:
    """How many pods of a job work together: those of a PyTorchJob, one for anything else."""
    if template.obj.get("kind") != "PyTorchJob":
        return 1
    whole = template._replace(path=(), value=template.obj)
    _, most = training_operator.node_range(whole) or (1, 1)
    return max(training_operator.pods(whole) or 1, most)
