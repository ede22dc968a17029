"""What tracing adds to a render: values that know their path, and marks that tell which template line wrote a text.

Only `explain` and error messages trace; a plain render pays nothing.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream

from mlxtpl.schema import Declared

MARK = "\ue002"
_MARKED = re.compile(f"{MARK}([^{MARK}]*):([0-9]+){MARK}")
Path = tuple[Any, ...]


# Subclasses of what a template may hold; null, true and false cannot be subclassed and have no path of their own.
class _Text(str):  # noqa: SLOT000 - it has a path
    path: Path

    def __str__(self) -> str:
        return self  # str(x) in a filter keeps the path


class _Whole(int):
    path: Path

    def __str__(self) -> str:
        text = _Text(int.__repr__(self))
        text.path = self.path
        return text


class _Number(float):
    path: Path


class _Map(dict[str, Any]):
    path: Path


class _DeclaredMap(Declared):
    path: Path


class _List(list[Any]):
    path: Path


def traced(value: Any, path: Path = ()) -> Any:
    """A copy of plain values in which each map, list, text and number has its `path`."""
    copy: Any
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, dict):
        kind = _DeclaredMap if isinstance(value, Declared) else _Map
        copy = kind()
        for key, each in value.items():
            name = _Text(key)  # so that a loop over items knows where its key was written
            name.path = (*path, key)
            copy[name] = traced(each, (*path, key))
    elif isinstance(value, list):
        copy = _List(traced(each, (*path, index)) for index, each in enumerate(value))
    else:
        copy = (_Text if isinstance(value, str) else _Whole if isinstance(value, int) else _Number)(value)
    copy.path = path
    return copy


def path_of(value: Any) -> Path | None:
    """The path in the values that a value came from; None when a template made it."""
    return getattr(value, "path", None) if isinstance(value, (str, int, float, dict, list)) else None


def untraced(value: Any) -> Any:
    """A scalar as plain Python has it."""
    for kind in (_Text, _Whole, _Number):
        if isinstance(value, kind):
            base: Any = kind.__mro__[1]
            return str.__str__(value) if base is str else base(value)
    return value


class Written(NamedTuple):
    """How a template wrote one scalar.

    Attributes:
        template: as messages call it; `line` counts from 1, 0 when it is not known.
        path: the path in the values of the value itself; None when the template made it.
        uses: for one that the template made, the paths of values that its expression reads.
    """

    template: str
    line: int
    path: Path | None = None
    uses: tuple[Path, ...] = ()


class Leaf(NamedTuple):
    """A scalar (or an empty map or list) of a traced render."""

    value: Any
    written: Written


def unwrapped(tree: Any) -> Any:
    """A traced tree as plain data."""
    if isinstance(tree, Leaf):
        return tree.value
    if isinstance(tree, dict):
        return {key: unwrapped(each) for key, each in tree.items()}
    return [unwrapped(each) for each in tree] if isinstance(tree, list) else tree


class LineMarks(Extension):
    """Puts a mark before the template's own text, at each of its lines, after whitespace control has done its work."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        """The tokens, text marked."""
        for token in stream:
            if token.type != "data":
                yield token
                continue
            name = f"{getattr(self.environment, 'shown', '')}/{stream.name}"
            lines = token.value.split("\n")
            marked = "\n".join(f"{MARK}{name}:{token.lineno + n}{MARK}{line}" for n, line in enumerate(lines))
            yield Token(token.lineno, "data", marked)


class Marks:
    """Where each part of a rendered text was written."""

    def __init__(self, text: str) -> None:
        """Take the marks out of a text; `text` is what is left."""
        parts: list[str] = []
        self._places: list[tuple[int, int]] = []
        self._lines: list[tuple[str, int]] = []
        line = column = last = 0
        for match in _MARKED.finditer(text):
            part = text[last : match.start()]
            last = match.end()
            parts.append(part)
            breaks = part.count("\n")
            line, column = (line + breaks, len(part) - part.rfind("\n") - 1) if breaks else (line, column + len(part))
            self._places.append((line, column))
            self._lines.append((match[1], int(match[2])))
        self.text = "".join((*parts, text[last:]))

    def at(self, line: int, column: int) -> tuple[str, int]:
        """Template and line that wrote a place of the text; both count from 0."""
        index = bisect.bisect_right(self._places, (line, column)) - 1
        return self._lines[index] if index >= 0 else ("", 0)
