"""Overlays where mlxtpl goes past kustomize: PyTorchJobs, values files, origins, errors; and the Component it exports."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from mlxtpl import explain, fields, kustomize_export, pipeline
from mlxtpl.cli import main
from mlxtpl.errors import MlxtplError, format_problem
from mlxtpl.package import data_path

Kustomize = Callable[[Path], tuple[list[Any] | None, str]]
Write = Callable[[Path, dict[str, str]], None]
JOB = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: pj, labels: {team: nlp}}
spec:
  elasticPolicy: {minReplicas: 2, maxReplicas: 2}
  pytorchReplicaSpecs:
    Master: &replica
      replicas: 1
      template: &template
        metadata: {labels: {a: b}, annotations: {c: d}}
        spec:
          serviceAccountName: runner
          initContainers: [{name: init, image: "busybox:1", envFrom: [{secretRef: {name: keys}}]}]
          containers:
            - name: pytorch
              image: nvcr.io/nvidia/pytorch:24.05-py3
              env: [{name: A, value: "1"}, {name: B, valueFrom: {configMapKeyRef: {name: settings, key: b}}}]
              envFrom: [{configMapRef: {name: settings}}]
              volumeMounts: [{name: data, mountPath: /data}]
          volumes: [{name: data, persistentVolumeClaim: {claimName: data}}, {name: conf, configMap: {name: settings}}]
    Worker: {replicas: 2, template: *template}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: runner}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {}}
"""
PATCH = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: pj}
spec:
  pytorchReplicaSpecs:
    Worker:
      template:
        spec:
          containers: [{name: pytorch, env: [{name: C, value: "3"}, {name: A, value: "2"}]}]
          volumes: [{name: scratch, emptyDir: {}}]
"""
KUSTOMIZATION = {
    "resources": ["job.yaml"],
    "patches": [{"path": "patch.yaml"}],
    "configMapGenerator": [{"name": "settings", "literals": ["b=2"]}],
    "secretGenerator": [{"name": "keys", "literals": ["k=v"]}],
}
MORE: list[dict[str, Any]] = [
    {},
    {"namePrefix": "p-", "nameSuffix": "-s"},
    {"namespace": "ns"},
    {"commonLabels": {"l": "v"}, "commonAnnotations": {"n": "w"}},
    {"labels": [{"pairs": {"l": "v"}}]},
    {"images": [{"name": "nvcr.io/nvidia/pytorch", "newTag": "24.06-py3"}, {"name": "busybox", "newName": "box"}]},
]


def files(more: dict[str, Any]) -> dict[str, str]:
    return {
        "top/job.yaml": JOB,
        "top/patch.yaml": PATCH,
        "top/kustomization.yaml": json.dumps({**KUSTOMIZATION, **more}),
    }


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = main(list(argv))
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("more", MORE, ids=json.dumps)
def test_a_pytorchjob_as_kustomize_with_the_component(
    more: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str], kustomize: Kustomize, write: Write
) -> None:
    """What mlxtpl makes of it by itself, plain kustomize makes of it with the Component."""
    write(tmp_path, files(more))
    assert run(capsys, "export", "kustomize", str(tmp_path / "component"))[0] == 0
    _, out, err = run(capsys, "render", "--no-lint", str(tmp_path / "top"))
    write(tmp_path, files({**more, "components": ["../component"]}))
    theirs, said = kustomize(tmp_path / "top")
    assert list(yaml.safe_load_all(out)) == theirs, f"{said}{err}"
    worker = next(each for each in theirs or [] if each["kind"] == "PyTorchJob")["spec"]["pytorchReplicaSpecs"][
        "Worker"
    ]
    assert worker["template"]["spec"]["containers"][0]["image"].startswith("nvcr.io/nvidia/pytorch:24.0")


def test_without_the_component_the_image_is_lost(tmp_path: Path, kustomize: Kustomize, write: Write) -> None:
    """The fault that this is all about is still there."""
    write(tmp_path, files({}))
    theirs, _ = kustomize(tmp_path / "top")
    worker = next(each for each in theirs or [] if each["kind"] == "PyTorchJob")["spec"]["pytorchReplicaSpecs"][
        "Worker"
    ]
    assert "image" not in worker["template"]["spec"]["containers"][0]


def test_replicas_of_a_pytorchjob(tmp_path: Path, capsys: pytest.CaptureFixture[str], write: Write) -> None:
    """Its Workers; the rendezvous waits for as many."""
    write(tmp_path, files({"replicas": [{"name": "pj", "count": 5}]}))
    _, out, _ = run(capsys, "render", "--no-lint", str(tmp_path / "top"))
    spec = next(each for each in yaml.safe_load_all(out) if each["kind"] == "PyTorchJob")["spec"]
    assert spec["pytorchReplicaSpecs"]["Worker"]["replicas"] == 5
    assert spec["elasticPolicy"] == {"minReplicas": 5, "maxReplicas": 5}


def test_the_component_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exported once more it replaces its own files, and has every kind that mlxtpl knows."""
    for _ in range(2):
        assert run(capsys, "export", "kustomize", str(tmp_path)) == (0, "", "")
        (tmp_path / "openapi.json").write_text("{}", encoding="utf-8")
    kinds = {
        each["x-kubernetes-group-version-kind"][0]["kind"]
        for each in kustomize_export.openapi()["definitions"].values()
    }
    assert {"Job", "CronJob", "Pod", "PyTorchJob", "Deployment", "ConfigMap"} <= kinds


@pytest.mark.parametrize("name", ["dev", "prod"])
def test_examples(name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The overlays of examples/ render as they stand, every field has an origin, and a diff tells them apart."""
    examples = Path(__file__).parent.parent / "examples/overlays"
    shutil.copytree(examples, tmp_path / "overlays")
    code, out, err = run(capsys, "render", str(tmp_path / "overlays" / name))
    assert (code, err) == (0, "")
    manifest, explained = explain.explain_directory(tmp_path / "overlays" / name)
    assert manifest == list(yaml.safe_load_all(out))
    for each in explained:
        assert each.origins, fields.text(each.field)
        assert each.removed or each.origins[0].value == each.value or each.origins[0].line == 0
    assert run(capsys, "diff", *[str(tmp_path / "overlays" / name)] * 2) == (0, "", "")
    code, out, _ = run(capsys, "diff", *(str(tmp_path / "overlays" / side) for side in ("dev", "prod")), "--explain")
    assert code == 1
    assert "prod/memory.yaml:12:44" in out


def test_overlays_of_values(tmp_path: Path, capsys: pytest.CaptureFixture[str], write: Write) -> None:
    """`overlays:` in a values file, `--overlay`, and both in order; relative to the file that writes them."""
    overlay = {"kind": "Component", "patches": [{"target": {"kind": "Job"}, "path": "p.yaml"}]}
    patch = "{apiVersion: batch/v1, kind: Job, metadata: {name: any}, spec: {backoffLimit: %d}}"
    write(
        tmp_path,
        {
            "base/_base.yaml": "image: x:1\noverlays: [../one]\n",
            "v.yaml": "extends: base/_base.yaml\nname: a\n",
            "one/kustomization.yaml": json.dumps(overlay),
            "one/p.yaml": patch % 7,
            "two/kustomization.yaml": json.dumps({**overlay, "nameSuffix": "-two"}),
            "two/p.yaml": patch % 8,
        },
    )
    values = str(tmp_path / "v.yaml")
    job = yaml.safe_load(run(capsys, "render", values)[1])
    assert job["spec"]["backoffLimit"] == 7
    job = yaml.safe_load(run(capsys, "render", values, "--overlay", str(tmp_path / "two"))[1])
    assert (job["spec"]["backoffLimit"], job["metadata"]["name"]) == (8, "a-two")
    _, out, _ = run(capsys, "explain", values, "backoffLimit", "--overlay", str(tmp_path / "two"))
    assert "from overlay" in out
    assert "two/p.yaml:1:79" in out
    assert "lost 7 from overlay" in out
    assert "lost 1 from template" in out
    code, _, err = run(capsys, "render", values, "--overlay", str(tmp_path / "absent"))
    assert code == 1
    assert "is no kustomization directory" in err


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("patches: [{patch: '{apiVersion: batch/v1, kind: Job, metadata: {name: trian}}'}]", ["which is not there", "did you mean batch/v1 Job train?"]),
        ("patches: [{target: {kind: Job}, patch: '[{op: remove, path: /spec/template/x/y}]'}]", ['/spec/template has spec, not "x"']),
        ("resources: [https://github.com/a/b]", ["is remote, which is not supported", "no network"]),
        ("resources: [../outside.yaml]", ["lies outside of"]),
        ("resources: [job.yaml, again.yaml]", ["is there twice", "first:"]),
        ("resources: [../other]", ["in a cycle"]),
        ("namePrefixx: a", ["namePrefixx: unknown key", "did you mean namePrefix?"]),
        ("patches: [{target: {name: '('}, patch: '[]'}]", ["is no selector"]),
        ("vars: []", ["vars: unknown key"]),
        ("replicas: [{name: train, count: 2}]", ["no object named train has replicas"]),
        ("patches: [{patch: '{apiVersion: v1, kind: Secret, metadata: {name: twin}}'}]", ["means 2 objects"]),
    ],
)  # fmt: skip
def test_errors(
    text: str, messages: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    """Each says where, what there is, and what to do."""
    job = "{apiVersion: batch/v1, kind: Job, metadata: {name: train}, spec: {template: {spec: {containers: [{name: main, image: x}]}}}}"
    twin = "{apiVersion: v1, kind: Secret, metadata: {name: twin}}"
    write(
        tmp_path,
        {
            "top/kustomization.yaml": text if "resources" in text else f"resources: [job.yaml, ../twins]\n{text}\n",
            "top/job.yaml": job,
            "top/again.yaml": job,
            "outside.yaml": job,
            "other/kustomization.yaml": "resources: [../top]",
            "twins/kustomization.yaml": "resources: [../left, ../right]",
            "left/kustomization.yaml": "{resources: [s.yaml], namePrefix: l-}",
            "left/s.yaml": twin,
            "right/kustomization.yaml": "{resources: [s.yaml], namePrefix: r-}",
            "right/s.yaml": twin,
        },
    )
    code, out, err = run(capsys, "render", "--no-lint", str(tmp_path / "top"))
    assert (code, out) == (1, "")
    for message in messages:
        assert message in err
    assert "kustomization.yaml" in err or "again.yaml" in err


def test_diff_of_a_revision(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All inputs are those of the revision, partials and layers too; the exit code says whether they differ."""
    import subprocess

    git = shutil.which("git")
    if not git:
        pytest.skip("git is missing: install it")
    shutil.copytree(data_path("values"), tmp_path / "values")
    monkeypatch.chdir(tmp_path)
    quiet = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], [*quiet, "commit", "-q", "-m", "first"]):
        subprocess.run([git, *words], check=True)
    assert run(capsys, "diff", "values/prod.yaml", "--rev", "HEAD") == (0, "", "")
    base = tmp_path / "values/_base.yaml"
    base.write_text(base.read_text(encoding="utf-8").replace("24.05-py3", "24.06-py3"), encoding="utf-8")
    code, out, _ = run(capsys, "diff", "values/prod.yaml", "--rev", "HEAD", "--explain")
    assert code == 1
    assert "image: nvcr.io/nvidia/pytorch:24.05-py3" in out
    assert "-> nvcr.io/nvidia/pytorch:24.06-py3" in out
    more = tmp_path / "more.yaml"
    more.write_text("ttl: 1d\n", encoding="utf-8")
    for words in (["add", "."], [*quiet, "commit", "-q", "-m", "second"]):
        subprocess.run([git, *words], check=True)
    more.write_text("ttl: 2d\n", encoding="utf-8")
    code, out, _ = run(capsys, "diff", "values/prod.yaml", "-f", "more.yaml", "--rev", "HEAD")
    assert "ttlSecondsAfterFinished: 86400 -> 172800" in out
    code, out, _ = run(capsys, "diff", "values/prod.yaml", "values/elastic.yaml", "--format", "json")
    assert code == 1
    assert {row["what"] for row in json.loads(out)} <= {"added", "removed", "changed"}
    assert "there is no such revision" in run(capsys, "diff", "values/prod.yaml", "--rev", "absent")[2]


ODD: list[Any] = [
    None,
    [],
    {},
    0,
    "",
    True,
    "x",
    [None],
    ["x"],
    {"a": None},
    {"a": {"b": [1]}},
    1e30,
    [[]],
    "a\0b",
    "(",
    "9" * 400,
]


def paths(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    below = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [path, *(each for key, value in below for each in paths(value, (*path, key)))]


def replaced(tree: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    tree[path[0]] = replaced(tree[path[0]], path[1:], value)
    return tree


@pytest.mark.parametrize("seed", range(6))
def test_odd_shapes(seed: int, tmp_path: Path, write: Write) -> None:
    """Whatever stands in a kustomization or in its objects, the build ends in objects or in problems, never in a bug."""
    data = yaml.safe_load((Path(__file__).parent / "kustomize.yaml").read_text(encoding="utf-8"))
    cases = list(data["cases"].values())
    dice = random.Random(seed)
    for _ in range(25):
        top = yaml.safe_load(dice.choice(cases))
        objects = [*yaml.safe_load_all(data["base"]["base/objects.yaml"]), *yaml.safe_load_all(JOB)]
        if dice.random() < 0.6:
            top = replaced(top, dice.choice(paths(top)), dice.choice(ODD))
        for _ in range(dice.choice([0, 1, 2])):
            number = dice.randrange(len(objects))
            objects[number] = replaced(objects[number], dice.choice(paths(objects[number])), dice.choice(ODD))
        files = {"base/objects.yaml": yaml.safe_dump_all(objects), "top/kustomization.yaml": yaml.safe_dump(top)}
        write(tmp_path, {**data["files"], **data["base"], **files})
        for build in (pipeline.build, explain.explain_directory):
            try:
                build(tmp_path / "top")
            except MlxtplError as error:
                assert all(format_problem(problem, error.stage) for problem in error.problems)
