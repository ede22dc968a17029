"""A field has a value that Kubernetes does not know.

## Why   the API server refuses it: imagePullPolicy: Unsupported value: "always": supported values: "Always",
         "IfNotPresent", "Never"; for a PyTorchJob only the operator's events tell it. With an unknown medium of an
         emptyDir the pod is created and never starts (unknown storage medium)
## Bad   imagePullPolicy: always
## Good  imagePullPolicy: Always
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from mlxtpl.manifest import Edit, Finding, Part, Subject

ID = "unknown-value"
LEVEL = "error"
_ACCESS = "ReadWriteOnce ReadOnlyMany ReadWriteMany ReadWriteOncePod"
# A path, with * for each item of a list → the values. In the spec of a pod:
_POD = {
    "dnsPolicy": "ClusterFirst ClusterFirstWithHostNet Default None",
    "preemptionPolicy": "PreemptLowerPriority Never",
    "containers.*.imagePullPolicy": "Always IfNotPresent Never",
    "initContainers.*.imagePullPolicy": "Always IfNotPresent Never",
    "containers.*.ports.*.protocol": "TCP UDP SCTP",
    "initContainers.*.ports.*.protocol": "TCP UDP SCTP",
    "containers.*.terminationMessagePolicy": "File FallbackToLogsOnError",
    "tolerations.*.operator": "Exists Equal Lt Gt",
    "tolerations.*.effect": "NoSchedule PreferNoSchedule NoExecute",
    "topologySpreadConstraints.*.whenUnsatisfiable": "DoNotSchedule ScheduleAnyway",
    "volumes.*.emptyDir.medium": "Memory HugePages",
    "volumes.*.hostPath.type": "DirectoryOrCreate Directory FileOrCreate File Socket CharDevice BlockDevice",
    "volumes.*.ephemeral.volumeClaimTemplate.spec.accessModes.*": _ACCESS,
}
# In the spec of a Job:
_JOB = {
    "completionMode": "NonIndexed Indexed",
    "podReplacementPolicy": "TerminatingOrFailed Failed",
    "podFailurePolicy.rules.*.action": "FailJob FailIndex Ignore Count",
    "podFailurePolicy.rules.*.onExitCodes.operator": "In NotIn",
}
_RESTART = {"restartPolicy": "Always OnFailure Never"}


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/apis/core/validation and pkg/apis/batch/validation; pkg/volume/emptydir for the medium."""
    for part in subject.parts("CronJob"):
        yield from _unknown(part.at("spec"), {"concurrencyPolicy": "Allow Forbid Replace"})
    for part in subject.parts("PersistentVolumeClaim"):
        yield from _unknown(part.at("spec"), {"accessModes.*": _ACCESS})
    for job in subject.jobs():
        yield from _unknown(job, _JOB)
    for template in subject.templates():
        # Of a Job, job-restart-policy tells; in a PyTorchJob the operator overwrites it.
        own = {} if template.obj["kind"] in ("Job", "CronJob", "PyTorchJob") else _RESTART
        spec = template.at("spec")
        yield from _unknown(spec, own)
        yield from _unknown(spec, _POD)


def _unknown(spec: Part, table: dict[str, str]) -> Iterator[Finding]:
    for path, words in table.items():
        steps, values = _split(path, words)
        for part in _fields(spec, steps):
            value = part.value
            # An empty text stands for the default.
            if not isinstance(value, str) or value in ("", *values) or value.startswith("HugePages-"):
                continue
            right = next((each for each in values if each.lower() == value.lower()), None)
            edits = (Edit("set", part.path, right),) if right else ()
            yield part.finding(f'must be one of {", ".join(values)}, found "{value}"', edits=edits)


@lru_cache(None)
def _split(path: str, words: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(path.split(".")), tuple(words.split())


def _fields(part: Part, steps: tuple[str, ...]) -> list[Part]:
    for number, step in enumerate(steps):
        if part.value is None:
            return []
        if step == "*":
            length = len(part.value) if isinstance(part.value, list) else 0
            return [found for each in range(length) for found in _fields(part.at(each), steps[number + 1 :])]
        part = part.at(step)
    return [part]
