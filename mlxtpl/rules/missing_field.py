"""A field that Kubernetes requires is not there, or is null.

## Why   the API server refuses the object: spec.template.spec.volumes[0].nfs.server: Required value
## Bad   nfs: {path: /data}
## Good  nfs: {server: nfs.example.com, path: /data}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject

ID = "missing-field"
LEVEL = "error"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the OpenAPI schemas of Kubernetes 1.25 to 1.37; the types of kubeflow/trainer at v1.9.4."""
    return (each.finding for each in subject.faults if each.rule == ID)
