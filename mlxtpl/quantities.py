"""Kubernetes' quantities: `4`, `500m`, `8Gi`, `1e3`."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Any

_QUANTITY = re.compile(r"([+-]?)([0-9]+\.?[0-9]*|\.[0-9]+)(n|u|m|k|[MGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,3})?")
_LONGEST = 100
_POWERS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


def amount(quantity: Any) -> Decimal | None:
    """What a quantity amounts to; None when it is none.

    Source: pkg/api/resource/quantity.go of kubernetes/apimachinery.

    >>> [str(amount(each)) for each in ("1.5Gi", "500m", 4, "1e3", "8GiB", True)]
    ['1610612736.0', '0.500', '4', '1E+3', 'None', 'None']
    """
    if isinstance(quantity, bool) or not isinstance(quantity, (str, int, float)):
        return None
    return _amount(str(quantity))


@lru_cache(256)
def _amount(text: str) -> Decimal | None:
    match = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        return None
    number, suffix = Decimal(match[1] + match[2]), match[3] or ""
    if suffix.endswith("i"):
        return number * Decimal(1024) ** ("KMGTPE".index(suffix[0]) + 1)
    if suffix[:1] in ("e", "E") and len(suffix) > 1:
        return number.scaleb(int(suffix[1:]))
    return number.scaleb(_POWERS[suffix])
