"""InfiniBand is asked for without the zone that has it.

## Why   the scheduler reads the zone from an annotation of the job itself (the operator hands it to the PodGroup, never to
         pods): without it the pods start anywhere, and NCCL falls back to TCP in silence
## Bad   IPC_LOCK on the container, and the zone in a nodeSelector or on the pod template alone
## Good  metadata: {annotations: {mlx.navercorp.com/zone: ai-infra}} on the PyTorchJob
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl import infiniband
from mlxtpl.manifest import Edit, Finding, Part, Subject

ID = "infiniband-without-zone"
LEVEL = "warning"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the platform's guide, "Infiniband 사용"; pkg/controller.v1/common/scheduling.go of the operator 1.9.4."""
    told = set()
    for template, container in subject.training("PyTorchJob"):
        whole = template._replace(path=(), value=template.obj)
        why = infiniband.asks_for_infiniband(template, container)
        if not why or whole.map("metadata", "annotations").get(infiniband.ZONE) or template.number in told:
            continue
        told.add(template.number)
        message = f"must name the zone: {why} asks for InfiniBand"
        if infiniband.ZONE in template.map("metadata", "annotations"):
            message += "; on the pod template the annotation has no effect"
        edits = _edits(whole, template)
        hint = "infiniband: {zone: …} in a values file; the platform lists its zones"
        yield whole.finding(message, "metadata", "annotations", infiniband.ZONE, hint=hint, edits=edits)


def _edits(whole: Part, template: Part) -> tuple[Edit, ...]:
    """The zone that the pods select is the one that is meant."""
    zone = template.map("spec", "nodeSelector").get(infiniband.ZONE)
    path = (*whole.path, "metadata", "annotations", infiniband.ZONE)
    return (Edit("set", path, zone),) if isinstance(zone, str) else ()
