"""Many jobs in one call: several values files, directories of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mlxtpl import processes
from mlxtpl.errors import LintError, MlxtplError, OverlayError, Problem, Source, ValuesError
from mlxtpl.kustomization import is_kustomization
from mlxtpl.manifest import Manifest, object_id
from mlxtpl.pipeline import build, render
from mlxtpl.values import Packages


class Rendered(NamedTuple):
    """One job of many: its text, or the error that it ended in.

    Attributes:
        path: the values file.
        file: the name of its output file.
        ids: apiVersion and id of each object.
        warnings: what the rules advise against.
        coordinates: its place in the matrix; empty without one.
    """

    path: str
    file: str
    text: str = ""
    ids: tuple[tuple[str, str], ...] = ()
    warnings: tuple[Problem, ...] = ()
    error: MlxtplError | None = None
    coordinates: Mapping[str, str] = {}


Dump = Callable[[Manifest], str]


def rendered(
    job: Rendered,
    render: Callable[[], tuple[Manifest, list[Problem]]],
    trace: Callable[[], tuple[Manifest, list[Any]]],
    dump: Dump,
) -> Rendered:
    """The job with what rendering it came to.

    Args:
        render: gives the manifest and warnings.
        trace: renders again with origins, to find where that was written which a rule found fault with.
    """
    try:
        objects, warnings = render()
        ids = tuple((str(obj["apiVersion"]), object_id(obj)) for obj in objects)
        return job._replace(text=dump(objects), ids=ids, warnings=tuple(_located(warnings, trace)))
    except LintError as error:
        return job._replace(error=LintError(_located(error.problems, trace)))
    except MlxtplError as error:
        return job._replace(error=error)


def _located(problems: Sequence[Problem], trace: Callable[[], tuple[Manifest, list[Any]]]) -> list[Problem]:
    if not problems:
        return []
    from mlxtpl import places

    return places.located(problems, *trace())


def expand(paths: Sequence[str]) -> list[str]:
    """Values files: a directory stands for all of its `*.yaml` and `*.yml` but partials (`_…`), by name.

    Raises:
        ValuesError: a directory has no values file, or two files would get the same output file.
    """
    found: list[str] = []
    for path in paths:
        if not path:
            raise ValuesError(Problem("a PATH is empty"))
        if path == "-" or not Path(path).is_dir() or is_kustomization(Path(path)):
            found.append(path)
            continue
        with os.scandir(path) as entries:
            names = sorted(
                each.name
                for each in entries
                if each.name.endswith((".yaml", ".yml")) and each.name[0] not in "_." and each.is_file()
            )
        if not names:
            raise ValuesError(Problem("the directory has no values file", path, hint="partials (_*.yaml) do not count"))
        found += [str(Path(path) / name) for name in names]
    if len(found) > 1 and "-" in found:
        raise ValuesError(Problem("standard input cannot be one of several values files", "-"))
    stems: dict[str, str] = {}
    for path in found:
        other = stems.setdefault(_file(path), path)
        if other is not path:
            raise ValuesError(Problem(f"{other} and {path} would both become {_file(path)}", path))
    return found


def render_files(
    paths: Sequence[str],
    read: Callable[[str], Source],
    more: Sequence[Source],
    arguments: Mapping[str, Any],
    dump: Dump,
) -> Iterator[Rendered]:
    """Render each path by itself, with the same further files and options.

    Args:
        read: how a path is read.
        more: files that are merged over each.
        arguments: what `pipeline.render` takes beside files.
        dump: how a manifest becomes text.

    Yields:
        a Rendered each, in order; an error does not end the others.
    """
    packages: Packages = {}

    def job(path: str) -> Rendered:
        new = Rendered(path, _file(path))
        if path != "-" and Path(path).is_dir():
            return rendered(new, lambda: _built(path, more, arguments), lambda: _explained_directory(Path(path)), dump)
        try:
            files = [read(path), *more]
        except MlxtplError as error:
            return new._replace(error=error)
        return rendered(
            new, lambda: render(files, packages=packages, **arguments), lambda: explained(files, arguments), dump
        )

    return processes.ordered(job, paths)


def explained(files: Sequence[Source], arguments: Mapping[str, Any]) -> tuple[Manifest, list[Any]]:
    """The render again with origins; only a job that a rule finds fault with pays for it."""
    from mlxtpl import explain

    return explain.explain_files(files, arguments)


def _explained_directory(root: Path) -> tuple[Manifest, list[Any]]:
    from mlxtpl import explain

    return explain.explain_directory(root)


def _file(path: str) -> str:
    """The output file: a values file's own name, a directory's name."""
    directory = path != "-" and Path(path).is_dir()
    return f"{'stdin' if path == '-' else Path(path).resolve().name if directory else Path(path).stem}.yaml"


def _built(path: str, more: Sequence[Source], arguments: Mapping[str, Any]) -> tuple[Manifest, list[Problem]]:
    linted = arguments.get("linted", True)
    if more or any(value for key, value in arguments.items() if key != "linted"):
        hint = "they belong to values files; write them into the one that the directory names"
        raise OverlayError(Problem("takes no -f, --set, --package, --layer or --overlay", path, hint=hint))
    return build(Path(path), linted=linted)


def check_ids(jobs: Sequence[Rendered]) -> None:
    """Several jobs on one stream must not have an object of the same id.

    Raises:
        LintError: with every such object.
    """
    problems = [each._replace(level="error") for each in same_ids(jobs)]
    if problems:
        raise LintError(problems)


def same_ids(jobs: Sequence[Rendered]) -> list[Problem]:
    """Warnings of objects that two jobs have: applied one after the other, the later one wins."""
    owners: dict[tuple[str, str], str] = {}
    problems = []
    for each in jobs:
        for key in each.ids:
            other = owners.setdefault(key, each.file)
            if other != each.file:
                message = f"is rendered by {other} and by {each.file}"
                problems.append(Problem(message, key[1], hint="give the jobs different names", level="warning"))
    return problems
