"""The flow from values files to a checked manifest, one arrow after the other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mlxtpl.errors import LayerError, LintError, MergeError, Problem, Source
from mlxtpl.layers import render_layers
from mlxtpl.linter import lint
from mlxtpl.manifest import Manifest
from mlxtpl.values import Packages, load_values


def render(
    files: Sequence[Source],
    sets: Sequence[tuple[str, str]] = (),
    *,
    package_path: Path | None = None,
    layer_paths: Sequence[Path] = (),
    packages: Packages | None = None,
) -> Manifest:
    """Render values files, merged left to right, to a manifest.

    Args:
        files: the values files, read.
        sets: `(option, text)` pairs, such as `("set", "resources.gpus=8")`.
        package_path: a package other than the values' own.
        layer_paths: further layers.
        packages: a dict that keeps loaded packages for the next call.

    Raises:
        MlxtplError: the error of the arrow that found the input wrong.
    """
    values = load_values(files, sets, package_path=package_path, layer_paths=layer_paths, packages=packages)
    try:
        manifest = render_layers(values)
    except (LayerError, MergeError) as error:
        raise type(error)([_from(each, values.name) for each in error.problems]) from None
    check(manifest, values.name)
    return manifest


def check(manifest: Manifest, name: str) -> None:
    """Stop at a manifest that a rule finds an error in; `name` is the values file that it was rendered from.

    Raises:
        LintError: with every such problem.
    """
    problems = [each for each in lint(manifest) if each.level == "error"]
    if problems:
        raise LintError([_from(each, name) for each in problems])


def warnings(manifest: Manifest, name: str) -> list[Problem]:
    """What the rules advise against, for a manifest that was rendered from the values file `name`."""
    return [_from(each, name) for each in lint(manifest) if each.level == "warning"]


def _from(problem: Problem, name: str) -> Problem:
    """The problem with the values file that led to it."""
    return problem._replace(notes=(*problem.notes, ("from", name)))
