"""A matrix of values, from `--matrix` options and files: its axes, what it includes and excludes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from mlxtpl import assignments, schema, yamlio
from mlxtpl.errors import Place, Problem, Source, ValuesError
from mlxtpl.yamlio import Node, Scalar

_RANGE = re.compile(r"(-?[0-9]{1,9})\.\.(-?[0-9]{1,9})")
_LIKE_A_RANGE = re.compile(r"-?[0-9]*\.?[0-9]+\.\.[-.0-9]+")


class Axis(NamedTuple):
    """One key of the matrix with its values, spelled as they were written."""

    key: str
    values: tuple[str, ...]
    place: Place


class Pattern(NamedTuple):
    """Some coordinates that a matrix file includes or excludes."""

    coordinates: Mapping[str, str]
    place: Place


class Matrix(NamedTuple):
    """All axes; `include` are further combinations, `exclude` the ones to leave out."""

    axes: tuple[Axis, ...]
    include: tuple[Pattern, ...] = ()
    exclude: tuple[Pattern, ...] = ()


def parse_axis(text: str, number: int) -> Axis:
    """One `--matrix KEY=V1,V2,…` or `KEY=1..3`.

    Raises:
        ValuesError: the text has no key, no value, or a value twice.
    """
    source = Source(f"--matrix #{number}", text)
    key, found, rest = text.partition("=")
    place = Place(source, 1, 1, max(1, len(key)))
    if not found or not key:
        hint = "the form is key=v1,v2 or key=1..3, or a file with `matrix:`"
        raise ValuesError(Problem(f'"{text}" is no axis', "", place, hint=hint))
    _check_key(key, number, place)
    if re.search(r"\s", key):
        raise ValuesError(Problem(f'the key "{key}" has a space', "", place))
    values = _split(rest)
    at = Place(source, 1, len(key) + 2, max(1, len(rest)))
    where = f"matrix.{key}"
    top = re.escape(key.partition(".")[0])
    for value in values:
        if value != value.strip():
            hint = "leave the spaces out; a file with `matrix:` can hold any text"
            raise ValuesError(Problem(f'the value "{value}" has a space at its end', where, at, hint=hint))
        if re.search(rf"(^|[;\s]){top}\.[^=]*=", value):
            hint = "each axis is a --matrix of its own"
            raise ValuesError(Problem(f'the value "{value}" looks like another axis', where, at, hint=hint))
        if value.startswith("{"):
            hint = "a value of a matrix is text; a file with `matrix:` can hold a brace"
            raise ValuesError(Problem(f'the value "{value}" looks like a list', where, at, hint=hint))
    return _axis(key, values, at)


def load_matrix(path: Path) -> Matrix:
    """A file with `matrix:`, a map of key → list (or `1..3`), and in it `include` and `exclude`.

    Raises:
        YamlError, ValuesError: it is no such file.
    """
    root = yamlio.load_one(yamlio.read_source(path))
    if not isinstance(root, yamlio.Mapping) or list(root.items) != ["matrix"]:
        place = None if root is None else root.place
        hint = "include and exclude stand inside `matrix`"
        raise ValuesError(Problem("must have the one key `matrix`", str(path), place, hint=hint))
    node = root.items["matrix"][1]
    if not isinstance(node, yamlio.Mapping):
        raise ValuesError(Problem(f"must be a map, found {schema.found_words(node)}", "matrix", node.place))
    axes = []
    lists: dict[str, tuple[Pattern, ...]] = {"include": (), "exclude": ()}
    for key, (key_node, value) in node.items.items():
        if key in lists:
            lists[key] = tuple(_coordinates(value, key))
        else:
            _check_key(key, 1, key_node.place)
            items = value.items if isinstance(value, yamlio.Sequence) else [value]
            axes.append(_axis(key, [_text(each, f"matrix.{key}") for each in items], value.place))
    return Matrix(tuple(axes), lists["include"], lists["exclude"])


def read_options(texts: Sequence[str]) -> Matrix:
    """The matrix of all `--matrix` options: axes (`key=…`) and files.

    Raises:
        YamlError, ValuesError: one of them is wrong, or two have the same key.
    """
    axes: list[Axis] = []
    include: tuple[Pattern, ...] = ()
    exclude: tuple[Pattern, ...] = ()
    for number, text in enumerate(texts, 1):
        if "=" in text:
            axes.append(parse_axis(text, number))
        else:
            loaded = load_matrix(Path(text))
            axes += loaded.axes
            include += loaded.include
            exclude += loaded.exclude
    seen: set[str] = set()
    for axis in axes:
        if axis.key in seen:
            raise ValuesError(Problem("is an axis twice", f"matrix.{axis.key}", axis.place))
        seen.add(axis.key)
    return Matrix(tuple(axes), include, exclude)


def _check_key(key: str, number: int, place: Place) -> None:
    """The key follows the grammar of --set, and is one."""
    found = assignments.parse("set", f"{key}=x", number)
    if len(found) != 1 or f"{key}=x".count("=") != 1 + key.count(r"\="):
        raise ValuesError(Problem(f'"{key}" is not one key', "matrix", place))


class Quoted(str):
    """A value that stood in quotes: text, whatever it looks like."""

    __slots__ = ()


def _split(text: str) -> list[str]:
    r"""Values between commas; a comma inside a value is written `\,`.

    >>> _split(r"0.9\,0.95,0.9\,0.999")
    ['0.9,0.95', '0.9,0.999']
    """
    return [re.sub(r"\\([\\,])", r"\1", each) for each in re.split(r"(?<!\\),", text)]


def _axis(key: str, texts: Sequence[str], place: Place) -> Axis:
    if key == "name":
        hint = "each job's name is the base name and its coordinates"
        raise ValuesError(Problem("cannot be an axis", "matrix.name", place, hint=hint))
    values: list[str] = []
    for text in texts:
        match = None if isinstance(text, Quoted) else _RANGE.fullmatch(text)
        if match is None:
            if _LIKE_A_RANGE.fullmatch(text) and not isinstance(text, Quoted):
                hint = "a range is first..last, of whole numbers; write other values one by one"
                raise ValuesError(Problem(f'"{text}" is no range', f"matrix.{key}", place, hint=hint))
            values.append(text)
        elif re.match(r"-?0[0-9]", match[1]) or re.match(r"-?0[0-9]", match[2]):
            hint = "a range counts 1, 2, 3; write 01, 02, 03 one by one"
            raise ValuesError(Problem(f'the range "{text}" has leading zeros', f"matrix.{key}", place, hint=hint))
        else:
            first, last = int(match[1]), int(match[2])
            if abs(last - first) > 100_000:
                raise ValuesError(Problem(f"the range {text} is too long", f"matrix.{key}", place))
            step = 1 if last >= first else -1
            values += [str(each) for each in range(first, last + step, step)]
    if not values or values == [""]:
        raise ValuesError(Problem("has no value", f"matrix.{key}", place))
    twice = next((value for value, count in Counter(values).items() if count > 1), None)
    if twice is not None:
        raise ValuesError(Problem(f'has the value "{twice}" twice', f"matrix.{key}", place))
    return Axis(key, tuple(values), place)


def _coordinates(node: Node, key: str) -> Iterator[Pattern]:
    items = node.items if isinstance(node, yamlio.Sequence) else [node]
    for each in items:
        if not isinstance(each, yamlio.Mapping) or not each.items:
            message = f"must be a list of maps, found {schema.found_words(each)}"
            raise ValuesError(Problem(message, f"matrix.{key}", each.place))
        for name, (key_node, _) in each.items.items():
            _check_key(name, 1, key_node.place)
        found = {name: _text(value, f"matrix.{key}.{name}") for name, (_, value) in each.items.items()}
        yield Pattern(found, each.place)


def _text(node: Node, where: str) -> str:
    if not isinstance(node, Scalar):
        raise ValuesError(Problem(f"must be text, found {schema.found_words(node)}", where, node.place))
    return node.text if node.plain else Quoted(node.text)
