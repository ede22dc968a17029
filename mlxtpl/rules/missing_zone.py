"""The pods of a distributed job select no GPU zone.

## Why   pods in different zones are far from each other, or wait for GPUs that the project does not have there; the guide's
         PyTorchJob names its zone
## Bad   a PyTorchJob with two Workers and no nodeSelector
## Good  nodeSelector: {mlx.navercorp.com/zone: ai-infra}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl import infiniband
from mlxtpl.manifest import Finding, Part, Subject

ID = "missing-zone"
LEVEL = "warning"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the platform's guide, the PyTorchJob example."""
    for template in subject.templates("PyTorchJob"):
        selects = infiniband.ZONE in template.map("spec", "nodeSelector") or infiniband.ZONE in _affinity_keys(template)
        if infiniband.pods(template) > 1 and not selects:
            message = "must name the GPU zone of a job on several nodes"
            hint = "zone: … in a values file; the platform lists its zones"
            yield template.finding(message, "spec", "nodeSelector", infiniband.ZONE, hint=hint)


def _affinity_keys(template: Part) -> set[str]:
    node = template.at("spec", "affinity", "nodeAffinity")
    required = node.items("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
    preferred = [each.at("preference") for each in node.items("preferredDuringSchedulingIgnoredDuringExecution")]
    return {each.text("key") for term in (*required, *preferred) for each in term.items("matchExpressions")}
