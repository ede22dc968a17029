"""A container mounts a volume that its pod does not have.

## Why   the API server refuses the pod: volumeMounts[0].name: Not found
## Bad   volumeMounts: [{name: data, mountPath: /data}] without such a volume
## Good  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject

ID = "undeclared-volume"
LEVEL = "error"


def check(subject: Subject) -> Iterator[Finding]:
    """Compare mounts with volumes in each pod template. Source: pkg/apis/core/validation, Kubernetes v1.32."""
    for template in subject.templates():
        volumes = {str(each.value.get("name")) for each in template.items("spec", "volumes")}
        for field in ("initContainers", "containers"):
            for container in template.items("spec", field):
                for mount in container.items("volumeMounts"):
                    if str(mount.value.get("name")) not in volumes:
                        message = f'names the volume "{mount.value.get("name")}", which the pod does not have'
                        known = ", ".join(sorted(volumes)) or "none"
                        yield mount.finding(message, "name", notes=(("volumes", known),))
