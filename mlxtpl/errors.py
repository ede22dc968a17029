"""Places, problems and the error tree: what every other module raises; nothing here prints.

MlxtplError
├── YamlError      a file is no readable, strict YAML
├── ValuesError    values files → Values
├── PackageError   a package or a layer cannot be loaded
├── LayerError     Values + package → Manifest
├── MergeError     two trees do not fit together
├── OverlayError   a kustomization directory cannot be applied
├── DiffError      two manifests cannot be compared
├── LintError      the manifest breaks a rule
└── OutputError    a result cannot be written
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

# What libyaml counts as the end of a line.
_LINE_END = re.compile("\r\n|[\r\n\x85\u2028\u2029]")


@lru_cache(maxsize=8)  # a file may have thousands of problems
def _lines(text: str) -> list[str]:
    return _LINE_END.split(text)


class Source(NamedTuple):
    """A text that was read, under the name the user knows it by (a path, `-`, `--set 2`).

    `directory` is what relative paths in it resolve against; empty is the working directory.
    """

    name: str
    text: str
    directory: str = ""


class Place(NamedTuple):
    """A span on one line of a source; line and column count from 1, columns in characters."""

    source: Source
    line: int
    column: int
    length: int = 1

    def __str__(self) -> str:
        # An option of the command line has one line only.
        line = "" if self.source.name.startswith("--") else f":{self.line}"
        return f"{self.source.name}{line}:{self.column}"

    def text(self) -> str:
        """The whole source line, without its line end; empty when the source has no such line."""
        lines = _lines(self.source.text)
        return lines[self.line - 1] if 0 < self.line <= len(lines) else ""


class Problem(NamedTuple):
    """One thing that is wrong.

    Attributes:
        message: what was wanted and what was found; lower case, no full stop.
        where: what the message is about, such as `resources.gpus`; may be empty.
        place: where the user wrote it.
        notes: further lines, `(label, text)`, such as `("schema", "templates/base/schema.yaml:31")`.
        hint: what to do about it.
        level: error, warning or info.
        field: what a rule found fault with: the number of an object in the manifest, then the path in it.
    """

    message: str
    where: str = ""
    place: Place | None = None
    notes: tuple[tuple[str, str], ...] = ()
    hint: str = ""
    level: str = "error"
    field: tuple[Any, ...] = ()


class MlxtplError(Exception):
    """The input is wrong; carries every problem that was found, never only the first."""

    exit_code = 1
    stage = ""

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("; ".join(f"{p.where}: {p.message}" if p.where else p.message for p in self.problems))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problems,)


class YamlError(MlxtplError):
    """A file is no readable, strict YAML."""

    stage = "yaml"


class ValuesError(MlxtplError):
    """The values files do not add up to valid values."""

    stage = "values"


class PackageError(MlxtplError):
    """A package or a layer cannot be loaded."""

    stage = "package"


class LayerError(MlxtplError):
    """A layer could not be rendered."""

    stage = "layer"


class MergeError(MlxtplError):
    """Two trees do not fit together."""

    stage = "merge"


class OverlayError(MlxtplError):
    """A kustomization directory cannot be applied."""

    stage = "overlay"


class DiffError(MlxtplError):
    """Two manifests cannot be compared."""

    stage = "diff"


class LintError(MlxtplError):
    """The manifest breaks a rule of the platform or of the operator."""

    stage = "lint"


class ScaffoldError(MlxtplError):
    """A project cannot be started."""

    stage = "new"


class OutputError(MlxtplError):
    """A result cannot be written."""

    stage = "output"


def format_problem(problem: Problem, stage: str = "") -> str:
    """The problem as the text a person reads: message, place, source line with a marker, notes, hint."""
    head = ": ".join(part for part in (problem.level, stage, problem.where, problem.message) if part)
    lines = [_one_line(head)]
    if problem.place is not None:
        place = problem.place
        lines.append(f"  --> {place}")
        text = place.text()
        if text.strip():
            lines += _snippet(text, place)
    lines += [f"  {label}: {text}" for label, text in problem.notes]
    if problem.hint:
        lines.append(f"  hint: {problem.hint}")
    return "\n".join(lines)


_WIDEST = 120


def _snippet(text: str, place: Place) -> list[str]:
    """The source line and a marker line under the span; a very long line is cut around the span."""
    start = max(0, place.column - 1)
    length = max(1, min(place.length, len(text) - start))
    if len(text) > _WIDEST:
        first = max(0, start - _WIDEST // 3)
        text = text[first : first + _WIDEST]
        start -= first
        length = min(length, max(1, len(text) - start))
    text = "".join(c if c.isprintable() else " " if c == "\t" else "\ufffd" for c in text)
    number = str(place.line)
    # A wide (CJK) character fills two columns of a terminal.
    pad = "".join("  " if ord(c) >= 0x1100 and _is_wide(c) else " " for c in text[:start])
    mark = "".join("^^" if ord(c) >= 0x1100 and _is_wide(c) else "^" for c in text[start : start + length]) or "^"
    return [f"{number} | {text}", f"{' ' * len(number)} | {pad}{mark}"]


def _one_line(text: str) -> str:
    """The text with line ends and control characters as escapes: a message's first line stays one line."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _is_wide(char: str) -> bool:
    import unicodedata

    return unicodedata.east_asian_width(char) in "WF"
