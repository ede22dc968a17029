"""An object is of an apiVersion in which its kind does not exist, or the kind is misspelt.

## Why   kubectl refuses it: no matches for kind "CronJob" in version "batch/v1beta1"
## Bad   {apiVersion: batch/v1beta1, kind: CronJob}
## Good  {apiVersion: batch/v1, kind: CronJob}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject

ID = "removed-api-version"
LEVEL = "error"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the kinds in the OpenAPI schemas of Kubernetes 1.25 to 1.37; kubeflow/trainer at v1.9.4."""
    return (each.finding for each in subject.faults if each.rule == ID)
