"""A field has a value of another type than Kubernetes wants: a number where text is due, text where a number is.

## Why   the API server refuses the object: cannot unmarshal number into Go struct field
         EnvVar.spec.template.spec.containers.env.value of type string. YAML makes numbers and booleans of 8, 1e-4, on
         and y: in env, args, labels and annotations they need quotes
## Bad   args: [--lr, 1e-4]
## Good  args: [--lr, "1e-4"]
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject

ID = "wrong-type"
LEVEL = "error"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the OpenAPI schemas of Kubernetes 1.25 to 1.37; the types of kubeflow/trainer at v1.9.4."""
    return (each.finding for each in subject.faults if each.rule == ID)
