"""`mlxtpl render PATH…`: values files in, manifests out; on one stream, into a directory, or compared with one."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from mlxtpl.cli.options import further_files, read_path, render_arguments, values_arguments, values_options
from mlxtpl.cli.output import PROGRESS_FROM, show_error, show_warnings, write


@click.command("render")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@values_options
@click.option("-o", "--output", metavar="DIR", help="Write one file for each job into DIR; only files that differ.")
@click.option("--check", metavar="DIR", help="Compare with the files in DIR: exit code 1 and a diff when they differ.")
@click.option(
    "--matrix", metavar="KEY=V1,V2", multiple=True, help="One job for each value (1..3 is a range), or a file."
)
@click.option(
    "--max", "limit", type=click.IntRange(1), default=1000, show_default=True, help="The most jobs of a matrix."
)
@click.option("--list", "only_list", is_flag=True, help="Show the jobs of a matrix, render none.")
@click.option("--no-lint", is_flag=True, help="Do not ask the rules: print what they would stop.")
@click.option("--explain", "explained", is_flag=True, help="Say after each field where it came from.")
@click.option("--format", "form", type=click.Choice(["yaml", "json"]), default="yaml", help="The form of the output.")
def command(paths: tuple[str, ...], form: str, *, only_list: bool, limit: int, explained: bool, **options: Any) -> int:
    """Render values files to manifests.

    A PATH is a values file, a directory of them (partials, _*.yaml, are left out) or - for standard input.
    """
    if options["output"] and options["check"]:
        raise click.UsageError("-o and --check exclude each other")
    if form == "json" and (options["output"] or options["check"]):
        raise click.UsageError("--format json is for standard output")
    if explained:
        if form == "json" or any(options[name] for name in ("output", "check", "matrix")):
            raise click.UsageError("--explain prints YAML: it takes no -o, --check, --matrix or --format json")
        return _explained(paths, options)
    if options["matrix"]:
        return _sweep(paths, form, options, limit=limit, only_list=only_list)
    if only_list:
        raise click.UsageError("--list goes with --matrix")
    from mlxtpl import batch

    files = batch.expand(paths)
    jobs = batch.render_files(files, read_path, further_files(options), _arguments(options), _dump(form))
    return _finish(jobs, len(files), form, options)


def _arguments(options: dict[str, Any]) -> dict[str, Any]:
    return {**render_arguments(options), "linted": not options["no_lint"]}


def _explained(paths: tuple[str, ...], options: dict[str, Any]) -> int:
    from mlxtpl import batch, explain, pipeline, places
    from mlxtpl.errors import LintError
    from mlxtpl.values import load_values
    from mlxtpl.yamldump import dump

    texts = []
    for path in batch.expand(paths):
        if path != "-" and Path(path).is_dir():
            manifest, fields = explain.explain_directory(Path(path))
            waived: frozenset[str] = frozenset()
        else:
            values = load_values([read_path(path), *further_files(options)], **values_arguments(options))
            manifest, fields = explain.explain(values, render_arguments(options)["overlay_paths"])
            waived = pipeline.ignored(values)
        if not options["no_lint"]:
            try:
                pipeline.check(manifest, path, waived)
            except LintError as error:
                raise LintError(places.located(error.problems, manifest, fields)) from None
        texts.append(dump(manifest, explain.comments(fields)))
    write("---\n".join(texts))
    return 0


def _sweep(paths: tuple[str, ...], form: str, options: dict[str, Any], *, limit: int, only_list: bool) -> int:
    from mlxtpl import matrix, outputs, sweep

    if len(paths) != 1 or Path(paths[0]).is_dir():
        raise click.UsageError("--matrix takes one values file")
    files = [read_path(paths[0]), *further_files(options)]
    axes = matrix.read_options(options["matrix"])
    chosen, name, jobs = sweep.render_matrix(files, axes, limit, _arguments(options), _dump(form))
    rows = [(name + each.suffix, each.coordinates, f"{name}{each.suffix}.yaml") for each in chosen]
    table, data = sweep.index(rows)
    if only_list:
        write(data if form == "json" else table)
        return 0
    code = _finish(jobs, len(chosen), form, options)
    if options["output"] and code == 0:
        for file, text in (("index.csv", table), ("index.json", data)):
            outputs.write_file(Path(options["output"]), file, text, manifest=False)
    return code


def _finish(jobs: Iterable[Any], count: int, form: str, options: dict[str, Any]) -> int:
    """Write, compare or print the jobs; every error is told, good files are written all the same."""
    from mlxtpl import batch, outputs

    failed = False
    rendered = []
    ids: list[Any] = []
    texts: dict[str, str] = {}
    directory = Path(options["output"] or options["check"] or ".")
    if options["output"]:
        outputs.make_directory(directory)
    shown = count > PROGRESS_FROM and sys.stderr.isatty()
    with click.progressbar(jobs, length=count, file=sys.stderr) if shown else contextlib.nullcontext(jobs) as bar:
        for each in bar:
            show_warnings(each.warnings)
            if each.error is not None:
                show_error(each.error)
                failed = True
            elif options["output"]:
                ids.append(each._replace(text=""))
                outputs.write_file(directory, each.file, each.text)
            elif options["check"]:
                texts[each.file] = each.text
            else:
                rendered.append(each)
    show_warnings(batch.same_ids(ids))
    if failed:
        return 1
    if options["check"]:
        return _show_differences(directory, texts)
    if not options["output"]:
        batch.check_ids(rendered)
        texts_of = [each.text for each in rendered]
        write(_json(texts_of) if form == "json" else "---\n".join(texts_of))
    return 0


def _show_differences(directory: Path, texts: dict[str, str]) -> int:
    from mlxtpl import outputs

    found = list(outputs.differences(directory, texts))
    for name, what, diff in found:
        print(f"{directory / name}: {what}", file=sys.stderr)
        write(diff)
    return 1 if found else 0


def _dump(form: str) -> Callable[[list[dict[str, Any]]], str]:
    from mlxtpl.yamldump import dump

    return json.dumps if form == "json" else dump


def _json(manifests: list[str]) -> str:
    # kubectl takes one JSON document: several objects are a List.
    objects = [obj for each in manifests for obj in json.loads(each)]
    data = objects[0] if len(objects) == 1 else {"apiVersion": "v1", "kind": "List", "items": objects}
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
