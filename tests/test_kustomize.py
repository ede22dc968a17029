"""Overlays beside real `kubectl kustomize`: the same objects in the same order, or an error of both."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings

from mlxtpl.errors import MlxtplError, format_problem
from mlxtpl.overlays import build

DATA = yaml.safe_load((Path(__file__).parent / "kustomize.yaml").read_text(encoding="utf-8"))
Kustomize = Callable[[Path], tuple[list[Any] | None, str]]
Write = Callable[[Path, dict[str, str]], None]


def ours(directory: Path) -> tuple[list[Any] | None, str]:
    """What mlxtpl builds; None when it refuses, with its words."""
    try:
        resources = build(directory, lambda source: pytest.fail(f"{source.name} is taken for values"))
        return [each.obj for each in resources], ""
    except MlxtplError as error:
        return None, "\n".join(format_problem(problem, error.stage) for problem in error.problems)


@pytest.mark.parametrize("name", DATA["cases"])
def test_case(name: str, tmp_path: Path, kustomize: Kustomize, write: Write) -> None:
    """The same objects in the same order, or an error of both."""
    write(tmp_path, {**DATA["base"], **DATA["files"], "top/kustomization.yaml": DATA["cases"][name]})
    theirs, said = kustomize(tmp_path / "top")
    mine, told = ours(tmp_path / "top")
    assert mine == theirs, f"{said}\n{told}"


# --- generated -----------------------------------------------------------------------------------

NAMES = st.sampled_from(["train", "nightly", "shell", "settings", "keys", "data"])
WORDS = st.sampled_from(["a", "b-c", "x1", "2", "true", "1e-4", "on", "with space", "é", ""])
LABELS = st.dictionaries(
    st.sampled_from(["team", "a", "b.c/d"]), st.sampled_from(["x", "y", "1", "true"]), min_size=1, max_size=2
)
ENV = st.fixed_dictionaries({"name": st.sampled_from("ABC")}, optional={"value": WORDS})
PORT = st.fixed_dictionaries(
    {"containerPort": st.sampled_from([80, 81])}, optional={"name": st.sampled_from(["w", "v"])}
)
MOUNT = st.fixed_dictionaries(
    {"mountPath": st.sampled_from(["/data", "/x"]), "name": st.sampled_from(["data", "conf"])}
)
CONTAINER = st.fixed_dictionaries(
    {"name": st.sampled_from(["main", "side", "new"])},
    optional={
        "image": st.sampled_from(["i:1", "busybox:2"]),
        "args": st.lists(WORDS, max_size=2),
        "env": st.lists(ENV, max_size=3, unique_by=lambda each: each["name"]),
        "volumeMounts": st.lists(MOUNT, max_size=2, unique_by=lambda each: each["mountPath"]),
        "resources": st.fixed_dictionaries(
            {"limits": st.dictionaries(st.sampled_from(["cpu", "memory"]), st.just("1"))}
        ),
        "$patch": st.just("delete"),
    },
)
VOLUME = st.fixed_dictionaries(
    {"name": st.sampled_from(["data", "conf", "new"])},
    optional={"emptyDir": st.just({}), "configMap": st.just({"name": "settings"}), "$patch": st.just("delete")},
)
POD_SPEC = st.fixed_dictionaries(
    {},
    optional={
        "containers": st.lists(CONTAINER, max_size=3, unique_by=lambda each: each["name"]),
        "initContainers": st.none() | st.lists(CONTAINER, max_size=1),
        "volumes": st.lists(VOLUME, max_size=2, unique_by=lambda each: each["name"]),
        "tolerations": st.lists(st.fixed_dictionaries({"key": WORDS}), max_size=2),
        "nodeSelector": st.none() | st.dictionaries(st.sampled_from("kl"), st.just("v"), max_size=2),
        "restartPolicy": st.sampled_from(["Never", "OnFailure"]) | st.none(),
        "imagePullSecrets": st.lists(st.fixed_dictionaries({"name": st.sampled_from(["pull", "keys"])}), max_size=1),
    },
)
PATCH = st.fixed_dictionaries(
    {
        "apiVersion": st.just("batch/v1"),
        "kind": st.just("Job"),
        "metadata": st.fixed_dictionaries(
            {"name": st.just("train")}, optional={"labels": LABELS, "annotations": LABELS}
        ),
    },
    optional={
        "spec": st.fixed_dictionaries(
            {},
            optional={
                "backoffLimit": st.integers(0, 3) | st.none(),
                "template": st.fixed_dictionaries({"spec": POD_SPEC}),
            },
        )
    },
)  # fmt: skip.map(lambda patch: {key: value for key, value in patch.items() if value != {}})
TARGET = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(["Job", "Job|Pod", ".*Job", "ConfigMap", "Jo"]),
        "name": NAMES | st.sampled_from(["t.*", "s.*s", "."]),
        "labelSelector": st.sampled_from(["team=nlp", "team!=nlp", "team", "!team", "team in (nlp,x)"]),
    },
)
OPERATION = st.sampled_from(
    [
        {"op": "add", "path": "/metadata/labels", "value": {"p": "q"}},
        {"op": "add", "path": "/spec", "value": {"s": 1}},
        {"op": "add", "path": "/data", "value": {"s": "1"}},
        {"op": "remove", "path": "/metadata/annotations/note"},
        {"op": "replace", "path": "/metadata/name", "value": "other"},
        {"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "j:3"},
        {"op": "add", "path": "/spec/template/spec/containers/-", "value": {"name": "z", "image": "busybox"}},
        {"op": "test", "path": "/kind", "value": "Job"},
    ]
)
LABEL_ENTRY = st.fixed_dictionaries(
    {"pairs": LABELS}, optional={"includeTemplates": st.booleans(), "includeSelectors": st.booleans()}
)
IMAGE = st.fixed_dictionaries(
    {"name": st.sampled_from(["busybox", "nvcr.io/nvidia/pytorch", "i"])},
    optional={"newName": st.sampled_from(["n", "r.io/m:n"]), "newTag": WORDS, "digest": st.just("sha256:cc")},
)
GENERATOR = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["settings", "made"]),
        "literals": st.lists(st.sampled_from(["A=1", "B=x y", "C=<&>"]), unique=True),
    },
    optional={
        "behavior": st.sampled_from(["create", "merge", "replace"]),
        "options": st.fixed_dictionaries({}, optional={"disableNameSuffixHash": st.booleans(), "labels": LABELS}),
    },
)
FIELDS = {
    "namePrefix": st.sampled_from(["p-", "a."]),
    "nameSuffix": st.sampled_from(["-s", "-t"]),
    "namespace": st.sampled_from(["ns", "other"]),
    "labels": st.lists(LABEL_ENTRY, max_size=2),
    "commonLabels": LABELS,
    "commonAnnotations": LABELS,
    "patches": st.lists(
        PATCH.map(lambda patch: {"patch": json.dumps(patch)})
        | st.tuples(TARGET, st.lists(OPERATION, min_size=1, max_size=2)).map(
            lambda both: {"target": both[0], "patch": json.dumps(both[1])}
        )
        | st.tuples(TARGET, PATCH).map(lambda both: {"target": both[0], "patch": json.dumps(both[1])}),
        max_size=2,
    ),
    "images": st.lists(IMAGE, max_size=2),
    "configMapGenerator": st.lists(GENERATOR, max_size=2),
    "secretGenerator": st.lists(GENERATOR, max_size=1),
    "sortOptions": st.sampled_from([{"order": "fifo"}, {"order": "legacy"}]),
}
LAYER = st.fixed_dictionaries({}, optional=FIELDS)


def own_keys(layer: dict[str, Any], name: str) -> dict[str, Any]:
    """The layer with label keys of its own: what kustomize does with one key twice is a difference that is meant."""
    labels = [
        {**each, "pairs": {f"{key}-{name}{n}": value for key, value in each["pairs"].items()}}
        for n, each in enumerate(layer.get("labels", []))
    ]
    common = {f"{key}-{name}": value for key, value in layer.get("commonLabels", {}).items()}
    notes = {f"{key}-{name}": value for key, value in layer.get("commonAnnotations", {}).items()}
    own = {"labels": labels, "commonLabels": common, "commonAnnotations": notes}
    return {**layer, **{key: value for key, value in own.items() if value}}


@settings(
    max_examples=60,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(lower=LAYER, upper=LAYER)
def test_generated(
    lower: dict[str, Any],
    upper: dict[str, Any],
    tmp_path_factory: pytest.TempPathFactory,
    kustomize: Kustomize,
    write: Write,
) -> None:
    """Two directories over the base, with any of the fields that both know."""
    folder = tmp_path_factory.mktemp("generated")
    upper = {"resources": ["../lower"], **own_keys(upper, "u")}
    lower = {"resources": ["../base"], **own_keys(lower, "l")}
    write(
        folder,
        {
            **DATA["base"],
            "lower/kustomization.yaml": json.dumps(lower, ensure_ascii=False),
            "top/kustomization.yaml": json.dumps(upper, ensure_ascii=False),
        },
    )
    theirs, said = kustomize(folder / "top")
    mine, told = ours(folder / "top")
    assert mine == theirs, f"{said}\n{told}\n{json.dumps(lower)}\n{json.dumps(upper)}"
