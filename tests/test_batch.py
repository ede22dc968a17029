"""Many jobs in one call: directories, output files, the drift check, and sweeps."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from mlxtpl.cli import main

GOOD = "name: {name}\nimage: x:1\n"


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    """Exit code, stdout, stderr."""
    code = main(list(argv))
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with three values files, a partial and a file of another kind; it is the working directory."""
    (tmp_path / "values").mkdir()
    for name in ("a", "b", "c"):
        (tmp_path / "values" / f"{name}.yaml").write_text(GOOD.format(name=name), encoding="utf-8")
    (tmp_path / "values" / "_part.yaml").write_text("zone: x\n", encoding="utf-8")
    (tmp_path / "values" / "schema.json").write_text("{}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_directory_on_one_stream(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All but partials, by name."""
    code, out, err = run(capsys, "render", "values")
    assert code == 0, err
    assert [each["metadata"]["name"] for each in yaml.safe_load_all(out)] == ["a", "b", "c"]


def test_files_are_written_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that has the text already keeps its time stamp; nothing else is left in the directory."""
    assert run(capsys, "render", "values", "-o", "out/deep")[0] == 0
    paths = sorted((folder / "out/deep").iterdir())
    assert [path.name for path in paths] == ["a.yaml", "b.yaml", "c.yaml"]
    for path in paths:
        os.utime(path, (1, 1))
    (folder / "values/b.yaml").write_text(GOOD.format(name="b2"), encoding="utf-8")
    assert run(capsys, "render", "values", "-o", "out/deep")[0] == 0
    assert [path.stat().st_mtime == 1 for path in paths] == [True, False, True]


def test_one_bad_file_does_not_stop_the_others(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With -o the good ones are written; on a stream nothing is printed."""
    (folder / "values/b.yaml").write_text("name: B_\n", encoding="utf-8")
    code, _, err = run(capsys, "render", "values", "-o", "out")
    assert code == 1
    assert "values/b.yaml:1:7" in err
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["a.yaml", "c.yaml"]
    assert run(capsys, "render", "values")[:2] == (1, "")


def test_check(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 0 without drift; 1 with a diff for each file that differs, is missing or is no longer made."""
    run(capsys, "render", "values", "-o", "out")
    assert run(capsys, "render", "values", "--check", "out") == (0, "", "")
    (folder / "out/a.yaml").unlink()
    with (folder / "out/b.yaml").open("a", encoding="utf-8") as file:
        file.write("x: 1\n")
    (folder / "values/c.yaml").unlink()
    code, out, err = run(capsys, "render", "values", "--check", "out")
    assert code == 1
    assert "out/a.yaml: missing" in err
    assert "out/b.yaml: differs" in err
    assert "out/c.yaml: no longer made" in err
    assert "-x: 1\n" in out


def test_the_same_object_twice_on_a_stream(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """kubectl would apply the later one in silence."""
    (folder / "values/b.yaml").write_text(GOOD.format(name="a"), encoding="utf-8")
    code, out, err = run(capsys, "render", "values")
    assert (code, out) == (1, "")
    assert "is rendered by a.yaml and by b.yaml" in err


def test_two_files_of_one_stem(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They would overwrite each other."""
    (folder / "values/a.yml").write_text(GOOD.format(name="other"), encoding="utf-8")
    assert "would both become a.yaml" in run(capsys, "render", "values", "-o", "out")[2]


def test_output_errors(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file where the directory should be, and a full disk, are one message each."""
    (folder / "out").write_text("", encoding="utf-8")
    code, _, err = run(capsys, "render", "values", "-o", "out")
    assert code == 1
    assert "cannot make the directory" in err


def test_killed_runs_leave_whole_files(folder: Path) -> None:
    """Killed at any moment, every file is the old text or the new one."""
    values = folder / "many"
    values.mkdir()
    for number in range(60):
        (values / f"v{number}.yaml").write_text(GOOD.format(name=f"v{number}"), encoding="utf-8")
    ask = [sys.executable, "-m", "mlxtpl", "render", "many", "-o", "out"]
    subprocess.run(ask, check=True, cwd=folder)
    old = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
    for number in range(60):
        (values / f"v{number}.yaml").write_text(GOOD.format(name=f"v{number}") + "zone: z\n", encoding="utf-8")
    for delay in (0.25, 0.3, 0.35, 0.4, 0.5):
        process = subprocess.Popen(ask, cwd=folder)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        for path in (folder / "out").glob("*.yaml"):
            text = path.read_bytes()
            assert text == old[path.name] or b"mlx.navercorp.com/zone: z" in text
            assert text.endswith(b"\n")
            yaml.safe_load(text)
    subprocess.run(ask, check=True, cwd=folder)
    assert sorted(path.name for path in (folder / "out").iterdir()) == sorted(old)


def test_sweep(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One job a combination, with its coordinates in name, labels, arguments and index; the same names again."""
    ask = ("render", "values/a.yaml", "--matrix", "args.lr=1e-3,1e-4", "--matrix", "args.seed=1..3")
    code, out, _ = run(capsys, *ask, "--list")
    assert code == 0
    rows = list(csv.DictReader(out.splitlines()))
    names = [f"a-lr{lr}-s{seed}" for lr in ("1e-3", "1e-4") for seed in "123"]
    assert [row["name"] for row in rows] == names
    assert rows[0] == {"name": "a-lr1e-3-s1", "args.lr": "1e-3", "args.seed": "1", "file": "a-lr1e-3-s1.yaml"}
    assert run(capsys, *ask, "-o", "out")[0] == 0
    job = yaml.safe_load((folder / "out/a-lr1e-4-s3.yaml").read_text(encoding="utf-8"))
    assert job["metadata"]["name"] == "a-lr1e-4-s3"
    assert job["metadata"]["labels"] == {"mlxtpl/args.lr": "1e-4", "mlxtpl/args.seed": "3"}
    assert job["spec"]["template"]["spec"]["containers"][0]["args"] == ["--lr", "1e-4", "--seed", "3"]
    index = json.loads((folder / "out/index.json").read_text(encoding="utf-8"))
    assert [each["name"] for each in index] == names


def test_sweep_from_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """include adds, exclude leaves out."""
    (folder / "sweep.yaml").write_text(
        "matrix:\n  args.lr: [1e-3, 1e-4]\n  args.seed: 1..2\n"
        "  include: [{args.lr: 1e-2, args.seed: 9}]\n  exclude: [{args.lr: 1e-3, args.seed: 2}]\n",
        encoding="utf-8",
    )
    code, out, err = run(capsys, "render", "values/a.yaml", "--matrix", "sweep.yaml", "--list")
    assert code == 0, err
    assert [row["name"] for row in csv.DictReader(out.splitlines())] == [
        "a-lr1e-3-s1",
        "a-lr1e-4-s1",
        "a-lr1e-4-s2",
        "a-lr1e-2-s9",
    ]


def test_sweep_with_a_long_name_or_like_values(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A hash where the readable suffix is too long or not its own; it depends on the coordinates only."""
    (folder / "values/a.yaml").write_text(GOOD.format(name="n" * 45), encoding="utf-8")
    _, out, _ = run(capsys, "render", "values/a.yaml", "--matrix", "args.model=resnet", "--list")
    assert len(out.splitlines()[1].split(",")[0]) == 45 + len("-x12345678")
    (folder / "values/a.yaml").write_text(GOOD.format(name="n"), encoding="utf-8")
    _, out, _ = run(capsys, "render", "values/a.yaml", "--matrix", "args.x=1.5,1-5", "--list")
    names = [line.split(",")[0] for line in out.splitlines()[1:]]
    assert len(set(names)) == 2
    assert all(name.startswith("n-x") for name in names)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--matrix", "args.seed=1..2000"], "2000 combinations; 1000 are allowed"),
        (["--matrix", "args.seed=1,1"], 'has the value "1" twice'),
        (["--matrix", "args.seed="], "has no value"),
        (["--matrix", "nothing.yaml"], "no such file"),
        (["--matrix", "a=1", "--matrix", "a=2"], "is an axis twice"),
        (["--matrix", "resources.gpus=1,many", "-o", "out"], "must be an integer"),
    ],
)
def test_sweep_errors(folder: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str) -> None:
    """Each is one message with exit code 1."""
    code, out, err = run(capsys, "render", "values/a.yaml", *options)
    assert (code, out) == (1, "")
    assert message in err
