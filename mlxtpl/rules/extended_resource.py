"""GPUs, RDMA devices or another extended resource are asked for in a way that Kubernetes does not allow.

## Why   a device is given whole and never shared, so the API server refuses the pod: must be an integer; must be equal to
         nvidia.com/gpu limit of 8; Limit must be set for non overcommitable resources
## Bad   requests: {nvidia.com/gpu: 1} without such a limit, or limits: {nvidia.com/gpu: 0.5}
## Good  limits: {nvidia.com/gpu: 1}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Edit, Finding, Part, Subject
from mlxtpl.quantities import amount

ID = "extended-resource"
LEVEL = "error"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: ValidateContainerResourceRequirements in pkg/apis/core/validation, Kubernetes v1.32."""
    for container in subject.containers():
        limits, requests = container.at("resources", "limits"), container.at("resources", "requests")
        if not isinstance(limits.value, (dict, type(None))):
            continue
        for name in {**limits.map(), **requests.map()}:
            if "/" in name and "kubernetes.io/" not in name and not name.startswith("requests."):
                yield from _faults(limits.at(name), requests.at(name))


def _faults(limit: Part, request: Part) -> Iterator[Finding]:
    found = [(each, number) for each in (limit, request) if (number := amount(each.value)) is not None]
    for part, number in found:
        if number != number.to_integral_value():
            yield part.finding(f"must be a whole number, found {part.value}")
            return
    if len(found) == 2 and found[0][1] != found[1][1]:
        yield request.finding(f"must be equal to the limit {limit.value}, found {request.value}")
    elif found and found[0][0] is request and limit.value is None:
        edits = (Edit("set", limit.path, request.value),)
        yield request.finding("must have a limit of the same number", hint="a limit alone is enough", edits=edits)
