"""The name of a job is longer than 50 characters.

## Why   it is the prefix of the names of pods and services; the platform recommends at most 50
## Bad   a name of 53 characters
## Good  mnist-resnet50-lr1e-4
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl import kinds
from mlxtpl.errors import Problem
from mlxtpl.manifest import Manifest, object_id

ID = "long-name"
LEVEL = "warning"
_RECOMMENDED = 50


def check(manifest: Manifest) -> Iterator[Problem]:
    """Source: the platform's guide, section on the length of PyTorchJob names."""
    for obj in manifest:
        metadata = obj.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        if isinstance(name, str) and len(name) > _RECOMMENDED and kinds.pod_templates(obj):
            message = f"has {len(name)} characters; the platform recommends at most {_RECOMMENDED}"
            yield Problem(message, f"{object_id(obj)}: metadata.name")
