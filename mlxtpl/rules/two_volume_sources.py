"""A volume has more than one source.

## Why   the API server refuses the pod: volumes[0]: Forbidden: may not specify more than 1 volume type. It happens when a
         patch adds a source to a volume that has one: the old one has to be set to null
## Bad   volumes: [{name: data, emptyDir: {}, persistentVolumeClaim: {claimName: data}}]
## Good  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject

ID = "two-volume-sources"
LEVEL = "error"
_SOURCES = frozenset(
    """
    awsElasticBlockStore azureDisk azureFile cephfs cinder configMap csi downwardAPI emptyDir ephemeral fc flexVolume
    flocker gcePersistentDisk gitRepo glusterfs hostPath image iscsi nfs persistentVolumeClaim photonPersistentDisk
    portworxVolume projected quobyte rbd scaleIO secret storageos vsphereVolume
    """.split()
)


def check(subject: Subject) -> Iterator[Finding]:
    """Source: validateVolumeSource in pkg/apis/core/validation; VolumeSource of kubernetes/api v0.36."""
    for template in subject.templates():
        for volume in template.items("spec", "volumes"):
            found = [key for key, value in volume.value.items() if key in _SOURCES and value is not None]
            if len(found) > 1:
                yield volume.finding(f"must have one source, found {', '.join(found)}", found[1], key=True)
