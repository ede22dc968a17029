"""A job names two different GPU zones.

## Why   the pods select one zone and the InfiniBand annotation, or another replica, names a second: they wait for nodes
         that do not exist, or run apart
## Bad   annotations: {mlx.navercorp.com/zone: ai-infra} with nodeSelector: {mlx.navercorp.com/zone: ai-dev}
## Good  one zone in both places
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl import infiniband
from mlxtpl.manifest import Finding, Subject

ID = "zone-mismatch"
LEVEL = "warning"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the platform's guide, where both places hold the name of the same zone."""
    named: dict[int, str] = {}
    for template in subject.templates("PyTorchJob"):
        zone = template.map("spec", "nodeSelector").get(infiniband.ZONE)
        if not isinstance(zone, str):
            continue
        whole = template._replace(path=(), value=template.obj)
        first = named.setdefault(template.number, whole.text("metadata", "annotations", infiniband.ZONE) or zone)
        if zone != first:
            message = f'is "{zone}", but the job names the zone "{first}" elsewhere'
            yield template.finding(message, "spec", "nodeSelector", infiniband.ZONE)
