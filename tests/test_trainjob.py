"""`explain --trainjob`: what a TrainJob of Kubeflow Trainer v2 can carry of a PyTorchJob."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from mlxtpl.cli import main
from mlxtpl.trainjob import reports


def job(spec: dict[str, Any], template: dict[str, Any] | None = None, **container: Any) -> dict[str, Any]:
    """A PyTorchJob of two Workers."""
    pod = {"containers": [{"name": "pytorch", "image": "i", **container}], **(template or {})}
    worker = {"replicas": 2, "template": {"spec": pod}}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "a", "namespace": "n"},
        "spec": {"pytorchReplicaSpecs": {"Worker": worker}, **spec},
    }


def test_lossless() -> None:
    """The whole TrainJob, by the types of trainjob_types.go v2.3.0."""
    volumes = [{"name": "d", "emptyDir": {}}]
    mounts = [{"name": "d", "mountPath": "/d"}]
    elastic = {"elasticPolicy": {"minReplicas": 2, "maxReplicas": 2, "nProcPerNode": 8}, "runPolicy": {"suspend": True}}
    (found,) = reports([job(elastic, {"volumes": volumes}, command=["torchrun"], volumeMounts=mounts)])
    assert found.lost == ()
    assert found.manifest == {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "a", "namespace": "n"},
        "spec": {
            "runtimeRef": {"name": "torch-distributed"},
            "trainer": {"numNodes": 2, "numProcPerNode": 8, "image": "i", "command": ["torchrun"]},
            "suspend": True,
            "runtimePatches": [
                {
                    "manager": "mlxtpl",
                    "trainingRuntimeSpec": {
                        "template": {
                            "spec": {
                                "replicatedJobs": [
                                    {
                                        "name": "node",
                                        "template": {
                                            "spec": {
                                                "template": {
                                                    "spec": {
                                                        "volumes": volumes,
                                                        "containers": [{"name": "node", "volumeMounts": mounts}],
                                                    }
                                                }
                                            }
                                        },
                                    }
                                ]
                            }
                        }
                    },
                }
            ],
        },
    }


@pytest.mark.parametrize(
    ("spec", "template", "container", "field"),
    [
        ({"elasticPolicy": {"minReplicas": 1, "maxReplicas": 2}}, {}, {}, "spec.elasticPolicy"),
        ({"elasticPolicy": {"rdzvBackend": "etcd"}}, {}, {}, "spec.elasticPolicy.rdzvBackend"),
        ({"runPolicy": {"backoffLimit": 1}}, {}, {}, "spec.runPolicy.backoffLimit"),
        ({}, {"hostNetwork": True}, {}, "spec.pytorchReplicaSpecs.Worker.template.spec.hostNetwork"),
        ({}, {}, {"ports": []}, "spec.pytorchReplicaSpecs.Worker.template.spec.containers[pytorch].ports"),
        (
            {},
            {},
            {"env": [{"name": "PET_NNODES", "value": "2"}]},
            "spec.pytorchReplicaSpecs.Worker.template.spec.containers[pytorch].env[PET_NNODES]",
        ),
        (
            {},
            {"initContainers": [{"name": "x"}]},
            {},
            "spec.pytorchReplicaSpecs.Worker.template.spec.initContainers[x]",
        ),
    ],
)
def test_lost(spec: Any, template: Any, container: Any, field: str) -> None:
    """One field that a TrainJob has no place for."""
    (found,) = reports([job(spec, template, **container)])
    assert [each for each, _ in found.lost] == [field]


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The manifest is printed when nothing is lost, so that it can be applied; else only the report."""
    path = tmp_path / "m.yaml"
    path.write_text(json.dumps(job({})), encoding="utf-8")
    assert main(["explain", str(path), "--trainjob"]) == 0
    assert yaml.safe_load(capsys.readouterr().out)["kind"] == "TrainJob"
    path.write_text(json.dumps(job({"runPolicy": {"backoffLimit": 1}})), encoding="utf-8")
    assert main(["explain", str(path), "--trainjob"]) == 0
    assert yaml.safe_load(capsys.readouterr().out) is None
    assert main(["explain", str(path), "--trainjob", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["lost"][0][0] == "spec.runPolicy.backoffLimit"
