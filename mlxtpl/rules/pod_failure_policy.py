"""A Job's podFailurePolicy does not go with the rest of the Job, or one of its rules is not allowed.

## Why   the API server refuses it: spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is
         supported when podFailurePolicy is specified; requires the backoffLimitPerIndex to be set; must not be 0 for the
         In operator
## Bad   podFailurePolicy: {rules: …} with restartPolicy: OnFailure
## Good  podFailurePolicy: {rules: …} with restartPolicy: Never
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Edit, Finding, Part, Subject

ID = "pod-failure-policy"
LEVEL = "error"
_MOST = 20


def check(subject: Subject) -> Iterator[Finding]:
    """Source: validatePodFailurePolicy in pkg/apis/batch/validation/validation.go, Kubernetes v1.31."""
    for job in subject.jobs():
        policy = job.at("podFailurePolicy")
        if not isinstance(policy.value, dict):
            continue
        rules = policy.value.get("rules")
        if isinstance(rules, list) and len(rules) > _MOST:
            yield policy.finding(f"must have at most {_MOST} rules, found {len(rules)}", "rules")
        for rule in policy.items("rules"):
            yield from _rule(job, rule)
        # What else a restartPolicy may not be, job-restart-policy tells.
        if job.text("template", "spec", "restartPolicy") == "OnFailure":
            message = "must be Never when there is a podFailurePolicy, found OnFailure"
            yield job.finding(message, "template", "spec", "restartPolicy")
        if job.text("podReplacementPolicy") == "TerminatingOrFailed":
            message = "must be Failed when there is a podFailurePolicy, found TerminatingOrFailed"
            edits = (Edit("set", (*job.path, "podReplacementPolicy"), "Failed"),)
            yield job.finding(message, "podReplacementPolicy", edits=edits)


def _rule(job: Part, rule: Part) -> Iterator[Finding]:
    if rule.text("action") == "FailIndex" and job.map().get("backoffLimitPerIndex") is None:
        yield rule.finding("must not be FailIndex without a backoffLimitPerIndex", "action")
    codes, conditions = rule.value.get("onExitCodes"), rule.value.get("onPodConditions")
    # A misspelt field is the schema's to tell.
    if (codes is None and not conditions and set(rule.value) <= {"action", "onExitCodes", "onPodConditions"}) or (
        codes is not None and conditions
    ):
        yield rule.finding("must have one of onExitCodes and onPodConditions")
    values = rule.at("onExitCodes", "values").value
    numbers = values if isinstance(values, list) and all(type(each) is int for each in values) else []
    if rule.text("onExitCodes", "operator") == "In" and 0 in numbers:
        yield rule.finding("must not be 0 with the operator In", "onExitCodes", "values", numbers.index(0))
    if numbers != sorted(set(numbers)):
        edits = (Edit("set", (*rule.path, "onExitCodes", "values"), sorted(set(numbers))),)
        yield rule.finding("must be in order, each code once", "onExitCodes", "values", edits=edits)
