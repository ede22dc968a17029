"""Options that several commands share: values files, `--set` and its kin, packages and layers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from mlxtpl.errors import Problem, Source, YamlError
from mlxtpl.values import read_values
from mlxtpl.yamlio import MAX_BYTES

_F = TypeVar("_F", bound=Callable[..., Any])
# In the order in which they are applied, which is Helm's.
_SETS = {
    "set-json": ("KEY=JSON", "Set a value from JSON; a map merges."),
    "set": ("KEY=VALUE", "Set a value: a.b=c, list[0]=x, key={x,y}, key=null; several with commas."),
    "set-string": ("KEY=VALUE", "Set a value as text."),
    "set-file": ("KEY=PATH", "Set a value to the text of a file."),
}


def values_options(function: _F) -> _F:
    """`-f`, `--set*`, `--package` and `--layer`."""
    for decorate in (
        click.option("--overlay", "overlays", metavar="DIR", multiple=True, help="A kustomization directory to apply."),
        click.option("--layer", "layers", metavar="DIR", multiple=True, help="A further layer directory."),
        click.option("--package", metavar="DIR", help="A package other than the values' own."),
        *(click.option(f"--{name}", metavar=form, multiple=True, help=text) for name, (form, text) in _SETS.items()),
        click.option(
            "-f", "--values", "files", metavar="FILE", multiple=True, help="A values file to merge over PATH."
        ),
    ):
        function = decorate(function)
    return function


def read_path(path: str) -> Source:
    """A values file, or standard input for `-`.

    Raises:
        YamlError: it cannot be read.
    """
    if not path:
        raise click.UsageError("a PATH is empty")
    return read_values(path, _read_stdin)


def _read_stdin() -> bytes:
    if sys.stdin is None:  # the shell closed it
        raise YamlError(Problem("cannot read standard input: it is closed", "<stdin>"))
    try:
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise YamlError(Problem(f"cannot read standard input: {reason}", "<stdin>")) from None


def further_files(options: dict[str, Any]) -> list[Source]:
    """The files of `-f`, read.

    Raises:
        YamlError: one cannot be read.
    """
    return [read_path(each) for each in options["files"]]


def render_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """What `pipeline.render` takes beside files."""
    return {**values_arguments(options), "overlay_paths": [Path(each) for each in options["overlays"]]}


def values_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """What `values.load_values` takes beside files."""
    package = options["package"]
    if package == "" or "" in options["layers"]:
        raise click.UsageError("--package and --layer want a directory, found an empty text")
    return {
        "sets": [(name, text) for name in _SETS for text in options[name.replace("-", "_")]],
        "package_path": None if package is None else Path(package),
        "layer_paths": [Path(each) for each in options["layers"]],
    }
