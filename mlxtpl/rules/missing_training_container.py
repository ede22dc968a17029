"""A replica of a PyTorchJob has no container named pytorch, or a container has no image.

## Why   the operator's webhook refuses it: must have at least one container with name pytorch
## Bad   containers: [{name: main, image: …}]
## Good  containers: [{name: pytorch, image: …}]
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl import kinds
from mlxtpl.errors import Problem
from mlxtpl.manifest import Manifest, object_id

ID = "missing-training-container"
LEVEL = "error"


def check(manifest: Manifest) -> Iterator[Problem]:
    """Look into each pod template (webhook: pkg/webhooks/pytorch/pytorchjob_webhook.go, v1.9.4)."""
    for obj in manifest:
        for path, template in kinds.pod_templates(obj):
            containers = [c for c in (template.get("spec") or {}).get("containers") or [] if isinstance(c, dict)]
            where = f"{object_id(obj)}: {'.'.join((*path, 'spec', 'containers'))}"
            if not containers:
                yield Problem("must have a container, found none", where)
            elif obj.get("kind") == "PyTorchJob" and all(c.get("name") != "pytorch" for c in containers):
                names = ", ".join(str(c.get("name")) for c in containers)
                yield Problem(
                    f"must have a container named pytorch, found {names}", where, hint="rename the training container"
                )
            for container in containers:
                if not container.get("image"):
                    yield Problem("must have an image", f"{where}[{container.get('name')}]")
