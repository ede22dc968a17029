"""The training container uses the node's own /dev/shm.

## Why   all pods of the node share it: one job's files fill it or meet another's, nothing counts against the memory
         limit, and a namespace with the baseline PodSecurity refuses the pod
## Bad   volumes: [{name: shm, hostPath: {path: /dev/shm}}], or hostIPC: true
## Good  volumes: [{name: shm, emptyDir: {medium: Memory}}]
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl import shared_memory
from mlxtpl.manifest import TRAINING, Finding, Subject

ID = "host-shared-memory"
LEVEL = "warning"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: PodSecurity standards, baseline: hostPath volumes and host namespaces are not allowed."""
    hint = "emptyDir: {medium: Memory}; sharedMemory: true in a values file"
    for template, container in subject.training():
        volume = shared_memory.mounted(template, container)
        if volume is not None and volume.map("hostPath"):
            yield volume.finding("must not be the node's own /dev/shm, which all its pods share", "hostPath", hint=hint)
    for template in subject.templates(*TRAINING):
        if template.map("spec").get("hostIPC") is True:
            yield template.finding("shares the node's /dev/shm with all its pods", "spec", "hostIPC", hint=hint)
