"""How Kubernetes' Go parser types plain scalars and map keys: sigs.k8s.io/yaml on go-yaml v2.

Measured with kubectl 1.32 and 1.37; tests/test_yamlio.py asks kubectl again.
"""

from __future__ import annotations

import math
import re
import struct
from typing import Any

_BOOLS = dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"), True) | dict.fromkeys(
    ("n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"), False
)
NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_LOOSE_UNDERSCORE = re.compile("(?<![0-9])_|_(?![0-9])")
_SIGNED_BINARY = re.compile("0b([-+][01]+)")
_DOTTED = {f"{sign}.{word}": float(f"{sign}inf") for sign in ("", "+", "-") for word in ("inf", "Inf", "INF")} | {
    f".{word}": float("nan") for word in ("nan", "NaN", "NAN")
}
_PREFIXED = (
    (re.compile("0[xX][0-9a-fA-F]+"), 16, 2),
    (re.compile("0[bB][01]+"), 2, 2),
    (re.compile("0[oO][0-7]+"), 8, 2),
    (re.compile("0[0-7]+"), 8, 1),
    (re.compile("[0-9]+"), 10, 0),
)
# Not a range: `in` would count through it for a subclass of int.
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_NUMBER_STARTS = frozenset("+-.0123456789")


def go_scalar(text: str) -> str | int | float | bool | None:
    """What Kubernetes' Go parser makes of a plain scalar; an integer beyond 64 bits is a float there.

    >>> [go_scalar(t) for t in ("1e-4", "010", "on", "12:30", "0o17", "1_000", "~", "1.10", "y")]
    [0.0001, 8, True, '12:30', 15, 1000, None, 1.1, True]
    """
    if text in _BOOLS:
        return _BOOLS[text]
    if text in NULLS:
        return None
    if text[0] not in _NUMBER_STARTS or not text.isascii():
        return text
    if text in _DOTTED:
        return _DOTTED[text]
    number = go_integer(text)
    if number is not None:
        return number if number <= _INT64_MAX else float(number)
    digits = text.replace("_", "")
    # After a dot, an underscore has to stand between digits.
    if not _FLOAT.fullmatch(digits) or (text[0] == "." and _LOOSE_UNDERSCORE.search(text)):
        return text
    value = float(digits)
    if math.isinf(value):
        return text
    return int(value) if value.is_integer() and _INT64_MIN <= int(value) <= _INT64_MAX else value


def go_integer(text: str) -> int | None:
    """The integer that a plain scalar spells for Go's parser: sign, prefix, underscores; None when it is none.

    None too for what does not fit 64 bits (without a sign: 64 unsigned ones): a decimal number is a float then, a
    prefixed one text.
    """
    if text[:1] not in _NUMBER_STARTS:
        return None
    plain = text.replace("_", "")
    signed = plain[:1] in ("+", "-")
    digits = plain[1:] if signed else plain
    for pattern, base, skip in _PREFIXED:
        if pattern.fullmatch(digits):
            # Python refuses to convert thousands of digits.
            value = int(digits[skip:], base) if len(digits) < 200 else 2**64
            value = -value if plain[0] == "-" else value
            return value if -(2**63) <= value < (2**63 if signed else 2**64) else None
    # A quirk of go-yaml: it cuts the prefix off and parses what is left, sign and all.
    quirk = None if signed else _SIGNED_BINARY.fullmatch(digits)
    return int(quirk.group(1), 2) if quirk and len(digits) < 64 else None


def key_text(key: Any) -> str:
    """What Kubernetes' Go parser makes of a map key that is no string: its text.

    >>> [key_text(key) for key in (True, 8, 1.5, 1e21)]
    ['true', '8', '1.5', '1e+21']

    Raises:
        ValueError: null, a number that Go refuses as a key, or another type.
    """
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, int) and _INT64_MIN <= key <= _INT64_MAX:
        return int.__repr__(key)
    if isinstance(key, float):
        return _float_key(key)
    shown = (
        "null" if key is None else "an integer beyond 64 bits" if isinstance(key, int) else f"a {type(key).__name__}"
    )
    raise ValueError(f"{shown} cannot be a key")


def _float_key(key: float) -> str:
    # Go writes such keys as the nearest 32-bit float, with as few digits as tell it from its neighbours.
    try:
        packed = struct.pack("<f", key)
    except OverflowError:
        packed = b""
    if not packed or not math.isfinite(key):
        raise ValueError(f"{key!r} cannot be a key")
    (rounded,) = struct.unpack("<f", packed)
    precision = next(p for p in range(9) if struct.pack("<f", float(f"{rounded:.{p}e}")) == packed)
    text = f"{rounded:.{precision}e}"
    exponent = int(text.partition("e")[2])
    return f"{rounded:.{max(0, precision - exponent)}f}" if -4 <= exponent < 6 else text
