"""`mlxtpl export kustomize DIR`: what mlxtpl knows of kinds, for people who stay with plain kustomize."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("export")
@click.argument("what", type=click.Choice(["kustomize"]))
@click.argument("directory", metavar="DIR")
def command(what: str, directory: str) -> None:  # noqa: ARG001 - there is one thing to export
    """Write a kustomize Component into DIR; list it under `components:` of a kustomization.

    With it `kubectl kustomize` merges the containers of a PyTorchJob by name, keeps its images, follows the names of its
    ConfigMaps and Secrets, and labels its pods.
    """
    from mlxtpl import kustomize_export, outputs

    outputs.make_directory(Path(directory))
    for name, text in kustomize_export.files().items():
        outputs.write_file(Path(directory), name, text, manifest=False)
