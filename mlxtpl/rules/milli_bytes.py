"""Memory or storage is given in thousandths of a byte.

## Why   the suffix m is milli: 8m is 0.008 byte. Kubernetes takes it, and the container is killed for want of memory
         (OOMKilled) or does not start; most likely 8Mi was meant
## Bad   limits: {memory: 8192m}
## Good  limits: {memory: 8192Mi}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject
from mlxtpl.quantities import amount
from mlxtpl.rules.invalid_quantity import amounts

ID = "milli-bytes"
LEVEL = "warning"
_BYTES = ("memory", "storage", "ephemeral-storage", "sizeLimit")


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the suffixes of pkg/api/resource/quantity.go of kubernetes/apimachinery."""
    for part in amounts(subject):
        name, number = part.path[-1], amount(part.value)
        in_bytes = name in _BYTES or name.startswith("hugepages-")
        if in_bytes and number is not None and number > 0 and str(part.value).endswith("m"):
            message = f"is {part.value}, which is {number.normalize():f} of a byte"
            yield part.finding(message, hint=f"{part.value[:-1]}Mi is mebibytes, {part.value[:-1]}M megabytes")
