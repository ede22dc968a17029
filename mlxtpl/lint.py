"""PATHs → problems: what the rules and the schema find in values files, kustomization directories and manifests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mlxtpl import documents, explain, kube_schema, linter, overlays, pipeline, places, processes, waivers, yamlio
from mlxtpl.documents import Input
from mlxtpl.errors import MlxtplError, Problem, Source
from mlxtpl.kustomization import load_kustomization
from mlxtpl.manifest import Edit, Finding, Manifest, Subject
from mlxtpl.places import Locate
from mlxtpl.rules import RULES, Rule
from mlxtpl.values import Values, load_values
from mlxtpl.waivers import Waiver

_WAIVERS = """## Forms  # mlxtpl: ignore[rule-id] reason                   at the end of a line, above it, or above the whole file
          # mlxtpl: ignore[rule-id] until 2026-12-31 reason  the last day
          lint: {ignore: {rule-id: {reason: …, until: 2026-12-31}}}  in a values file"""
# What is told under a name although no rule finds it: id → what it means.
OTHERS = {
    "unreadable": ("error", "A file, or a document of it, is no YAML that Kubernetes or mlxtpl could read."),
    "not-rendered": ("error", "A values file or a kustomization directory does not render."),
    "not-checked": ("info", "A path holds nothing that can be checked."),
    waivers.UNUSED: (
        "warning",
        f"A waiver waives nothing, names a rule that does not exist, or is misspelt.\n\n{_WAIVERS}",
    ),
    waivers.EXPIRED: ("warning", f"A waiver is over: the day of its `until` has passed.\n\n{_WAIVERS}"),
}
# Of a rendered manifest, what mlxtpl itself decided to write, as the platform's guide does.
_OURS = ("deprecated-nproc",)
# Silent as long as the driver of the nodes is not known.
_WANT_DRIVER = ("image-newer-than-driver", "driver-compat-mode")


def documented() -> dict[str, tuple[str, str]]:
    """Rule → its level and its documentation."""
    return {**{rule.ID: (rule.LEVEL, (rule.__doc__ or "").strip()) for rule in RULES}, **OTHERS}


class Options(NamedTuple):
    """How to lint.

    Attributes:
        today: the day that `until` of a waiver is compared with, as YYYY-MM-DD.
        driver: the version of the nodes' NVIDIA driver; else a values file's `lint.driver`.
        version: of Kubernetes.
        more, arguments: files that are merged over each values file, and what `pipeline.render` takes beside files.
    """

    today: str
    driver: str = ""
    version: str = kube_schema.DEFAULT
    more: Sequence[Source] = ()
    arguments: Mapping[str, Any] = {}


class Found(NamedTuple):
    """One problem under the rule that found it.

    Attributes:
        file: where it stands, or the path that was linted.
        edits: what mends it in a manifest that was written by hand, each with the number of its object.
    """

    rule: str
    problem: Problem
    file: str
    edits: tuple[tuple[int, Edit], ...] = ()


class Linted(NamedTuple):
    """What linting one file or directory came to."""

    path: str
    found: tuple[Found, ...] = ()
    objects: int = 0
    waived: int = 0


def lint(inputs: Sequence[Input], read: Callable[[str], Source], options: Options) -> Iterator[Linted]:
    """Lint each input, in order; an unreadable one does not stop the others.

    Args:
        inputs: of `documents.expand`.
        read: how a file, or `-`, is read.
    """
    return processes.ordered(lambda each: _lint(each, read, options), inputs)


def lint_source(source: Source, options: Options, *, named: bool = True) -> Linted:
    """Lint a file that was read."""
    return _checked(source.name, lambda: _lint_source(source, options, named=named))


def _lint(given: Input, read: Callable[[str], Source], options: Options) -> Linted:
    if given.kind == "skipped":
        hint = _HINT if "Helm" in given.note else ""
        note = Problem(f"{given.note}: not checked", given.path, hint=hint, level="error" if given.named else "info")
        return Linted(given.path, (Found("not-checked", note, given.path),))
    if given.kind == "directory":
        return _checked(given.path, lambda: _lint_directory(given, options))
    return _checked(given.path, lambda: _lint_source(read(given.path), options, named=given.named))


_HINT = "lint what it renders: helm template CHART | mlxtpl lint -"


def _checked(path: str, work: Callable[[], Linted]) -> Linted:
    """The work's result; an error becomes problems."""
    try:
        return work()
    except MlxtplError as error:
        rule = "unreadable" if error.stage == "yaml" else "not-rendered"
        return Linted(path, tuple(_as_found(each, rule, path) for each in error.problems))


def _as_found(problem: Problem, rule: str, path: str) -> Found:
    place = problem.place
    if place is None:
        return Found(rule, problem, path)
    # Of ten thousand files not every text is kept, only the line that is shown.
    line = Source(place.source.name, "\n" * (place.line - 1) + place.text())
    file = path if line.name.startswith("-") else line.name
    return Found(rule, problem._replace(place=place._replace(source=line)), file)


def _lint_source(source: Source, options: Options, *, named: bool) -> Linted:
    read = documents.read(source, named=named)
    if read.values:
        return _lint_values(source, options)
    others = [_as_found(each, "unreadable", source.name) for each in read.problems]
    others += [_as_found(each, "not-checked", source.name) for each in read.notes]
    if read.objects and (options.more or any(options.arguments.values())):
        note = Problem(
            "is a manifest: options for values (-f, --set …) have no effect on it", source.name, level="info"
        )
        others.append(_as_found(note, "not-checked", source.name))
    linted = _judged(
        source.name,
        list(read.objects),
        lambda: places.in_nodes(read.nodes),
        waivers.in_comments(source),
        options,
        by_hand=True,
    )
    return linted._replace(found=_sorted([*others, *linted.found]))


def _lint_values(source: Source, options: Options) -> Linted:
    files = [source, *options.more]
    values = load_values(files, **{key: each for key, each in options.arguments.items() if key != "overlay_paths"})
    manifest, _ = pipeline.render(files, linted=False, **options.arguments)
    own = [*waivers.in_comments(source), *waivers.in_values(values.tree, values.nodes)]
    return _judged(
        source.name,
        manifest,
        lambda: places.in_values(*explain.explain_files(files, options.arguments)),
        own,
        _with_driver(options, [values]),
    )


def _lint_directory(given: Input, options: Options) -> Linted:
    root = Path(given.path)
    kustomization = load_kustomization(root)
    if kustomization.fields.get("kind") == "Component" and not given.named:
        note = Problem("is a component: it is checked with what uses it", given.path, level="info")
        return Linted(given.path, (Found("not-checked", note, given.path),))
    rendered: list[Values] = []

    def render(source: Source) -> Manifest:
        rendered.append(load_values([source]))
        return pipeline.render([source], linted=False)[0]

    manifest = [each.obj for each in overlays.build(root, render)]
    own = waivers.in_comments(yamlio.read_source(Path(kustomization.shown)))
    own += [each for values in rendered for each in waivers.in_values(values.tree, values.nodes)]
    return _judged(
        given.path,
        manifest,
        lambda: places.in_values(*explain.explain_directory(root)),
        own,
        _with_driver(options, rendered),
    )


def _with_driver(options: Options, found: Sequence[Values]) -> Options:
    drivers = [str((each.tree.get("lint") or {}).get("driver") or "") for each in found]
    return options if options.driver else options._replace(driver=next((each for each in drivers if each), ""))


def _judged(
    path: str,
    manifest: Manifest,
    locate: Callable[[], Locate],
    own: Sequence[Waiver],
    options: Options,
    *,
    by_hand: bool = False,
) -> Linted:
    """The problems of a manifest that no waiver is for.

    Args:
        locate: makes what finds places; asked only when there is something to find.
        own: the waivers of what was linted itself.
        by_hand: the manifest was written by hand, so that edits of it are edits of the user's file.
    """
    subject = Subject(manifest, options.driver, kube_schema.faults(manifest, options.version))
    told = [each for each in linter.lint(subject) if by_hand or each[0].ID not in _OURS]
    problems = _placed(told, manifest, locate() if told else None)
    used: set[Waiver] = set()
    read: dict[str, list[Waiver]] = {}
    found = []
    for (rule, finding), problem in zip(told, problems, strict=True):
        hits = [each for each in own if _is_for(each, rule.ID, problem)]
        source = problem.place.source if problem.place is not None else None
        if source is not None and source.name not in (path, *(each.place.source.name for each in own)):
            if source.name not in read:
                read[source.name] = waivers.in_comments(source)
            hits += [each for each in read[source.name] if waivers.waives(each, rule.ID, problem.place)]
        used.update(hits)
        if all(waivers.expired(each, options.today) for each in hits):
            edits = tuple((finding.number, each) for each in finding.edits) if by_hand else ()
            found.append(_as_found(problem, rule.ID, path)._replace(edits=edits))
    waived = len(told) - len(found)
    silent = () if options.driver else _WANT_DRIVER
    judged = [each for each in own if each.rule not in silent]
    faults = waivers.faults(judged, used, options.today, [*(rule.ID for rule in RULES), *OTHERS])
    found += [_as_found(each, dict(each.notes)["rule"], path) for each in faults]
    return Linted(path, _sorted(_merged(found)), len(manifest), waived)


def _is_for(waiver: Waiver, rule: str, problem: Problem) -> bool:
    """A comment about a line is for what stands there; all others are for whatever was linted."""
    place = problem.place
    if waiver.line and (place is None or place.source.name != waiver.place.source.name):
        return False
    return waivers.waives(waiver, rule, place)


def _placed(told: Sequence[tuple[Rule, Finding]], manifest: Manifest, locate: Locate | None) -> list[Problem]:
    """The findings as problems with their places; values that are secrets are nowhere shown."""
    found, secrets = [], []
    for rule, finding in told:
        place = locate(finding) if locate is not None else None
        found.append(linter.problem_of(rule, finding, manifest)._replace(place=place))
        if finding.secret:
            whole = finding.secret is True
            secrets.append(_value(manifest[finding.number], finding.path) if whole else finding.secret)
    return places.masked(found, secrets)


def _value(tree: Any, path: Iterable[Any]) -> Any:
    for step in path:
        tree = tree[step]
    return tree


def _merged(found: Sequence[Found]) -> list[Found]:
    """What one line of values does to several pods is one problem, which says where else it shows."""
    seen: dict[Any, int] = {}
    kept: list[Found] = []
    for each in found:
        key = (each.rule, each.problem.place, each.problem.message)
        if each.problem.place is None or key not in seen or each.edits:
            seen.setdefault(key, len(kept))
            kept.append(each)
        else:
            first = kept[seen[key]]
            notes = (*first.problem.notes, ("also", each.problem.where))
            kept[seen[key]] = first._replace(problem=first.problem._replace(notes=notes))
    return kept


def _sorted(found: Iterable[Found]) -> tuple[Found, ...]:
    """In the order of the file; what has no place comes first."""

    def key(each: Found) -> tuple[str, int, int]:
        place = each.problem.place
        return (each.file, 0, 0) if place is None else (each.file, place.line, place.column)

    return tuple(sorted(found, key=key))
