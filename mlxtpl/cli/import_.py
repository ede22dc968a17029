"""`mlxtpl import MANIFEST…`: hand-written Jobs and PyTorchJobs as values files."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from mlxtpl.cli.options import read_path
from mlxtpl.cli.output import write


@click.command("import")
@click.argument("paths", metavar="MANIFEST...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="DIR", help="Write the files into DIR; one that is there already stays.")
@click.option(
    "--exact", is_flag=True, help="Render the very same manifest, or fail: nothing that the platform asks for is added."
)
@click.option("--split", is_flag=True, help="Keep several jobs apart: no _base.yaml of what they have in common.")
def command(paths: tuple[str, ...], output: str | None, *, exact: bool, split: bool) -> int:
    """Turn hand-written Jobs and PyTorchJobs into values files.

    What has no key of its own goes to `patch`. The result is rendered and compared with the manifest; what it has more,
    such as a rule of the platform that the manifest did not keep, is listed.
    """
    from mlxtpl import import_files, outputs
    from mlxtpl.errors import OutputError, Problem

    made = import_files.import_manifests([read_path(path) for path in paths], exact=exact, split=split)
    if output is None and len(made.files) > 1:
        raise click.UsageError(
            f"there are {len(made.files)} files ({', '.join(made.files)}): -o DIR says where they go"
        )
    if output is None:
        write("".join(made.files.values()))
    else:
        directory = Path(output)
        outputs.make_directory(directory)
        taken = [
            name
            for name, text in made.files.items()
            if (directory / name).exists() and (directory / name).read_bytes() != text.encode("utf-8")
        ]
        if taken:
            hint = "remove it, or choose another directory"
            raise OutputError(
                [Problem("is there already and differs", str(directory / name), hint=hint) for name in taken]
            )
        for name, text in made.files.items():
            outputs.write_file(directory, name, text, manifest=False)
    for name, added in made.added.items():
        told = "renders the same manifest" if not added else f"renders the same manifest and {len(added)} fields more:"
        print(f"{name}: {told}", file=sys.stderr)
        for field, value in added:
            print(f"  {field}: {json.dumps(value, ensure_ascii=False)}", file=sys.stderr)
    for name in made.replaced:
        print(f"ConfigMap/{name}: became `files`; the render names it after its content", file=sys.stderr)
    if made.others:
        print(f"{import_files.OTHERS}: as they were: {', '.join(made.others)}", file=sys.stderr)
    return 0
