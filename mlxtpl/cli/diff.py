"""`mlxtpl diff A B`: two manifests, field by field."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from mlxtpl.cli.options import further_files, read_path, render_arguments, values_arguments, values_options
from mlxtpl.cli.output import is_coloured, write


@click.command("diff")
@click.argument("paths", metavar="A [B]", nargs=-1, required=True)
@click.option("--rev", metavar="REV", help="Compare A as it was in this git revision with A as it is.")
@values_options
@click.option("--explain", "explained", is_flag=True, help="Say where each field came from, on both sides.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="The form of the output.")
def command(paths: tuple[str, ...], rev: str | None, form: str, *, explained: bool, **options: Any) -> int:
    """Compare two values files, overlays or manifests, or one with a git revision of itself.

    Exit code 0 when they are the same, 1 when not. The options for values go to every values file.
    """
    from mlxtpl import diff, explain

    if len(paths) != (1 if rev else 2):
        raise click.UsageError("--rev takes one PATH" if rev else "compare two PATHs, or one with --rev")
    with tempfile.TemporaryDirectory(prefix="mlxtpl-diff-") as work:
        if rev:
            was = diff.at_revision(Path(paths[0]), rev, Path(work))
            before = {
                **options,
                **{name: [was(each) for each in options[name]] for name in ("files", "layers", "overlays")},
            }
            before["package"] = options["package"] and was(options["package"])
            old = _sides(was(paths[0]), before, explained=explained, shown=(work, rev))
            new = _sides(paths[0], options, explained=explained)
        else:
            old, new = (_sides(path, options, explained=explained) for path in paths)
    changes = diff.compare(old[0], new[0])
    if form == "json":
        write(json.dumps(diff.as_data(changes, old[1], new[1]), indent=2, ensure_ascii=False) + "\n")
    else:
        colours = {"+": "\033[32m", "-": "\033[31m", "~": "\033[33m"} if is_coloured(sys.stdout) else {}
        for sign, text in diff.as_text(changes, explain.shown, old[1], new[1]):
            colour = colours.get(sign, "")
            write(f"{colour}{sign or ' '} {text}{colour and chr(27) + '[0m'}\n")
    return 1 if changes else 0


def _sides(
    path: str, options: dict[str, Any], *, explained: bool, shown: tuple[str, str] = ("", "")
) -> tuple[list[dict[str, Any]], dict[Any, str]]:
    """One side: its objects, and with --explain where each field came from."""
    from mlxtpl import explain, overlays, pipeline, resources
    from mlxtpl.values import load_values

    found: list[explain.Explained] = []
    if path != "-" and Path(path).is_dir():
        if explained:
            manifest, found = explain.explain_directory(Path(path))
        else:
            manifest, _ = pipeline.build(Path(path))
    elif path != "-" and not overlays.is_values(Path(path)):
        manifest = [each.obj for each in resources.load_manifest(read_path(path))]
    else:
        files = [read_path(path), *further_files(options)]
        if explained:
            values = load_values(files, **values_arguments(options))
            manifest, found = explain.explain(values, render_arguments(options)["overlay_paths"])
        else:
            manifest, _ = pipeline.render(files, **render_arguments(options))
    work, rev = shown
    # An object may have another name on the other side: the field alone finds its origin then.
    origins = {
        (each.obj, each.field): each.origins[0].text().replace(f"{work}/", f"{rev}:")
        if work
        else each.origins[0].text()
        for each in found
        if each.origins and not each.removed
    }
    return manifest, origins
