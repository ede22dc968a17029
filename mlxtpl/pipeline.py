"""The flow from values files to a checked manifest, one arrow after the other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from mlxtpl import yamlio
from mlxtpl.errors import LayerError, LintError, MergeError, Place, Problem, Source
from mlxtpl.layers import render_layers
from mlxtpl.linter import problems
from mlxtpl.manifest import Manifest
from mlxtpl.values import Packages, Values, load_values


def render(
    files: Sequence[Source],
    sets: Sequence[tuple[str, str]] = (),
    *,
    package_path: Path | None = None,
    layer_paths: Sequence[Path] = (),
    overlay_paths: Sequence[Path] = (),
    packages: Packages | None = None,
    linted: bool = True,
) -> tuple[Manifest, list[Problem]]:
    """Render values files, merged left to right, to a manifest.

    Args:
        files: the values files, read.
        sets: `(option, text)` pairs, such as `("set", "resources.gpus=8")`.
        package_path: a package other than the values' own.
        layer_paths: further layers.
        overlay_paths: kustomization directories, applied after the values' own.
        packages: a dict that keeps loaded packages for the next call.
        linted: ask the rules.

    Returns:
        the manifest, and the warnings of the rules.

    Raises:
        MlxtplError: the error of the arrow that found the input wrong; a LintError when a rule found an error.
    """
    values = load_values(files, sets, package_path=package_path, layer_paths=layer_paths, packages=packages)
    try:
        manifest = render_layers(values)
    except (LayerError, MergeError) as error:
        raise type(error)([_from(each, values.name) for each in error.problems]) from None
    directories = [*overlays_of(values), *((path, None) for path in overlay_paths)]
    if directories:
        from mlxtpl.overlays import apply_overlays

        resources = apply_overlays(
            manifest, directories, lambda source: render([source], packages=packages, linted=False)[0]
        )
        manifest = [each.obj for each in resources]
    return manifest, check(manifest, values.name, ignored(values)) if linted else []


def build(root: Path, *, linted: bool = True) -> tuple[Manifest, list[Problem]]:
    """The objects of a kustomization directory; values files among its resources are rendered.

    Args:
        linted: ask the rules.

    Returns:
        the manifest, and the warnings of the rules.

    Raises:
        MlxtplError: the directory, or what it names, is wrong; or a rule found an error.
    """
    from mlxtpl import overlays

    packages: Packages = {}
    waived: set[str] = set()

    def rendered(source: Source) -> Manifest:
        waived.update(ignored(load_values([source], packages=packages)))
        return render([source], packages=packages, linted=False)[0]

    resources = overlays.build(root, rendered)
    manifest = [each.obj for each in resources]
    return manifest, check(manifest, str(root), waived) if linted else []


def ignored(values: Values) -> frozenset[str]:
    """The ids of the rules that the values waive (`lint.ignore`). A render knows no date: it takes no heed of `until`."""
    lint = values.tree.get("lint") or {}
    return frozenset(lint.get("ignore") or {})


def overlays_of(values: Values) -> list[tuple[Path, Place | None]]:
    """The directories that the values name in `overlays`, each relative to the file that wrote it."""
    listed = values.nodes.items.get("overlays")
    nodes = listed[1].items if listed and isinstance(listed[1], yamlio.Sequence) else []
    return [(Path(node.source.directory, node.text), node.place) for node in nodes if isinstance(node, yamlio.Scalar)]


def check(manifest: Manifest, name: str, waived: Collection[str] = ()) -> list[Problem]:
    """The warnings of the rules; `name` is the values file that the manifest was rendered from.

    Raises:
        LintError: with every error that a rule found.
    """
    found = [_from(each, name) for each in problems(manifest, waived)]
    errors = [each for each in found if each.level == "error"]
    if errors:
        raise LintError(errors)
    return found


def _from(problem: Problem, name: str) -> Problem:
    """The problem with the values file that led to it."""
    return problem._replace(notes=(*problem.notes, ("from", name)))
