"""The name of a job is longer than 50 characters.

## Why   it is the prefix of the names of pods and services; the platform recommends at most 50
## Bad   a name of 53 characters
## Good  mnist-resnet50-lr1e-4
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl import kinds
from mlxtpl.manifest import Finding, Subject

ID = "long-name"
LEVEL = "warning"
_RECOMMENDED = 50


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the platform's guide, section on the length of PyTorchJob names."""
    for part in subject.parts():
        name = part.text("metadata", "name")
        if len(name) > _RECOMMENDED and kinds.pod_templates(part.obj):
            message = f"has {len(name)} characters; the platform recommends at most {_RECOMMENDED}"
            yield part.finding(message, "metadata", "name")
