"""The pods of a Job have no restartPolicy, or one that a Job cannot have.

## Why   a pod is restarted Always by default, which a Job is refused with: spec.template.spec.restartPolicy: Required
         value: valid values: "OnFailure", "Never"
## Bad   template: {spec: {containers: …}}
## Good  template: {spec: {restartPolicy: Never, containers: …}}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Edit, Finding, Subject

ID = "job-restart-policy"
LEVEL = "error"
_VALUES = ("OnFailure", "Never")


def check(subject: Subject) -> Iterator[Finding]:
    """Source: validateJobSpec in pkg/apis/batch/validation/validation.go, Kubernetes v1.31."""
    for job in subject.jobs():
        spec = job.at("template", "spec")
        policy = spec.map().get("restartPolicy")
        if not isinstance(spec.value, dict) or policy in _VALUES or not isinstance(policy, (str, type(None))):
            continue
        right = next((each for each in _VALUES if each.lower() == (policy or "").lower()), "")
        values = 'valid values: "OnFailure", "Never"'
        yield spec.finding(
            f'must be one of the {values}; found "{policy}"' if policy else f"must be set: {values}",
            "restartPolicy",
            hint="" if right else "Never keeps the pod, and so the logs, of each try",
            edits=(Edit("set", (*spec.path, "restartPolicy"), right),) if right else (),
        )
