"""A number is out of its range: less than 0, or no port.

## Why   the API server refuses it: spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0; must be
         between 1 and 65535, inclusive. In the runPolicy and elasticPolicy of a PyTorchJob nobody refuses it, and the
         job misbehaves; a negative terminationGracePeriodSeconds is taken for 1
## Bad   backoffLimit: -1
## Good  backoffLimit: 0
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Part, Subject

ID = "negative-number"
LEVEL = "error"
_Range = tuple[int, int | None]
_FROM_0: _Range = (0, None)
_FROM_1: _Range = (1, None)
_PORT: _Range = (1, 65535)
_CRON_JOB = ("startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit")
_JOB = (
    "parallelism",
    "completions",
    "backoffLimit",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
    "activeDeadlineSeconds",
    "ttlSecondsAfterFinished",
)
_RUN_POLICY = ("backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished")
_POD = {"terminationGracePeriodSeconds": _FROM_0, "activeDeadlineSeconds": _FROM_1}
# minReplicas and maxReplicas are told by elastic-range.
_ELASTIC = {"maxRestarts": _FROM_0, "rdzvPort": _PORT}


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/apis/batch/validation and pkg/apis/core/validation; elastic.go and job.go of the operator."""
    for part in subject.parts("CronJob"):
        yield from _outside(part.at("spec"), dict.fromkeys(_CRON_JOB, _FROM_0))
    for job in subject.jobs():
        yield from _outside(job, dict.fromkeys(_JOB, _FROM_0))
    for part in subject.parts("PyTorchJob"):
        yield from _outside(part.at("spec", "runPolicy"), dict.fromkeys(_RUN_POLICY, _FROM_0))
        yield from _outside(part.at("spec", "elasticPolicy"), _ELASTIC)
    for template in subject.templates():
        yield from _outside(template.at("spec"), _POD)
    for container in subject.containers():
        for port in container.items("ports"):
            yield from _outside(port, {"containerPort": _PORT})


def _outside(part: Part, table: dict[str, _Range]) -> Iterator[Finding]:
    for name, (low, high) in table.items():
        number = part.integer(name)
        if number is not None and (number < low or (high is not None and number > high)):
            wanted = f"at least {low}" if high is None else f"from {low} to {high}"
            yield part.finding(f"must be {wanted}, found {number}", name)
