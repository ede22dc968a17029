"""A training job names no namespace.

## Why   it goes to the one that kubectl happens to use; on the platform every project has its own, p-<project>
## Bad   metadata: {name: mnist}
## Good  metadata: {name: mnist, namespace: p-myproject}; project: myproject in a values file
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import TRAINING, Finding, Subject

ID = "missing-namespace"
LEVEL = "info"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the examples of the platform's guide."""
    for part in subject.parts(*TRAINING):
        if not part.map("metadata").get("namespace"):
            yield part.finding(
                "is not set: the job goes to the namespace of whoever applies it", "metadata", "namespace"
            )
