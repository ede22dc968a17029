"""A field is none that Kubernetes knows there: it is misspelt, or belongs to another place.

## Why   kubectl refuses the object (strict decoding error: unknown field
         "spec.template.spec.containers[0].imagePullSecrets"); other clients drop the field, and what it should do
         never happens
## Bad   containers: [{name: main, image: …, imagePullSecrets: [{name: registry}]}]
## Good  imagePullSecrets: [{name: registry}] beside containers
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject

ID = "unknown-field"
LEVEL = "error"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the OpenAPI schemas of Kubernetes 1.25 to 1.37; the types of kubeflow/trainer at v1.9.4."""
    return (each.finding for each in subject.faults if each.rule == ID)
