"""A container mounts a volume that its pod does not have.

## Why   the API server refuses the pod: volumeMounts[0].name: Not found
## Bad   volumeMounts: [{name: data, mountPath: /data}] without such a volume
## Good  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl import kinds
from mlxtpl.errors import Problem
from mlxtpl.manifest import Manifest, object_id

ID = "undeclared-volume"
LEVEL = "error"


def check(manifest: Manifest) -> Iterator[Problem]:
    """Compare mounts with volumes in each pod template."""
    for obj in manifest:
        for path, template in kinds.pod_templates(obj):
            spec = template.get("spec") or {}
            volumes = {each.get("name") for each in spec.get("volumes") or [] if isinstance(each, dict)}
            for field in ("initContainers", "containers"):
                for container in spec.get(field) or []:
                    for mount in container.get("volumeMounts") or []:
                        if isinstance(mount, dict) and mount.get("name") not in volumes:
                            where = ".".join((*path, "spec", f"{field}[{container.get('name')}]", "volumeMounts"))
                            known = ", ".join(sorted(str(each) for each in volumes)) or "none"
                            message = f'names the volume "{mount.get("name")}", which the pod does not have'
                            yield Problem(message, f"{object_id(obj)}: {where}", notes=(("volumes", known),))
