"""A container requests more of a resource than its limit allows.

## Why   the API server refuses the pod, and for a PyTorchJob only the operator's events tell it
## Bad   requests: {cpu: 16}, limits: {cpu: 8}
## Good  requests: {cpu: 4}, limits: {cpu: 8}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from mlxtpl.errors import Problem
from mlxtpl.manifest import Manifest, object_id, training_containers

ID = "request-over-limit"
LEVEL = "error"
_QUANTITY = re.compile(r"([0-9]*\.?[0-9]+|[0-9]+\.)(n|u|m|k|[MGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,3})?")
_POWERS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


def check(manifest: Manifest) -> Iterator[Problem]:
    """Source: validation of ResourceRequirements, pkg/apis/core/validation, Kubernetes v1.32."""
    for obj in manifest:
        for path, container in training_containers(obj):
            resources = container.get("resources") or {}
            limits = resources.get("limits") or {}
            for name, wanted in (resources.get("requests") or {}).items():
                more, most = _amount(wanted), _amount(limits.get(name))
                if more is not None and most is not None and more > most:
                    where = f"{object_id(obj)}: {path}.resources.requests"
                    yield Problem(f"{name} is {wanted}, more than the limit {limits[name]}", where)


def _amount(quantity: Any) -> Decimal | None:
    match = _QUANTITY.fullmatch(str(quantity))
    if match is None:
        return None
    number, suffix = Decimal(match[1]), match[2] or ""
    if suffix.endswith("i"):
        return number * Decimal(1024) ** ("KMGTPE".index(suffix[0]) + 1)
    if suffix[:1] in ("e", "E") and len(suffix) > 1:
        return number.scaleb(int(suffix[1:]))
    return number.scaleb(_POWERS[suffix])
