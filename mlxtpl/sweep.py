"""A matrix of values → one job a combination: names, labels and the assignments that make each job."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mlxtpl import assignments, processes, schema, yamlio
from mlxtpl.batch import Dump, Rendered, rendered
from mlxtpl.errors import Place, Problem, Source, ValuesError
from mlxtpl.pipeline import render
from mlxtpl.values import Packages, load_values
from mlxtpl.yamlio import Node, Scalar

MAX_NAME = 50  # what the platform recommends; <name>-worker-<999> still fits its 63 characters
LABEL_PREFIX = "mlxtpl/"
_RANGE = re.compile(r"(-?[0-9]{1,9})\.\.(-?[0-9]{1,9})")


class Axis(NamedTuple):
    """One key of the matrix with its values, spelled as they were written."""

    key: str
    values: tuple[str, ...]
    place: Place


class Matrix(NamedTuple):
    """All axes; `include` are further combinations, `exclude` the ones to leave out."""

    axes: tuple[Axis, ...]
    include: tuple[Mapping[str, str], ...] = ()
    exclude: tuple[Mapping[str, str], ...] = ()


class Combination(NamedTuple):
    """One job of the sweep: its coordinates, and the suffix of its name."""

    coordinates: Mapping[str, str]
    suffix: str

    def sets(self) -> list[tuple[str, str]]:
        """The coordinates as assignments."""
        return [("matrix", f"{key}={_escaped(value)}") for key, value in self.coordinates.items()]

    def labels(self) -> dict[str, str]:
        """The coordinates as labels: characters that a label cannot have become "_"."""
        return {LABEL_PREFIX + _label(key): _label(value) for key, value in self.coordinates.items()}


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
    assignments.parse("set", f"{key}=x", number)  # the key follows the grammar of --set
    return _axis(key, rest.split(","), Place(source, 1, len(key) + 2, max(1, len(rest))))


def load_matrix(path: Path) -> Matrix:
    """A file with `matrix:`, a map of key → list (or `1..3`), and in it `include` and `exclude`.

    Raises:
        YamlError, ValuesError: it is no such file.
    """
    root = yamlio.load_one(yamlio.read_source(path))
    if not isinstance(root, yamlio.Mapping) or list(root.items) != ["matrix"]:
        place = None if root is None else root.place
        raise ValuesError(Problem("must have the one key `matrix`", str(path), place))
    node = root.items["matrix"][1]
    if not isinstance(node, yamlio.Mapping):
        raise ValuesError(Problem(f"must be a map, found {schema.found_words(node)}", "matrix", node.place))
    axes = []
    lists: dict[str, tuple[Mapping[str, str], ...]] = {"include": (), "exclude": ()}
    for key, (_, value) in node.items.items():
        if key in lists:
            lists[key] = tuple(_coordinates(value, key))
        else:
            items = value.items if isinstance(value, yamlio.Sequence) else [value]
            axes.append(_axis(key, [_text(each, f"matrix.{key}") for each in items], value.place))
    return Matrix(tuple(axes), lists["include"], lists["exclude"])


def read_options(texts: Sequence[str]) -> Matrix:
    """The matrix of all `--matrix` options: axes (`key=…`) and files.

    Raises:
        YamlError, ValuesError: one of them is wrong, or two have the same key.
    """
    axes: list[Axis] = []
    include: tuple[Mapping[str, str], ...] = ()
    exclude: tuple[Mapping[str, str], ...] = ()
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


def combinations(matrix: Matrix, name: str, limit: int) -> list[Combination]:
    """Every combination in order (the last axis varies fastest), each with a suffix of its own.

    Args:
        name: the base name; suffixes that make it longer than MAX_NAME become a hash.
        limit: how many combinations are allowed.

    Raises:
        ValuesError: more than `limit` combinations, none, or two that are the same.
    """
    size = len(matrix.include)
    product = 1
    for axis in matrix.axes:
        product *= len(axis.values)
    size += product if matrix.axes else 0
    if size > limit:
        hint = f"--max {size} allows it"
        raise ValuesError(Problem(f"the matrix has {size} combinations; {limit} are allowed", "matrix", hint=hint))
    found = [dict(each) for each in _product(matrix.axes) if not any(_matches(each, out) for out in matrix.exclude)]
    found += [dict(each) for each in matrix.include if each not in found]
    if not found:
        raise ValuesError(Problem("the matrix has no combination", "matrix"))
    prefixes = _prefixes([key for each in found for key in each])
    suffixes = ["".join(f"-{prefixes[key]}{_word(value)}" for key, value in each.items()) for each in found]
    named = []
    for coordinates, suffix in zip(found, suffixes, strict=True):
        readable = len(name + suffix) <= MAX_NAME and suffixes.count(suffix) == 1
        named.append(Combination(coordinates, suffix if readable else f"-x{_hash(coordinates)}"))
    return named


def index(rows: Sequence[tuple[str, Mapping[str, str], str]]) -> tuple[str, str]:
    """The index of a sweep as CSV and as JSON.

    Args:
        rows: (job name, coordinates, file name) of each job.
    """
    import csv
    import io

    keys = list(dict.fromkeys(key for _, coordinates, _ in rows for key in coordinates))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["name", *keys, "file"])
    for name, coordinates, file in rows:
        writer.writerow([name, *(coordinates.get(key, "") for key in keys), file])
    data = [{"name": name, "coordinates": dict(coordinates), "file": file} for name, coordinates, file in rows]
    return out.getvalue(), json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _axis(key: str, texts: Sequence[str], place: Place) -> Axis:
    values: list[str] = []
    for text in texts:
        match = _RANGE.fullmatch(text)
        if match is None:
            values.append(text)
        else:
            first, last = int(match[1]), int(match[2])
            if abs(last - first) > 100_000:
                raise ValuesError(Problem(f"the range {text} is too long", f"matrix.{key}", place))
            step = 1 if last >= first else -1
            values += [str(each) for each in range(first, last + step, step)]
    if not values or values == [""]:
        raise ValuesError(Problem("has no value", f"matrix.{key}", place))
    twice = next((value for value in values if values.count(value) > 1), None) if len(values) < 10_000 else None
    if twice is not None:
        raise ValuesError(Problem(f'has the value "{twice}" twice', f"matrix.{key}", place))
    return Axis(key, tuple(values), place)


def _coordinates(node: Node, key: str) -> Iterator[Mapping[str, str]]:
    items = node.items if isinstance(node, yamlio.Sequence) else [node]
    for each in items:
        if not isinstance(each, yamlio.Mapping) or not each.items:
            message = f"must be a list of maps, found {schema.found_words(each)}"
            raise ValuesError(Problem(message, f"matrix.{key}", each.place))
        yield {name: _text(value, f"matrix.{key}.{name}") for name, (_, value) in each.items.items()}


def _text(node: Node, where: str) -> str:
    if not isinstance(node, Scalar):
        raise ValuesError(Problem(f"must be text, found {schema.found_words(node)}", where, node.place))
    return node.text


def _product(axes: Sequence[Axis]) -> Iterator[dict[str, str]]:
    if axes:
        for values in itertools.product(*(axis.values for axis in axes)):
            yield {axis.key: value for axis, value in zip(axes, values, strict=True)}


def _matches(coordinates: Mapping[str, str], pattern: Mapping[str, str]) -> bool:
    return all(coordinates.get(key) == value for key, value in pattern.items())


def _prefixes(keys: Sequence[str]) -> dict[str, str]:
    """A short word a key: its last part when that has at most two letters, else its shortest unique beginning."""
    last = {key: re.sub(r"[^a-z0-9]", "", key.lower().replace("\\.", "").split(".")[-1]) or "k" for key in keys}
    short = {}
    for key, word in last.items():
        others = [other for each, other in last.items() if each != key]
        length = next((n for n in range(1, len(word)) if not any(o.startswith(word[:n]) for o in others)), len(word))
        short[key] = word if len(word) <= 2 else word[:length]
    return short


def _word(value: str) -> str:
    return re.sub(
        r"[^a-z0-9]+", "-", value.lower().replace("-", "m", 1) if value.startswith("-") else value.lower()
    ).strip("-")


def _hash(coordinates: Mapping[str, Any]) -> str:
    text = "\n".join(f"{key}={value}" for key, value in sorted(coordinates.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _label(text: str) -> str:
    return re.sub(r"[^-A-Za-z0-9_.]", "_", text)[:63].strip("-_.")


def _escaped(value: str) -> str:
    return re.sub(r"([\\,{])", r"\\\1", value)


def render_matrix(
    files: Sequence[Source], matrix: Matrix, limit: int, arguments: Mapping[str, Any], dump: Dump
) -> tuple[list[Combination], str, Iterator[Rendered]]:
    """Render one job for each combination of a matrix.

    Args:
        limit: the most combinations.
        arguments, dump: as of `batch.render_files`.

    Returns:
        the combinations, the base name, and an iterator over the jobs.

    Raises:
        MlxtplError: the base values or the matrix are wrong.
    """
    packages: Packages = {}
    base = load_values(files, packages=packages, **arguments)
    name = str(base.tree["name"])
    chosen = combinations(matrix, name, limit)

    def job(each: Combination) -> Rendered:
        labels = json.dumps(each.labels())
        sets = [
            *arguments["sets"],
            *each.sets(),
            ("matrix", f"name={name}{each.suffix}"),
            ("set-json", f"labels={labels}"),
            ("set-json", f"podLabels={labels}"),
        ]
        return rendered(
            Rendered(files[0].name, f"{name}{each.suffix}.yaml", coordinates=each.coordinates),
            lambda: render(files, packages=packages, **{**arguments, "sets": sets}),
            dump,
        )

    return chosen, name, processes.ordered(job, chosen)
