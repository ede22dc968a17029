"""Nodes of a YAML tree that keep spelling and place; a node may be shared by several trees and is never changed."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from mlxtpl import yamlsyntax
from mlxtpl.errors import Place, Problem, Source, YamlError
from mlxtpl.gotypes import NULLS, go_integer, go_scalar


class Mark(NamedTuple):
    """Where something starts or ends; line and column count from 0, as the parser's own marks do."""

    line: int
    column: int


class Scalar:
    """A scalar as it was written: `text` is its content, `plain` whether it stood without quotes."""

    # Two marks instead of line, column and length: most scalars are never asked where they stand.
    __slots__ = ("end", "plain", "source", "start", "tag", "text")

    def __init__(
        self, text: str, plain: bool, source: Source, line: int, column: int, length: int = 1, tag: str = ""
    ) -> None:
        self.text = text
        self.plain = plain
        self.source = source
        self.tag = tag
        self.start: Any = Mark(line - 1, column - 1)
        self.end: Any = Mark(line - 1, column - 1 + length)

    @property
    def line(self) -> int:
        """The line it starts on, from 1."""
        return int(self.start.line) + 1

    @property
    def column(self) -> int:
        """The column it starts at, from 1."""
        return int(self.start.column) + 1

    @property
    def length(self) -> int:
        """How many characters of its first line it takes, quotes included; at least 1."""
        if self.end.line == self.start.line:
            return max(1, int(self.end.column - self.start.column))
        return yamlsyntax.rest_of_line(self.source, self.start)

    @property
    def place(self) -> Place:
        """Where it starts, as long as it is on that line."""
        return Place(self.source, self.line, self.column, self.length)


class Mapping:
    """A mapping: `items` is key text → (key, value) in the order of the file."""

    __slots__ = ("column", "items", "line", "source")

    def __init__(self, items: dict[str, tuple[Scalar, Node]], source: Source, line: int, column: int) -> None:
        self.items = items
        self.source = source
        self.line = line
        self.column = column

    @property
    def place(self) -> Place:
        """Where it starts."""
        return Place(self.source, self.line, self.column)


class Sequence:
    """A list of nodes."""

    __slots__ = ("column", "items", "line", "source")

    def __init__(self, items: list[Node], source: Source, line: int, column: int) -> None:
        self.items = items
        self.source = source
        self.line = line
        self.column = column

    @property
    def place(self) -> Place:
        """Where it starts."""
        return Place(self.source, self.line, self.column)


Node = Scalar | Mapping | Sequence


def is_null(node: Node) -> bool:
    """Whether the node is a null: a plain empty, `~`, `null`, `Null`, `NULL`, or one tagged `!!null`."""
    return isinstance(node, Scalar) and ((node.plain and not node.tag and node.text in NULLS) or node.tag == "null")


def scalar_value(node: Scalar) -> str | int | float | bool | None:
    """A scalar node typed as Kubernetes' Go parser types it; tags and quotes are honoured.

    Raises:
        YamlError: `.inf` or `.nan`, which JSON and so Kubernetes cannot carry, or a tag that does not fit.
    """
    if node.tag == "str" or not (node.plain or node.tag):
        return node.text
    value = go_scalar(node.text)
    if isinstance(value, float) and not math.isfinite(value):
        message = f"{node.text} is no number that Kubernetes can carry"
        raise YamlError(Problem(message, place=node.place, hint="quote it if it is text"))
    if node.tag:
        wanted = {"int": (int,), "float": (int, float), "bool": (bool,), "null": (type(None),)}.get(node.tag, (str,))
        fits = isinstance(value, wanted) and not (isinstance(value, bool) and node.tag in ("int", "float"))
        if not fits or (node.tag == "int" and go_integer(node.text) is None):
            raise YamlError(Problem(f'"{node.text}" does not fit its tag !!{node.tag}', place=node.place))
        return float(value) if node.tag == "float" and isinstance(value, int) else value
    return value
