"""An object is of a kind that mlxtpl does not know.

## Why   neither its fields nor what it means were checked
## Bad   kind: RayJob, kind: TrainJob
## Good  kind: Job, kind: PyTorchJob, and Kubernetes' own kinds, whose fields are checked
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject

ID = "unknown-kind"
LEVEL = "info"


def check(subject: Subject) -> Iterator[Finding]:
    """Whoever asked the schema knows which kinds it has."""
    return (each.finding for each in subject.faults if each.rule == ID)
