"""A finished job is never deleted.

## Why   the platform keeps a limited number of jobs in its list, and a finished one stays in it, with its pods, until
         somebody deletes it
## Bad   a Job without spec.ttlSecondsAfterFinished, a PyTorchJob without spec.runPolicy.ttlSecondsAfterFinished
## Good  ttlSecondsAfterFinished: 1814400 (three weeks, the guide's example)
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject

ID = "missing-ttl"
LEVEL = "warning"
_FIELD = "ttlSecondsAfterFinished"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the platform's guide, "Job 라이프 사이클" and "Run Policy". A CronJob keeps its last Jobs by itself."""
    for part in subject.parts("Job", "PyTorchJob"):
        steps = ("spec",) if part.obj["kind"] == "Job" else ("spec", "runPolicy")
        if part.map(*steps).get(_FIELD) is None:
            hint = "ttl: 3w in a values file; 1814400 seconds are three weeks"
            yield part.finding("must be set, or the finished job stays for ever", *steps, _FIELD, hint=hint)
