"""An amount of a resource is no quantity, or is negative.

## Why   the API server refuses it: quantities must match the regular expression
         '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'; for 8K: unable to parse quantity's suffix; for -1: must be
         greater than or equal to 0
## Bad   limits: {memory: 8GiB}
## Good  limits: {memory: 8Gi}
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlxtpl.manifest import Edit, Finding, Part, Subject
from mlxtpl.quantities import amount

ID = "invalid-quantity"
LEVEL = "error"
_NEARLY = re.compile(r"([+-]?[0-9.]+)([kmgtpe]?)(i?)(?:b|bytes?)?", re.IGNORECASE)


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/api/resource/quantity.go of kubernetes/apimachinery; pkg/apis/core/validation."""
    for part in amounts(subject):
        number = amount(part.value)
        if number is None:
            right, hint = _right(str(part.value))
            edits = (Edit("set", part.path, right),) if right else ()
            yield part.finding(f'must be a quantity, found "{part.value}"', hint=hint, edits=edits)
        elif number < 0:
            yield part.finding(f"must be at least 0, found {part.value}")


def amounts(subject: Subject) -> Iterator[Part]:
    """Every field of an object that holds a quantity, whatever it holds; what is no text or number is left out."""
    for part in _places(subject):
        if isinstance(part.value, (str, int, float)) and not isinstance(part.value, bool):
            yield part


def _places(subject: Subject) -> Iterator[Part]:
    for container in subject.containers():
        yield from _resources(container)
    for template in subject.templates():
        for volume in template.items("spec", "volumes"):
            yield volume.at("emptyDir", "sizeLimit")
            yield from _resources(volume.at("ephemeral", "volumeClaimTemplate", "spec"))
    for claim in subject.parts("PersistentVolumeClaim"):
        yield from _resources(claim.at("spec"))
    for job in subject.parts("PyTorchJob"):
        resources = job.at("spec", "runPolicy", "schedulingPolicy", "minResources")
        yield from (resources.at(name) for name in resources.map())


def _resources(part: Part) -> Iterator[Part]:
    for field in ("limits", "requests"):
        yield from (part.at("resources", field, name) for name in part.map("resources", field))


def _right(text: str) -> tuple[str, str]:
    """(the one right spelling, a hint); the spelling is empty when it could have meant two things."""
    text = re.sub(r"\s", "", text)
    match = _NEARLY.fullmatch(text)
    number, letter = (match[1], match[2].upper()) if match else ("", "")
    right = text if match is None or not match[3] else f"{number}{letter}i"
    if amount(right) is not None:
        return right, f"write {right}"
    if amount(number) is None or not letter:
        return "", "a number and at most one suffix: 500m, 4, 8G, 8Gi"
    return "", f"write {number}{'k' if letter == 'K' else letter} (powers of 1000) or {number}{letter}i (of 1024)"
