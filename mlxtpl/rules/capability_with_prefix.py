"""A capability is written with the prefix CAP_.

## Why   Kubernetes' names have none: the container runtime does not know CAP_IPC_LOCK, and the container does not start or
         may not lock memory
## Bad   capabilities: {add: [CAP_IPC_LOCK]}
## Good  capabilities: {add: [IPC_LOCK]}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Edit, Finding, Subject

ID = "capability-with-prefix"
LEVEL = "error"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: Capability in core/v1/types.go of Kubernetes, and the names of the PodSecurity standards."""
    for container in subject.containers():
        for field in ("add", "drop"):
            for number, name in enumerate(container.words("securityContext", "capabilities", field)):
                if name.startswith("CAP_"):
                    part = container.at("securityContext", "capabilities", field, number)
                    right = name.removeprefix("CAP_")
                    edits = (Edit("set", part.path, right),)
                    yield part.finding(f"must be {right}, without the prefix, found {name}", edits=edits)
