"""Effective pods: what the operator and the Job controller make of a manifest."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from mlxtpl import yamlio
from mlxtpl.cli import main
from mlxtpl.effective_pods import effective_pods
from mlxtpl.resources import plain

CASES: Any = plain(yamlio.load_one(yamlio.read_source(Path(__file__).with_name("effective_pods.yaml"))))
OPERATORS = "training.kubeflow.org/"


@pytest.mark.parametrize("title", CASES)
def test_pods(title: str) -> None:
    """Names, labels, init containers, variables in order, commands, GPUs, sentences."""
    case = CASES[title]
    (found,) = effective_pods([case["manifest"]])
    assert [each.title for each in found.shapes] == case["title"]
    assert [each.gpus for each in found.shapes] == case["gpus"]
    assert [each.rendezvous for each in found.shapes] == case["rendezvous"]
    assert found.success == case["success"]
    assert found.restarts == case.get("restarts", found.restarts)
    pods = {pod.name: pod for pod in found.shapes[-1].pods}
    for name, wanted in case["pods"].items():
        pod = pods[name]
        assert list(pod.init_containers) == wanted["init"]
        assert {key.removeprefix(OPERATORS): value for key, value in pod.labels.items()} == wanted["labels"]
        assert list(pod.containers[0].command) == wanted["command"]
        assert [f"{each.name}={each.value}" for each in pod.containers[0].variables] == wanted["env"]


def test_forms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Values and manifests, as text, JSON and a picture that is XML; what has no job is an error."""
    path = tmp_path / "m.yaml"
    path.write_text(json.dumps(CASES["a Master and Workers"]["manifest"]), encoding="utf-8")
    assert main(["explain", str(path), "--pods"]) == 0
    out = capsys.readouterr().out
    assert "      RANK=1 | 2   ← operator\n" in out
    assert "    m-worker-1  m-worker-1  init-pytorch     4     pytorchjob-port 1234\n" in out
    assert main(["explain", str(path), "--pods", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["shapes"][0]["pods"][1]["name"] == "m-worker-0"
    assert main(["explain", str(path), "--pods", "--format", "svg"]) == 0
    picture = ET.fromstring(capsys.readouterr().out)
    assert sum(each.get("class") == "gpu" for each in picture.iter()) == 12
    path.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", encoding="utf-8")
    assert main(["explain", str(path), "--pods"]) == 1
    assert "has no Job and no PyTorchJob" in capsys.readouterr().err
