"""A matrix → one job a combination: names, labels and the assignments that make each job."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mlxtpl import processes
from mlxtpl.batch import Dump, Rendered, explained, rendered
from mlxtpl.errors import Problem, Source, ValuesError
from mlxtpl.matrix import Axis, Matrix, Quoted
from mlxtpl.pipeline import render
from mlxtpl.values import Packages, load_values

MAX_NAME = 50  # what the platform recommends; <name>-worker-<999> still fits its 63 characters
LABEL_PREFIX = "mlxtpl/"


class Combination(NamedTuple):
    """One job of the sweep: its coordinates, and the suffix of its name."""

    coordinates: Mapping[str, str]
    suffix: str

    def sets(self) -> list[tuple[str, str]]:
        """The coordinates as assignments."""
        return [
            ("matrix-text" if isinstance(value, Quoted) else "matrix", f"{key}={_escaped(value)}")
            for key, value in self.coordinates.items()
        ]

    def labels(self) -> dict[str, str]:
        """The coordinates as labels: characters that a label cannot have become "_"."""
        labels: dict[str, str] = {}
        for key, value in self.coordinates.items():
            name = LABEL_PREFIX + _label(key)
            if name in labels:  # two keys that differ in what a label cannot say
                name = f"{name[: len(LABEL_PREFIX) + 54]}-{_hash({key: ''})}"
            labels[name] = _label(value)
        return labels


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
    found = list(_product(matrix.axes))
    for pattern in matrix.exclude:
        kept = [each for each in found if not _matches(each, pattern.coordinates)]
        if len(kept) == len(found):
            hint = "a value is compared as it is spelled"
            raise ValuesError(Problem("excludes no combination", "matrix.exclude", pattern.place, hint=hint))
        found = kept
    seen = {tuple(each.items()) for each in found}
    for pattern in matrix.include:
        if tuple(pattern.coordinates.items()) not in seen:
            seen.add(tuple(pattern.coordinates.items()))
            found.append(dict(pattern.coordinates))
    if not found:
        raise ValuesError(Problem("the matrix has no combination", "matrix"))
    prefixes = _prefixes([key for each in found for key in each])
    named = []
    taken: set[str] = set()
    for coordinates in found:
        suffix = "".join(f"-{prefixes[key]}{_word(value)}" for key, value in coordinates.items())
        # The first of two that read the same keeps its name, also when the axis grows.
        if len(name + suffix) > MAX_NAME or suffix in taken:
            suffix = f"-x{_hash(coordinates)}"
        taken.add(suffix)
        named.append(Combination(coordinates, suffix))
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
    for_values = {key: value for key, value in arguments.items() if key not in ("overlay_paths", "linted")}
    base = load_values(files, packages=packages, **for_values)
    name = str(base.tree["name"])
    chosen = combinations(matrix, name, limit)
    try:
        load_values(files, packages=packages, **{**for_values, "sets": [*arguments["sets"], *chosen[0].sets()]})
    except ValuesError as error:
        # An axis whose key there is not would be told once for every job.
        unknown = [each for each in error.problems if each.message == "unknown key"]
        if unknown:
            raise ValuesError(unknown) from None

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
            lambda: explained(files, {**arguments, "sets": sets}),
            dump,
        )

    return chosen, name, processes.ordered(job, chosen)
