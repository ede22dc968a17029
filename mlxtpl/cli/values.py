"""`mlxtpl values [PATH]`: every key with type, default and documentation, or the merged values of a file."""

from __future__ import annotations

from typing import Any

import click

from mlxtpl.cli.options import further_files, read_path, values_arguments, values_options
from mlxtpl.cli.output import write


@click.command("values")
@click.argument("path", metavar="[PATH]", required=False)
@values_options
@click.option("--explain", "explained", is_flag=True, help="With PATH: say after each value where it was written.")
@click.option("--schema", is_flag=True, help="Print a JSON Schema (2020-12) for editors.")
@click.option(
    "--format", "form", type=click.Choice(["text", "yaml", "json", "markdown"]), help="The form of the output."
)
def command(path: str | None, form: str | None, *, schema: bool, explained: bool, **options: Any) -> None:
    """List every values key with its type, default and documentation; with PATH, show the merged values of a file."""
    import json
    from pathlib import Path

    from mlxtpl import reference
    from mlxtpl.values import load_values
    from mlxtpl.yamldump import dump_tree

    if path is not None:
        if schema or form in ("text", "markdown"):
            raise click.UsageError(
                "with a PATH the form is yaml or json; --schema stands alone (--layer and --package add their keys)"
            )
        files = [read_path(path), *further_files(options)]
        values = load_values(files, **values_arguments(options))
        merged = reference.merged_values(values)
        if explained:
            _show_origins(values, merged, form)
            return
        write(json.dumps(merged, indent=2, ensure_ascii=False) + "\n" if form == "json" else dump_tree(merged))
        return
    if explained:
        raise click.UsageError("--explain goes with a PATH")
    package = reference.load(options["package"] and Path(options["package"]), [Path(p) for p in options["layers"]])
    if schema:
        write(json.dumps(reference.json_schema(package), indent=2, ensure_ascii=False) + "\n")
    elif form == "json":
        write(json.dumps(reference.key_list(package), indent=2, ensure_ascii=False) + "\n")
    elif form == "yaml":
        raise click.UsageError("without a PATH the form is text, json or markdown")
    elif form == "markdown":
        write(reference.markdown(package))
    else:
        import shutil

        write(reference.text(package, shutil.get_terminal_size((100, 24)).columns))


def _show_origins(values: Any, merged: Any, form: str | None) -> None:
    from mlxtpl import explain

    if form == "json":
        import json

        write(json.dumps(explain.values_data(values, merged), indent=2, ensure_ascii=False) + "\n")
        return
    from mlxtpl.origins import values_origins
    from mlxtpl.yamldump import dump_tree

    def comment(path: Any) -> str | None:
        place, over = values_origins(values, path)
        if place is None:
            return None
        return "".join(
            (str(place), *(f", over {explain.brief(each.spelling)} at {each.place}" for each in reversed(over)))
        )

    write(dump_tree(merged, comment))
