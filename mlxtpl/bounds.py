"""What a template may cost: counters and limits of one render, and the operations that could exceed them."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

from jinja2.runtime import Undefined
from markupsafe import Markup

OPEN, CLOSE = "\ue000", "\ue001"
HOLE = re.compile(f"{OPEN}([0-9]+){CLOSE}")
MAX_SOURCE = 128 * 1024  # compiling takes a thousand times as much memory
MAX_TEXT = 1024 * 1024  # one string that an expression builds
MAX_OUTPUT = 2 * 1024 * 1024
MAX_PLACED = 16 * 1024 * 1024  # the text of all values that one render places
MAX_WORK = 100_000_000  # items and characters that operations of one render go through
MAX_STEPS = 1_000_000  # loop rounds and macro calls of one render
MAX_RANGE = 10_000
_DIGITS = 30
MAX_NODES = 100_000  # of one value that is placed


TEXT_MESSAGE = "text that a macro or set block made can only be printed, not joined, compared or filtered"


class Render:
    """What one render counts and collects: placed values, steps left, and when asked the line of each placed value."""

    __slots__ = ("left", "lines", "steps", "text", "values")

    def __init__(self, *, trace: bool = False) -> None:
        self.values: list[Any] = []
        self.lines: list[tuple[str, int]] | None = [] if trace else None
        self.steps = MAX_STEPS
        self.text = MAX_PLACED
        self.left = MAX_WORK

    def step(self) -> None:
        """Count one loop round or call."""
        self.steps -= 1
        if self.steps < 0:
            raise TemplateFault(f"the template takes more than {MAX_STEPS} steps", "look for a loop in a loop")

    def work(self, amount: int) -> None:
        """Count what an operation goes through: the items of a list, the characters of a text."""
        self.left -= amount
        if self.left < 0:
            raise TemplateFault(f"the template goes through more than {MAX_WORK} items and characters")

    def spend(self, characters: int) -> None:
        """Count the text of a placed value."""
        self.text -= characters
        if self.text < 0:
            raise TemplateFault(f"the template places more than {MAX_PLACED // 1024} KiB of text")


RENDER: ContextVar[Render] = ContextVar("render")


class TemplateFault(Exception):
    """Something that a template may not do; the place is added by whoever renders."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.hint = hint
        self.hole: int | None = None  # which placed value it is about
        super().__init__(message)


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
}


def check_size(sign: str, left: Any, right: Any) -> None:
    """Refuse arithmetic whose result would be too large.

    Raises:
        TemplateFault: naming the limit.
    """
    if isinstance(left, str) and sign == "%":
        raise TemplateFault("% does not format text", "write the text with {{ … }} in it, or join with ~")
    if sign == "+":
        if isinstance(left, str) != isinstance(right, str):
            raise TemplateFault(f"+ cannot add {kind_of(left)} and {kind_of(right)}", "~ joins text and numbers")
        if isinstance(left, (str, list)) and isinstance(right, (str, list)):
            if len(left) + len(right) > MAX_TEXT:
                raise TemplateFault(f"the result is larger than {MAX_TEXT}")
            RENDER.get().work(len(left) + len(right))
    if sign == "*":
        for one, other in ((left, right), (right, left)):
            if isinstance(one, (str, list, tuple)) and isinstance(other, int):
                if len(one) * other > MAX_TEXT:
                    raise TemplateFault(f"the result is larger than {MAX_TEXT}")
                RENDER.get().work(max(0, len(one) * other))
        if isinstance(left, int) and isinstance(right, int) and left.bit_length() + right.bit_length() > 4096:
            raise TemplateFault("the number is too large")
    if sign == "**" and not (isinstance(right, int) and abs(right) <= 64 and abs(left) <= 2**32):
        raise TemplateFault("the number is too large")


def limited(items: Iterable[Any]) -> Iterator[Any]:
    """The items, each a step."""
    state = RENDER.get()
    for each in items:
        state.step()
        if isinstance(each, (str, list, tuple, dict)):
            state.work(len(each))
        yield each


def join(items: Any, separator: str = "") -> str:
    """The filter `join`; `~` too."""
    texts = [scalar_text(each) for each in items]
    size = sum(map(len, texts)) + len(separator) * len(texts)
    if size > MAX_TEXT:
        raise TemplateFault(f"the result is larger than {MAX_TEXT}")
    RENDER.get().work(size)
    return separator.join(texts)


def replace(value: Any, old: str, new: str) -> str:
    """The filter `replace`."""
    text = scalar_text(value)
    if len(text) + text.count(old) * len(new) > MAX_TEXT:
        raise TemplateFault(f"the result is larger than {MAX_TEXT}")
    return text.replace(old, new)


def rounded(value: Any, precision: int = 0, method: str = "common") -> float:
    """The filter `round`; a power of ten with more digits than a float has is refused."""
    import math

    if not isinstance(value, (int, float)) or not isinstance(precision, int) or abs(precision) > _DIGITS:
        raise TemplateFault(f"round takes a number and at most {_DIGITS} digits")
    if method == "common":
        return round(float(value), precision)
    if method not in ("ceil", "floor"):
        raise TemplateFault("round takes common, ceil or floor")
    power = 10.0**precision
    return (math.ceil if method == "ceil" else math.floor)(value * power) / power


def tojson(value: Any, indent: int | None = None) -> str:
    """The filter `tojson`."""
    import json

    return json.dumps(plain(value), ensure_ascii=False, indent=None if indent is None else min(indent, 8))


def total(items: Any) -> Any:
    """The filter `sum`, of numbers only: a sum of lists would grow without bound."""
    numbers = list(items)
    for each in numbers:
        if not isinstance(each, (int, float)):
            raise TemplateFault(f"sum adds numbers, found {kind_of(each)}")
    return sum(numbers)


def kind_of(value: Any) -> str:
    """A value for a message: null, text, a number, a map …"""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Markup):
        return "template text"
    if isinstance(value, str):
        return "text"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, Mapping):
        return "a map"
    return "a list" if isinstance(value, (list, tuple)) else "this"


def scalar_text(value: Any) -> str:
    """The text of a scalar inside other text: `true`, not `True`.

    Raises:
        TemplateFault: null, a map or a list, or template text.
    """
    if isinstance(value, Markup):
        raise TemplateFault(TEXT_MESSAGE)
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if value.bit_length() > 4096:
            raise TemplateFault("the number is too large")
        return str(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Undefined):
        str(value)
    hint = "give the value, or leave the whole text out when it is absent" if value is None else ""
    raise TemplateFault(f"{kind_of(value)} cannot stand inside text", hint)


def plain(value: Any) -> Any:
    """A copy of a value as plain dicts and lists.

    Raises:
        TemplateFault: more than MAX_NODES nodes, more text than one render may place, or something that is no data.
    """
    left = MAX_NODES
    spend = (RENDER.get(None) or Render()).spend

    def copy(each: Any, depth: int) -> Any:
        nonlocal left
        left -= 1
        if left < 0 or depth > 100:
            raise TemplateFault(f"the value has more than {MAX_NODES} parts or 100 levels")
        if isinstance(each, Markup):
            raise TemplateFault(TEXT_MESSAGE)
        if isinstance(each, str):
            spend(len(each))
            return each
        if isinstance(each, (int, float)) or each is None:
            return each
        if isinstance(each, Mapping):
            return {scalar_text(key): copy(item, depth + 1) for key, item in each.items()}
        if isinstance(each, (list, tuple, range)):
            return [copy(item, depth + 1) for item in each]
        if isinstance(each, Undefined):
            str(each)
        raise TemplateFault("only data can be printed, not a macro or a loop")

    return copy(value, 0)
