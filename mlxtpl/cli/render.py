"""`mlxtpl render PATH`: one values file in, a manifest out."""

from __future__ import annotations

from typing import Any

import click

from mlxtpl.cli.options import values_arguments, values_options
from mlxtpl.cli.output import write


@click.command("render")
@click.argument("path", metavar="PATH")
@values_options
@click.option("--format", "form", type=click.Choice(["yaml", "json"]), default="yaml", help="The form of the output.")
def command(path: str, form: str, **options: Any) -> None:
    """Render the values file PATH (`-` for standard input) to a manifest on standard output."""
    from mlxtpl.pipeline import render
    from mlxtpl.yamldump import dump

    manifest = render(**values_arguments(path, options))
    if form == "json":
        import json

        # kubectl takes one JSON document: several objects are a List.
        data = manifest[0] if len(manifest) == 1 else {"apiVersion": "v1", "kind": "List", "items": manifest}
        write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    else:
        write(dump(manifest))
