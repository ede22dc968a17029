"""`mlxtpl explain PATH [FIELD]`: where each field of the manifest came from."""

from __future__ import annotations

from typing import Any

import click

from mlxtpl.cli.options import further_files, read_path, render_arguments, values_options
from mlxtpl.cli.output import write


@click.command("explain")
@click.argument("path", metavar="PATH")
@click.argument("field", metavar="[FIELD]", required=False)
@values_options
@click.option("--unused", is_flag=True, help="List values that are set and change nothing.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="The form of the output.")
def command(path: str, field: str | None, form: str, *, unused: bool, **options: Any) -> int:
    """Show the origin of each field of a manifest, of those below FIELD, or of a field that was removed.

    A FIELD is a path such as spec.template.spec.containers[main].env[NCCL_DEBUG].value, a part of one, or a values key
    such as args.lr, for the fields that come from it.
    """
    import json

    from mlxtpl import explain, fields, schema
    from mlxtpl.errors import Problem, ValuesError
    from mlxtpl.values import load_values

    if unused and field:
        raise click.UsageError("--unused takes no FIELD")
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
    _, explained = explain.explain(load_values(files, **arguments))
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
