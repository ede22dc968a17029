"""An Indexed Job lacks what it needs, or a Job that is not Indexed has what only an Indexed one may have.

## Why   the API server refuses it: spec.completions: Required value: when completion mode is Indexed;
         spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode
## Bad   completionMode: Indexed with parallelism: 4
## Good  completionMode: Indexed with parallelism: 4, completions: 4
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Part, Subject

ID = "indexed-job"
LEVEL = "error"
_MOST = 100_000


def check(subject: Subject) -> Iterator[Finding]:
    """Source: validateJobSpec in pkg/apis/batch/validation/validation.go, Kubernetes v1.31."""
    for job in subject.jobs():
        mode = job.map().get("completionMode")
        if mode == "Indexed":
            yield from _indexed(job)
        elif mode in (None, "NonIndexed"):
            for name in ("backoffLimitPerIndex", "maxFailedIndexes", "successPolicy"):
                if job.map().get(name) is not None:
                    message = "must not be set without completionMode Indexed"
                    yield job.finding(message, name, hint="completionMode: Indexed, with completions", key=True)


def _indexed(job: Part) -> Iterator[Finding]:
    completions, parallelism, failed = (job.integer(x) for x in ("completions", "parallelism", "maxFailedIndexes"))
    if job.map().get("completions") is None:
        yield job.finding("must be set when completionMode is Indexed", "completions")
    if parallelism is not None and parallelism > _MOST:
        yield job.finding(f"must be at most {_MOST} when completionMode is Indexed, found {parallelism}", "parallelism")
    if failed is not None and job.map().get("backoffLimitPerIndex") is None:
        yield job.finding("must be set when maxFailedIndexes is", "backoffLimitPerIndex")
    if failed is not None and failed > min(_MOST, _MOST if completions is None else completions):
        yield job.finding(f"must be at most completions, and {_MOST}, found {failed}", "maxFailedIndexes")
