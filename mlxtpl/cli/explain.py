"""`mlxtpl explain PATH [FIELD]`: where each field of the manifest came from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from mlxtpl.cli.options import further_files, read_path, render_arguments, values_arguments, values_options
from mlxtpl.cli.output import write
from mlxtpl.errors import Problem, ValuesError


@click.command("explain")
@click.argument("path", metavar="PATH")
@click.argument("field", metavar="[FIELD]", required=False)
@values_options
@click.option("--unused", is_flag=True, help="List values that are set and change nothing.")
@click.option("--trainjob", is_flag=True, help="Show what a TrainJob of Kubeflow Trainer v2 can carry of a PyTorchJob.")
@click.option("--pods", is_flag=True, help="Show the pods that the operator or the Job controller will create.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "svg"]), default="text", help="The form of the output."
)
def command(
    path: str, field: str | None, form: str, *, unused: bool, pods: bool, trainjob: bool, **options: Any
) -> int:
    """Show the origin of each field of a manifest, of those below FIELD, or of a field that was removed.

    A FIELD is a path such as spec.template.spec.containers[main].env[NCCL_DEBUG].value, a part of one, or a values key
    such as args.lr, for the fields that come from it.
    """
    from mlxtpl import explain, schema
    from mlxtpl.values import load_values

    if unused and field:
        raise click.UsageError("--unused takes no FIELD")
    if form == "svg" and not pods:
        raise click.UsageError("--format svg goes with --pods")
    if pods or trainjob:
        if field or unused or (pods and trainjob):
            raise click.UsageError("--pods and --trainjob stand alone, without a FIELD and --unused")
        return _pods(path, form, options) if pods else _trainjob(path, form, options)
    if path != "-" and Path(path).is_dir():
        if unused:
            raise click.UsageError("--unused takes a values file")
        _, explained = explain.explain_directory(Path(path))
        return _show(explained, path, field, form)
    files = [read_path(path), *further_files(options)]
    arguments = render_arguments(options)
    if unused:
        found = explain.unused(files, arguments)
        if form == "json":
            rows = [{"key": schema.dotted(key), "at": str(place)} for key, place in found]
            write(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
        else:
            write("".join(f"{schema.dotted(key)} at {place} changes nothing\n" for key, place in found))
        return 1 if found else 0
    values = load_values(files, **values_arguments(options))
    _, explained = explain.explain(values, arguments["overlay_paths"])
    return _show(explained, path, field, form)


def _pods(path: str, form: str, options: dict[str, Any]) -> int:
    from mlxtpl import effective_pods, pod_reports

    found = effective_pods.effective_pods(_manifest(path, options))
    if not found:
        raise ValuesError(Problem("has no Job and no PyTorchJob", path))
    if form == "json":
        write(json.dumps(pod_reports.as_data(found), indent=2, ensure_ascii=False) + "\n")
    else:
        write(pod_reports.as_svg(found) if form == "svg" else pod_reports.as_text(found))
    return 0


def _trainjob(path: str, form: str, options: dict[str, Any]) -> int:
    from mlxtpl import trainjob
    from mlxtpl.yamldump import dump

    found = trainjob.reports(_manifest(path, options))
    if not found:
        raise ValuesError(Problem("has no PyTorchJob", path))
    if form == "json":
        write(json.dumps([each._asdict() for each in found], indent=2, ensure_ascii=False) + "\n")
    else:
        write(trainjob.as_text(found, dump))
    return 0


def _manifest(path: str, options: dict[str, Any]) -> Any:
    """The objects of a kustomization directory, a values file, or a manifest."""
    from mlxtpl import documents, pipeline

    if path != "-" and Path(path).is_dir():
        return pipeline.build(Path(path), linted=False)[0]
    source = read_path(path)
    read = documents.read(source)
    if read.values:
        return pipeline.render([source, *further_files(options)], linted=False, **render_arguments(options))[0]
    if read.problems:
        raise ValuesError(read.problems)
    return list(read.objects)


def _show(explained: Sequence[Any], path: str, field: str | None, form: str) -> int:
    from mlxtpl import explain, fields

    if field:
        chosen = explain.below(explained, field)
        if not chosen:
            near = fields.nearest([each.field for each in explained], field)
            notes = tuple(("near", each) for each in near)
            hint = "" if near else fields.HINT
            raise ValuesError(Problem("the manifest has no such field", field, None, (("file", path), *notes), hint))
        explained = chosen
    if form == "json":
        write(json.dumps(explain.as_data(explained), indent=2, ensure_ascii=False) + "\n")
    else:
        write(explain.as_text(explained))
    return 0
