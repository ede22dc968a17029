"""The training container has no volume that outlives its pod.

## Why   what it writes, checkpoints too, is gone when the pod is deleted, evicted or made anew
## Bad   a job without volumes
## Good  volumes: [{name: data, persistentVolumeClaim: {claimName: mnist-data}}], mounted in the container
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject

ID = "no-checkpoint-volume"
LEVEL = "info"
_GONE = frozenset(("name", "emptyDir", "configMap", "secret", "projected", "downwardAPI", "ephemeral", "image"))


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the lifetimes of volumes, core/v1/types.go of Kubernetes."""
    for template, container in subject.training():
        lasting = {each.text("name") for each in template.items("spec", "volumes") if set(each.value) - _GONE}
        mounts = [each for each in container.items("volumeMounts") if each.text("name") in lasting]
        if not any(each.value.get("readOnly") is not True for each in mounts):
            message = "has no volume that outlives the pod: checkpoints are lost with it"
            yield container.finding(message, "volumeMounts", hint="volumes: {data: {pvc: …, mountPath: …}} in values")
