"""`mlxtpl import`: what somebody wrote by hand becomes values that render the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from mlxtpl import import_files, kinds, live_export, pipeline, unmerge, yamlio
from mlxtpl.cli import main
from mlxtpl.errors import MlxtplError, Source, ValuesError
from mlxtpl.import_files import import_manifests
from mlxtpl.resources import plain
from mlxtpl.values import Packages
from mlxtpl.yamldump import dump, dump_tree

CASES: Any = plain(yamlio.load_one(yamlio.read_source(Path(__file__).with_name("import.yaml"))))
RENDERED = sorted(Path(__file__).parent.glob("cases/*/expected.yaml"))
PACKAGES: Packages = {}


def rendered(files: dict[str, str], name: str) -> Any:
    """The job that one of the values files renders to."""
    manifest, _ = pipeline.render([Source(name, files[name])], packages=PACKAGES, linted=False)
    return manifest[-1]


@pytest.mark.parametrize("title", CASES)
def test_exact(title: str) -> None:
    """The render is the manifest, field by field; the same from CRLF and with a BOM."""
    text = CASES[title]
    made = import_manifests([Source("m.yaml", text)], exact=True)
    (name,) = made.files
    wanted = live_export.cleaned(plain(yamlio.load_one(Source("m.yaml", text))))
    again = rendered(made.files, name)
    kind = kinds.find_kind(again)
    assert kind is not None
    assert made.added == {name: ()}
    assert unmerge.same(wanted, again, kind.lists), made.files[name]
    crlf = yamlio.decode(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(), "m.yaml")
    assert rendered(import_manifests([crlf], exact=True).files, name) == again


@pytest.mark.parametrize("title", CASES)
def test_with_presets(title: str) -> None:
    """Without --exact nothing of the manifest is lost, and all that the render has more is told."""
    made = import_manifests([Source("m.yaml", CASES[title])])
    (name,) = made.files
    wanted = live_export.cleaned(plain(yamlio.load_one(Source("m.yaml", CASES[title]))))
    again = rendered(made.files, name)
    kind = kinds.find_kind(again)
    assert kind is not None
    told = {field for field, _ in made.added[name]}
    paths = {import_files.text(field): value for field, _, value in import_files.walk(again, kind.lists)}
    old = {import_files.text(field) for field, _, _ in import_files.walk(wanted, kind.lists)}
    renamed = any(field.endswith("containers[main].name") for field in told)
    assert set(paths) - old <= told or renamed
    annotations = again["spec"].get("template", {}).get("metadata", {}).get("annotations", {})
    if again["kind"] == "Job":
        assert annotations["sidecar.istio.io/inject"] == "false"


@pytest.mark.parametrize("path", RENDERED, ids=lambda path: path.parent.name)
def test_values_rendered_and_imported(path: Path) -> None:
    """values → render → import → render is the same manifest."""
    values = path.parent / "values.yaml"
    manifest, _ = pipeline.render(
        [yamlio.read_source(values)._replace(directory=str(path.parent))], packages={}, linted=False
    )
    text = dump(manifest)
    made = import_manifests([Source("m.yaml", text)], exact=True)
    again = rendered(made.files, next(name for name in made.files if name != import_files.OTHERS))
    kind = kinds.find_kind(again)
    assert kind is not None
    assert unmerge.same(live_export.cleaned(manifest[-1]), again, kind.lists)


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=12)
NAMES = st.from_regex("[a-z][a-z0-9]{0,8}", fullmatch=True)
ENV = st.dictionaries(
    st.from_regex("[A-Z][A-Z_]{0,6}", fullmatch=True),
    st.one_of(
        WORDS,
        st.sampled_from(["1e-4", "on", "012", "$(HOME)", "{{ x }}"]),
        st.just({"secret": {"name": "s", "key": "k"}}),
    ),
    max_size=4,
)
KEYS: dict[str, Any] = {
    "namespace": NAMES,
    "labels": st.dictionaries(NAMES, NAMES, max_size=2),
    "annotations": st.dictionaries(NAMES, WORDS, max_size=2),
    "podAnnotations": st.dictionaries(NAMES, WORDS, max_size=2),
    "command": st.lists(WORDS, min_size=1, max_size=3),
    "args": st.one_of(st.lists(WORDS, max_size=4), st.dictionaries(NAMES, WORDS, max_size=3)),
    "env": ENV,
    "resources": st.fixed_dictionaries(
        {"cpu": st.just("500m"), "gpus": st.integers(0, 8)}, optional={"memory": st.just("8Gi")}
    ),
    "volumes": st.dictionaries(
        NAMES,
        st.one_of(
            st.just({"pvc": "p", "mountPath": "/p", "readOnly": True}),
            st.just({"emptyDir": True, "mounts": {"/a": True, "/b": {"subPath": "x"}}}),
            st.just({"configMap": "c"}),
        ),
        max_size=1,
    ),
    "sharedMemory": st.one_of(st.booleans(), st.just("4Gi")),
    "zone": NAMES,
    "tolerations": st.just([{"operator": "Exists"}]),
    "ttl": st.integers(0, 9999),
    "backoffLimit": st.integers(0, 9),
    "suspend": st.booleans(),
    "initContainers": st.dictionaries(NAMES, st.just({"image": "i", "command": ["a"]}), max_size=2),
    "distributed": st.one_of(
        st.integers(1, 4).map(lambda nodes: {"nodes": nodes}),
        st.just({"nodes": {"min": 1, "max": 3}, "maxRestarts": 0}),
        st.integers(1, 4).map(lambda nodes: {"nodes": nodes, "master": True}),
        st.just({"nodes": 2, "procsPerNode": "auto", "ipv4Only": False, "rdzv": {"conf": {"a": "1"}}}),
    ),
    "patch": st.sampled_from(
        [
            {"pod": {"spec": {"hostname": "h"}}},
            {"container": {"stdin": True}},
            {"job": {"metadata": {"labels": {"x": "y"}}}},
        ]
    ),
}


@settings(max_examples=60, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.fixed_dictionaries({"name": NAMES, "image": st.just("r/i:1")}, optional=KEYS))
def test_property(values: dict[str, Any]) -> None:
    """Whatever renders comes back: values → render → import → render."""
    try:
        manifest, _ = pipeline.render([Source("v", dump_tree(values))], packages=PACKAGES, linted=False)
    except MlxtplError:
        assume(False)
    made = import_manifests([Source("m.yaml", dump(manifest))], exact=True)
    again = rendered(made.files, f"{values['name']}.yaml")
    kind = kinds.find_kind(again)
    assert kind is not None
    assert unmerge.same(live_export.cleaned(manifest[-1]), again, kind.lists), made.files


def test_a_base_comments_and_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Jobs that are alike share a base, comments move along, other objects pass through, nothing is overwritten."""
    monkeypatch.chdir(tmp_path)
    job = """\
apiVersion: batch/v1
kind: Job
metadata: {name: NAME, namespace: p-a}
spec:
  # three weeks
  ttlSecondsAfterFinished: 1814400
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: x:VERSION  # pinned
          command: [python, train.py]
---
"""
    text = job.replace("NAME", "one").replace("VERSION", "1") + job.replace("NAME", "two").replace("VERSION", "2")
    Path("m.yaml").write_text(f"{text}apiVersion: v1\nkind: Service\nmetadata: {{name: s}}\n", encoding="utf-8")
    assert main(["import", "m.yaml", "-o", "out"]) == 0
    err = capsys.readouterr().err
    assert "one.yaml: renders the same manifest and 3 fields more:\n  spec.backoffLimit: 1\n" in err
    assert "_resources.yaml: as they were: Service/s" in err
    names = sorted(path.name for path in Path("out").iterdir())
    assert names == ["_base.yaml", "_resources.yaml", "one.yaml", "two.yaml"]
    base, one = (Path("out", name).read_text(encoding="utf-8") for name in ("_base.yaml", "one.yaml"))
    assert "# three weeks\nttl: 1814400\n" in base
    assert one == "extends: _base.yaml\nname: one\n# pinned\nimage: x:1\n"
    assert main(["import", "m.yaml", "-o", "out"]) == 0
    Path("out/one.yaml").write_text("name: mine\n", encoding="utf-8")
    assert main(["import", "m.yaml", "-o", "out"]) == 1
    assert "is there already and differs" in capsys.readouterr().err
    assert Path("out/one.yaml").read_text(encoding="utf-8") == "name: mine\n"
    assert main(["import", "m.yaml", "-o", "apart", "--split"]) == 0
    assert not Path("apart/_base.yaml").exists()


COMPANION = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: script}
data: {train.sh: "echo hi\\n", conf.json: '{"a": 1}'}
---
apiVersion: batch/v1
kind: Job
metadata: {name: mnist}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: x, volumeMounts: [{name: s, mountPath: /scripts}]}]
      volumes: [{name: s, configMap: {name: script}}]
"""


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("", "", {"/scripts/train.sh": {"text": "echo hi\n"}, "/scripts/conf.json": {"text": '{"a": 1}'}}),
        ("mountPath: /scripts}", "mountPath: /t.sh, subPath: train.sh}", {"/t.sh": {"text": "echo hi\n"}}),
        ("configMap: {name: script}", "configMap: {name: script, defaultMode: 493}", None),
        ("image: x", "image: x, envFrom: [{configMapRef: {name: script}}]", None),
        ("mountPath: /scripts}", "mountPath: /t.sh, subPath: absent}", None),
        ("\ndata: {", "\nbinaryData: {b: AA==}\ndata: {", None),
    ],
)
def test_a_config_map_becomes_files(old: str, new: str, wanted: Any) -> None:
    """Where the container then sees the very same files; else it passes through, as it does with --exact."""
    source = Source("m.yaml", COMPANION.replace(old, new) if old else COMPANION)
    made = import_manifests([source])
    values = plain(yamlio.load_one(Source("v", made.files["mnist.yaml"])))
    assert values.get("files") == wanted
    assert (import_files.OTHERS in made.files) == (wanted is None)
    assert made.replaced == ([] if wanted is None else ["script"])
    assert import_files.OTHERS in import_manifests([source], exact=True).files


BAD = {
    "a Deployment": ("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n", "found Deployment/d"),
    "a Helm template": ("metadata:\n  name: {{ .Values.x }}\n", "looks like a Go template"),
    "a values file": ("name: a\nimage: b\n", "is a values file already"),
    "two of one name": (f"{CASES['a plain Job']}---\n{CASES['a plain Job']}", 'two jobs have the name "a"'),
    "a Job and a PyTorchJob of one name": (
        f"{CASES['a plain Job']}---\n{CASES['a Master alone'].replace('name: m}', 'name: a}')}",
        'two jobs have the name "a"',
    ),
    "a number where text is due": (CASES["a plain Job"].replace("image: i", "image: i, args: [1]"), "must be text"),
    "an unknown field": (CASES["a plain Job"].replace("image: i", "image: i, arg: [a]"), "is no field of Container"),
    "no container": (
        CASES["a plain Job"].replace("containers: [{name: main, image: i}]", "volumes: []"),
        "must be set",
    ),
    "broken YAML": ("kind: [a\n", "is never closed"),
}


@pytest.mark.parametrize("fault", BAD)
def test_bad_input(fault: str) -> None:
    """Said in a line."""
    text, message = BAD[fault]
    with pytest.raises(ValuesError) as caught:
        import_manifests([Source("m.yaml", text)])
    assert message in str(caught.value)
