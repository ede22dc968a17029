"""Manifests → the files of a project: a values file each, what they share in `_base.yaml`, other objects beside."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mlxtpl import documents, explain, kinds, kube_schema, linter, places, yamlio
from mlxtpl.errors import Place, Problem, Source, ValuesError
from mlxtpl.fields import text, walk
from mlxtpl.import_companions import files_of
from mlxtpl.importer import Imported, import_job
from mlxtpl.live_export import cleaned
from mlxtpl.manifest import Finding, Object, Subject, object_id
from mlxtpl.rules import missing_field, unknown_field, wrong_type
from mlxtpl.yamldump import dump, dump_tree

__all__ = ["BASE", "OTHERS", "Import", "import_manifests", "text", "walk"]

BASE, OTHERS = "_base.yaml", "_resources.yaml"  # no job has such a name
_JOBS = ("Job", "PyTorchJob")
_WORTH_A_BASE = 3  # keys that all jobs have in common
_COMMENT = re.compile(r"^[\s,\]}]*(#.*)$")


class Import(NamedTuple):
    """What an import comes to.

    Attributes:
        files: name → text.
        added: values file → what its render has beyond the manifest, as (field, value).
        others: ids of the objects that pass through as they are.
        replaced: names of the ConfigMaps that became the values key `files`.
    """

    files: dict[str, str]
    added: dict[str, tuple[tuple[str, Any], ...]]
    others: list[str]
    replaced: list[str]


class _Given(NamedTuple):
    obj: Object
    node: yamlio.Node


def import_manifests(sources: Sequence[Source], *, exact: bool = False, split: bool = False) -> Import:
    """Turn the Jobs and PyTorchJobs of manifests into values files.

    Args:
        exact: each render has to be the same manifest; else it may have what the platform asks for, too.
        split: no `_base.yaml` of what several jobs have in common.

    Raises:
        ValuesError: a file holds none, Kubernetes would refuse one, two have one name, or one cannot be written so.
    """
    given = [each for source in sources for each in _read(source)]
    jobs = [each for each in given if each.obj.get("kind") in _JOBS and kinds.find_kind(each.obj)]
    if not jobs:
        told = ", ".join(object_id(each.obj) for each in given) or "nothing"
        raise ValuesError(Problem(f"must have a Job or a PyTorchJob, found {told}", sources[0].name))
    _check(jobs)
    config_maps = {str(_name(each.obj)): each.obj for each in given if each.obj.get("kind") == "ConfigMap"}
    replaced: list[str] = []
    imported: dict[str, tuple[_Given, Imported]] = {}
    problems: list[Problem] = []
    for each in jobs:
        obj, files, names = (each.obj, {}, []) if exact else files_of(each.obj, config_maps)
        try:
            made = import_job(obj, files, exact=exact)
            imported[f"{made.values['name']}.yaml"] = (each, made)
            replaced += names
        except ValuesError as error:
            problems += [problem._replace(place=problem.place or each.node.place) for problem in error.problems]
    if problems:
        raise ValuesError(problems)
    trees = _with_base({name: made.values for name, (_, made) in imported.items()}, split=split)
    texts = _commented({name: dump_tree(tree) for name, tree in trees.items()}, imported)
    others = [
        each
        for each in given
        if each not in jobs and not (each.obj.get("kind") == "ConfigMap" and _name(each.obj) in replaced)
    ]
    if others:
        texts[OTHERS] = dump([cleaned(each.obj) for each in others])
    added = {name: made.added for name, (_, made) in imported.items()}
    return Import(texts, added, [object_id(each.obj) for each in others], replaced)


def _read(source: Source) -> list[_Given]:
    read = documents.read(source)
    if read.values:
        raise ValuesError(Problem("is a values file already", source.name))
    if read.problems:
        raise ValuesError(read.problems)
    return [_Given(obj, node) for obj, node in zip(read.objects, read.nodes, strict=True)]


def _check(jobs: Sequence[_Given]) -> None:
    """Stop at what Kubernetes would not take, and at two jobs of one name."""
    objects = [each.obj for each in jobs]
    locate = places.in_nodes([each.node for each in jobs])
    subject = Subject(objects, faults=kube_schema.faults(objects, kube_schema.VERSIONS[-1]))
    problems = []
    for rule, finding in linter.lint(subject, (wrong_type, missing_field, unknown_field)):
        problem = linter.problem_of(rule, finding, objects)
        problems.append(problem._replace(place=locate(finding), hint=problem.hint or "mlxtpl lint --fix may mend it"))
    names: dict[str, str] = {}
    for each in jobs:
        name = str(_name(each.obj))
        if names.setdefault(name, object_id(each.obj)) != object_id(each.obj) or names[name] in names:
            problems.append(Problem(f'two jobs have the name "{name}"', object_id(each.obj), each.node.place))
        names[object_id(each.obj)] = name
    if problems:
        raise ValuesError(problems)


def _name(obj: Object) -> Any:
    metadata = obj.get("metadata")
    return metadata.get("name") if isinstance(metadata, dict) else None


def _with_base(trees: Mapping[str, dict[str, Any]], *, split: bool) -> dict[str, dict[str, Any]]:
    """The trees with what all have in common in a base that they extend, when that is worth it."""
    first, *rest = trees.values()
    common = first
    for each in rest:
        common = _shared(common, each)
    if not rest or split or len(common) < _WORTH_A_BASE:
        return dict(trees)
    return {BASE: common, **{name: {"extends": BASE, **_beyond(tree, common)} for name, tree in trees.items()}}


def _shared(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in one.items():
        if isinstance(value, dict) and isinstance(other.get(key), dict):
            inner = _shared(value, other[key])
            if inner:
                found[key] = inner
        elif key in other and other[key] == value and value is not None:
            found[key] = value
    return found


def _beyond(tree: dict[str, Any], common: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for key, value in tree.items():
        if key not in common:
            found[key] = value
        elif isinstance(value, dict) and isinstance(common[key], dict):
            inner = _beyond(value, common[key])
            if inner:
                found[key] = inner
    return found


# --- proof and comments ------------------------------------------------------------------------


def _commented(files: dict[str, str], jobs: Mapping[str, tuple[_Given, Imported]]) -> dict[str, str]:
    """The files with the comments of the manifests, each at the value that its field comes from.

    The files are written to a folder of their own and rendered, which is the proof that they say what they should.
    """
    comments: dict[tuple[str, int], list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        for name, (job, imported) in jobs.items():
            source = yamlio.read_source(Path(folder, name), name)._replace(directory=folder)
            manifest, explained = explain.explain_files([source], {})
            if manifest[-1] != imported.manifest:
                raise ValuesError(Problem("the values do not render the manifest", name))
            kind = kinds.find_kind(manifest[-1])
            lists = kind.lists if kind else {}
            place_of = {each.field: each.origins[0].place for each in explained if each.origins and not each.removed}
            for field, comment in _comments(job, lists):
                place = place_of.get(field)
                if place is not None and Path(place.source.name).name in files:
                    comments.setdefault((Path(place.source.name).name, place.line), []).append(comment)
    return {name: _written(name, text, comments) for name, text in files.items()}


def _comments(job: _Given, lists: Any) -> Iterator[tuple[Any, str]]:
    """(field, comment) of each scalar with a comment behind it, or on the lines above its key."""
    locate = places.in_nodes([job.node])
    told: set[int] = set()
    for field, path, _ in walk(job.obj, lists):
        value, key = locate(Finding("", 0, path)), locate(Finding("", 0, path, key=True))
        if value is None or key is None:
            continue
        behind = _COMMENT.match(value.text()[value.column - 1 + value.length :])
        above = [] if key.line in told else list(_above(key))
        told.add(key.line)
        for comment in (*above, *([behind[1]] if behind else [])):
            yield field, comment


def _above(place: Place) -> list[str]:
    found: list[str] = []
    line = place.line - 1
    while line > 0 and (text := place._replace(line=line).text().strip()).startswith("#"):
        found.insert(0, text)
        line -= 1
    return found


def _written(name: str, text: str, comments: Mapping[tuple[str, int], list[str]]) -> str:
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        told = list(dict.fromkeys(comments.get((name, number), [])))
        indent = line[: len(line) - len(line.lstrip())]
        lines += [f"{indent}{each}" for each in told]
        lines.append(line)
    return "\n".join(lines) + "\n"
