"""`--set` and its kin: Helm's grammar → assignments of nodes to paths."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from mlxtpl import yamlio
from mlxtpl.errors import MlxtplError, Place, Problem, Source, ValuesError
from mlxtpl.yamlio import Mapping, Node, Scalar, Sequence

Step = str | int
_DEEPEST = 100  # what a file may nest


class Assignment(NamedTuple):
    """One `path = node`; `key` is the span of the path in the option's text."""

    path: tuple[Step, ...]
    node: Node
    key: Place


def parse(option: str, text: str, number: int) -> list[Assignment]:
    """The assignments of one option.

    Args:
        option: `set`, `set-string`, `set-json`, `set-file`, or of a matrix `matrix`, `matrix-text`.
        text: what stood behind it, such as `a.b=c,d[0]={x,y}`.
        number: which of the options it was, from 1: its name in messages is `--set 2`.

    Raises:
        ValuesError: the text does not follow the grammar, with the column.
    """
    source = Source(f"--{option} #{number}", text)
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ValuesError(
            Problem("the option is no UTF-8 text", source.name, hint="--set-file reads bytes from a file")
        )
    if option in ("set-json", "set-file"):
        path, at = _path(source, 0)
        rest = text[at + 1 :]
        node = _json(source, rest, at + 1) if option == "set-json" else _file(source, rest, at + 1)
        return [Assignment(path, node, Place(source, 1, 1, max(1, at)))]
    found: list[Assignment] = []
    at = 0
    while at < len(text) or not found:
        start = at
        path, at = _path(source, at)
        key = Place(source, 1, start + 1, max(1, at - start))
        node, at = _value(source, at + 1, quoted=option in ("set-string", "matrix-text"))
        found.append(Assignment(path, node, key))
        at += 1
    return found


def path_text(path: Iterable[Step]) -> str:
    r"""A path as an option writes it.

    >>> path_text(("args", "a.b,c", 0))
    'args.a\\.b\\,c[0]'
    """
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += ("." if text else "") + re.sub(r"([\\.\[=,])", r"\\\1", step)
    return text


def assign(root: Mapping, assignment: Assignment) -> Mapping:
    """A copy of `root` with the assignment carried out; other parts are shared.

    Raises:
        ValuesError: an index past the end of a list, an index into no list, a key into a list.
    """
    if len(assignment.path) > _DEEPEST:
        raise ValuesError(Problem(f"the path has more than {_DEEPEST} steps", "", assignment.key))
    result = _assigned(root, assignment, 0)
    assert isinstance(result, Mapping)
    return result


def _assigned(node: Node | None, assignment: Assignment, depth: int) -> Node:
    if depth == len(assignment.path):
        return assignment.node
    step = assignment.path[depth]
    place = assignment.key
    if isinstance(step, int):
        if not isinstance(node, Sequence):
            what = "a map" if isinstance(node, Mapping) else "no list"
            raise _error(f"there is {what} to take the item [{step}] of", assignment, node)
        if step >= len(node.items):
            raise _error(f"the index [{step}] is past the end of a list of {len(node.items)}", assignment, node)
        items = list(node.items)
        items[step] = _assigned(items[step], assignment, depth + 1)
        return Sequence(items, node.source, node.line, node.column)
    if isinstance(node, Sequence):
        raise _error(
            f'there is a list where the key "{step}" is set', assignment, node, f"write an index, such as [{0}]"
        )
    entries = dict(node.items) if isinstance(node, Mapping) else {}
    if step not in entries:
        _check_dots(entries, assignment, depth)
    where = node.place if isinstance(node, Mapping) else place
    old = entries.get(step)
    key = Scalar(step, False, place.source, place.line, place.column, place.length) if old is None else old[0]
    entries[step] = (key, _assigned(None if old is None else old[1], assignment, depth + 1))
    return Mapping(entries, where.source, where.line, where.column)


def _check_dots(entries: dict[str, Any], assignment: Assignment, depth: int) -> None:
    """A path that falls apart at the dots of a key that is there (`files./etc/ds.json`) would set something new.

    Raises:
        ValuesError: it does.
    """
    steps = assignment.path[depth:]
    for length in range(2, len(steps) + 1):
        if any(isinstance(each, int) for each in steps[:length]):
            return
        name = ".".join(str(each) for each in steps[:length])
        if name in entries:
            meant = path_text((*assignment.path[:depth], name, *steps[length:]))
            message = f'there is the key "{name}", but the path falls apart at its dot'
            raise _error(message, assignment, entries[name][0], f"a dot inside a key is written \\.: {meant}")


def _error(message: str, assignment: Assignment, node: Node | None, hint: str = "") -> ValuesError:
    from mlxtpl.schema import dotted

    notes = () if node is None else (("there", str(node.place)),)
    return ValuesError(Problem(message, dotted(assignment.path), assignment.key, notes, hint))


def _grammar(source: Source, at: int, message: str, hint: str = "") -> ValuesError:
    return ValuesError(Problem(message, "", Place(source, 1, at + 1), hint=hint or "the form is path.to.key=value"))


def _path(source: Source, at: int) -> tuple[tuple[Step, ...], int]:
    """The path that starts at `at`, and where its `=` stands."""
    text = source.text
    path: list[Step] = []
    name = ""
    start = at
    while at < len(text):
        char = text[at]
        if char == "\\" and at + 1 < len(text):
            name += text[at + 1]
            at += 2
            continue
        if char in ".[=,":
            if name:
                path.append(name)
            elif char != "=" and not (path and isinstance(path[-1], int) and char in ".["):
                raise _grammar(source, at, f'a name must stand before "{char}"')
            elif char == "=" and not (path and isinstance(path[-1], int)):
                raise _grammar(source, at, 'a name must stand before "="')
            name = ""
            if char == "=":
                return tuple(path), at
            if char == ",":
                hint = r"a comma inside a value is written \," if start else ""
                raise _grammar(source, start, f'"{text[start:at]}" has no value', hint)
            if char == "[":
                end = text.find("]", at)
                digits = text[at + 1 : end]
                if end < 0 or not (digits.isascii() and digits.isdigit()) or len(digits) > 6:
                    raise _grammar(source, at, "an index is a whole number in brackets, such as [0]")
                path.append(int(digits))
                at = end
        else:
            name += char
        at += 1
    shown = text[start:]
    hint = r"a comma inside a value is written \," if start and shown else ""
    raise _grammar(source, start, f'"{shown}" has no value' if shown else "an assignment is missing", hint)


def _value(source: Source, at: int, *, quoted: bool) -> tuple[Node, int]:
    """The value that starts at `at`, and where the next comma (or the end) stands."""
    text = source.text
    if text[at : at + 1] == "{":
        items: list[Node] = []
        start = at
        at += 1
        if text[at : at + 1] == "}":
            return Sequence(items, source, 1, start + 1), at + 1
        while True:
            word, end = _word(text, at, ",}")
            if end >= len(text):
                raise _grammar(source, start, "the list has no closing brace", "a list is {x,y}")
            items.append(Scalar(word, not quoted and word != "", source, 1, at + 1, max(1, end - at)))
            at = end + 1
            if text[end] == "}":
                break
        if at < len(text) and text[at] != ",":
            raise _grammar(source, at, "a comma must stand between two assignments")
        return Sequence(items, source, 1, start + 1), at
    word, end = _word(text, at, ",")
    # An empty value is the empty string, as in Helm; `null` removes.
    return Scalar(word, not quoted and word != "", source, 1, at + 1, max(1, end - at)), end


def _word(text: str, at: int, stops: str) -> tuple[str, int]:
    word = ""
    while at < len(text) and text[at] not in stops:
        if text[at] == "\\" and at + 1 < len(text):
            at += 1
        word += text[at]
        at += 1
    return word, at


class _Number(str):
    """The spelling of a JSON number."""

    __slots__ = ()


def _json(source: Source, text: str, at: int) -> Node:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen = dict(pairs)
        if len(seen) != len(pairs):
            raise _grammar(source, at, "the JSON has a key twice")
        return seen

    def refuse(word: str) -> Any:
        raise _grammar(source, at, f"{word} is no JSON")

    try:
        value = json.loads(
            text, parse_int=_Number, parse_float=_Number, parse_constant=refuse, object_pairs_hook=unique
        )
        return _node(value, source, at + 1, max(1, len(text)))
    except json.JSONDecodeError as error:
        message = error.msg[:1].lower() + error.msg[1:]
        raise _grammar(
            source, at + error.pos, f"no valid JSON: {message}", "such as --set-json 'resources={\"gpus\":8}'"
        ) from None
    except RecursionError:
        raise _grammar(source, at, "the JSON is nested too deeply") from None


def _node(value: Any, source: Source, column: int, length: int, depth: int = 0) -> Node:
    if depth > _DEEPEST:
        raise _grammar(source, column, "the JSON is nested too deeply")
    if isinstance(value, dict):
        items = {}
        for key, each in value.items():
            items[key] = (Scalar(key, False, source, 1, column, length), _node(each, source, column, length, depth + 1))
        return Mapping(items, source, 1, column)
    if isinstance(value, list):
        return Sequence([_node(each, source, column, length, depth + 1) for each in value], source, 1, column)
    if isinstance(value, _Number):
        return Scalar(str(value), True, source, 1, column, length)
    if isinstance(value, str):
        return Scalar(value, False, source, 1, column, length)
    text = {True: "true", False: "false", None: "null"}[value]
    return Scalar(text, True, source, 1, column, length)


def _file(source: Source, path: str, at: int) -> Node:
    try:
        read = yamlio.read_source(Path(path))
    except MlxtplError as error:
        first = error.problems[0]
        place = Place(source, 1, at + 1, max(1, len(path)))
        raise ValuesError(Problem(first.message, first.where, place, hint=first.hint)) from None
    return Scalar(read.text, False, source, 1, at + 1, max(1, len(path)))
