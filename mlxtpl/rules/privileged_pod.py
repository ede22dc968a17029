"""A training pod takes rights or places of the node.

## Why   a namespace with the baseline PodSecurity refuses the pod ("violates PodSecurity"), and with them a job can see or
         break what others run on the node. Training needs none of them but IPC_LOCK for InfiniBand
## Bad   securityContext: {privileged: true}, hostNetwork: true, volumes: [{name: d, hostPath: {path: /data}}]
## Good  capabilities: {add: [IPC_LOCK]}, a PersistentVolumeClaim
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import TRAINING, Finding, Subject

ID = "privileged-pod"
LEVEL = "warning"
# What the baseline PodSecurity allows, and IPC_LOCK.
_ALLOWED = frozenset(
    """AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT
    IPC_LOCK""".split()
)


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the PodSecurity standards of Kubernetes, baseline. hostIPC is told by host-shared-memory."""
    for template in subject.templates(*TRAINING):
        for field in ("hostNetwork", "hostPID"):
            if template.map("spec").get(field) is True:
                yield template.finding("shares the node's own with the pod", "spec", field)
        for volume in template.items("spec", "volumes"):
            if volume.map("hostPath") and volume.text("hostPath", "path").rstrip("/") != "/dev/shm":  # noqa: S108
                yield volume.finding("is a directory of the node, which differs from node to node", "hostPath")
    for container in subject.containers(*TRAINING):
        if container.map("securityContext").get("privileged") is True:
            yield container.finding("has all rights on the node", "securityContext", "privileged")
        for number, name in enumerate(container.words("securityContext", "capabilities", "add")):
            if name.removeprefix("CAP_") not in _ALLOWED:
                yield container.finding(f"adds {name}", "securityContext", "capabilities", "add", number)
