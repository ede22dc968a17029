"""Many jobs in one call: directories, output files, the drift check, and sweeps."""

from __future__ import annotations

import csv
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from mlxtpl import batch, processes
from mlxtpl.cli import main
from mlxtpl.values import read_values
from mlxtpl.yamldump import dump

GOOD = "name: {name}\nimage: x:1\nresources: {{cpu: 1, memory: 1Gi}}\n"


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


def test_values_files_are_never_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """-o into the directory of the values files, or onto any file that is no manifest."""
    before = {path.name: path.read_bytes() for path in (folder / "values").iterdir()}
    code, _, err = run(capsys, "render", "values", "-o", "values")
    assert code == 1
    assert "values/a.yaml: is no rendered manifest and is left as it is" in err
    assert {path.name: path.read_bytes() for path in (folder / "values").iterdir()} == before


def test_the_same_object_in_two_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With -o it is a warning: who applies the whole directory keeps one of the two."""
    (folder / "values/b.yaml").write_text(GOOD.format(name="a"), encoding="utf-8")
    code, _, err = run(capsys, "render", "values", "-o", "out")
    assert code == 0
    assert "warning: lint: Job/a: is rendered by a.yaml and by b.yaml" in err


def test_mode_link_and_long_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A replaced file keeps its mode, a link is followed, somebody's own dot files stay, a long name is written."""
    out = folder / "out"
    out.mkdir()
    (folder / "real.yaml").write_text("apiVersion: v1\n", encoding="utf-8")
    (folder / "real.yaml").chmod(0o600)
    (out / "a.yaml").symlink_to("../real.yaml")
    (out / ".mlxtpl-notes").write_text("mine", encoding="utf-8")
    (out / ".mlxtpl-cache").mkdir()
    (folder / "values" / ("l" * 240 + ".yaml")).write_text(GOOD.format(name="long"), encoding="utf-8")
    assert run(capsys, "render", "values", "-o", "out")[0] == 0
    assert (out / "a.yaml").is_symlink()
    assert "kind: Job" in (folder / "real.yaml").read_text(encoding="utf-8")
    assert (folder / "real.yaml").stat().st_mode & 0o777 == 0o600
    assert (out / ".mlxtpl-notes").read_text(encoding="utf-8") == "mine"
    assert (out / ("l" * 240 + ".yaml")).exists()
    assert "is no directory" in run(capsys, "render", "values", "--check", "real.yaml")[2]


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


def test_a_full_disk_leaves_the_old_file(folder: Path) -> None:
    """A write that fails half-way (here by a limit on a file's size) is told, and the old text is still there."""
    ask = [sys.executable, "-m", "mlxtpl", "render", "values", "-o", "out"]
    subprocess.run(ask, check=True, cwd=folder)
    old = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
    for path in (folder / "values").glob("[a-z]*.yaml"):
        path.write_text(path.read_text(encoding="utf-8") + "zone: z\n", encoding="utf-8")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    answer = subprocess.run(ask, cwd=folder, preexec_fn=limit, capture_output=True, encoding="utf-8", check=False)
    assert answer.returncode == 1
    assert "cannot write the file: file too large" in answer.stderr
    assert {path.name: path.read_bytes() for path in (folder / "out").iterdir()} == old


def test_interrupted(folder: Path) -> None:
    """^C ends with 130, says nothing more, and leaves whole files."""
    many(folder, 400)
    process = subprocess.Popen(
        [sys.executable, "-m", "mlxtpl", "render", "many", "-o", "out"], cwd=folder, stderr=subprocess.PIPE
    )
    while not list((folder / "out").glob("*.yaml")) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err.strip()) == (130, b"")
    for path in (folder / "out").glob("[!.]*"):
        assert yaml.safe_load(path.read_bytes())["kind"] == "Job"


def test_all_cores_give_what_one_gives(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many files are rendered by several processes: the same texts in the same order, errors in their place."""
    many(folder, 230)
    (folder / "many/v7.yaml").write_text("name: B_\n", encoding="utf-8")
    monkeypatch.chdir(folder)
    paths = batch.expand(["many"])
    ask = {"sets": [], "package_path": None, "layer_paths": []}
    monkeypatch.setattr(processes, "_cores", lambda: 3)
    several = list(batch.render_files(paths, read_values, [], ask, dump))
    monkeypatch.setattr(processes, "_cores", lambda: 1)
    one = list(batch.render_files(paths, read_values, [], ask, dump))
    assert [each._replace(error=None) for each in several] == [each._replace(error=None) for each in one]
    assert [str(each.error) for each in several if each.error] == [str(each.error) for each in one if each.error]
    assert sum(1 for each in several if each.error) == 1


def test_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception reaches the caller, a killed process is told, and none stays behind."""
    monkeypatch.setattr(processes, "_cores", lambda: 2)

    def fails(number: int) -> int:
        if number == 5:
            raise ZeroDivisionError("five")
        return number

    found = processes.ordered(fails, range(300))
    assert [next(found) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(ZeroDivisionError, match="five"):
        next(found)

    def dies(number: int) -> int:
        if number == 8:
            os._exit(9)
        return number

    with pytest.raises(ChildProcessError, match="killed"):
        list(processes.ordered(dies, range(300)))
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)  # no child is left


def test_a_killed_parent_leaves_no_process(folder: Path) -> None:
    """The children find their pipes broken and end."""
    many(folder, 3000)
    process = subprocess.Popen(
        [sys.executable, "-m", "mlxtpl", "render", "many"], cwd=folder, stdout=subprocess.DEVNULL
    )
    children: list[str] = []
    task = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not task.exists():
        process.kill()
        pytest.skip("there is no /proc with the children of a process: run it on Linux")
    while not children and process.poll() is None:
        children = task.read_text(encoding="ascii").split()
        time.sleep(0.01)
    process.kill()
    process.wait()
    if len(os.sched_getaffinity(0)) > 1:
        assert children
    deadline = time.monotonic() + 10
    while any(running(pid) for pid in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(running(pid) for pid in children)


def running(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").split(")")[1].split()[0] != "Z"
    except OSError:
        return False


def many(folder: Path, count: int) -> None:
    (folder / "many").mkdir()
    for number in range(count):
        (folder / f"many/v{number}.yaml").write_text(GOOD.format(name=f"v{number}"), encoding="utf-8")


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


def test_a_matrix_file_keeps_quotes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Quoted text is text; an include that is there already adds nothing; labels of two keys stay two."""
    text = (
        'matrix:\n  env.A: ["null", "1..3"]\n  args.t: ["true"]\n'
        '  include: [{env.A: x, args.t: y}, {env.A: x, args.t: y}, {"annotations.a/b": p, "annotations.a_b": q}]\n'
    )
    (folder / "m.yaml").write_text(text, encoding="utf-8")
    code, out, _ = run(capsys, "render", "values/a.yaml", "--matrix", "m.yaml", "--format", "json")
    assert code == 0
    jobs = json.loads(out)["items"]
    containers = [job["spec"]["template"]["spec"]["containers"][0] for job in jobs]
    assert [each.get("env", [{}])[0].get("value") for each in containers] == ["null", "1..3", "x", None]
    assert containers[0]["args"] == ["--t", "true"]
    assert len({job["metadata"]["name"] for job in jobs}) == 4
    labels = [value for key, value in jobs[3]["metadata"]["labels"].items() if key.startswith("mlxtpl/")]
    assert sorted(labels) == ["p", "q"]
    (folder / "m.yaml").write_text('matrix: {"env.A=5,env.B": ["1", "2"]}', encoding="utf-8")
    assert "is not one key" in run(capsys, "render", "values/a.yaml", "--matrix", "m.yaml")[2]


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
        (["--matrix", "args.lr=1,args.seed=1..3"], "looks like another axis"),
        (["--matrix", "args.lr=1;args.seed=2,3"], "looks like another axis"),
        (["--matrix", "args.lr={1,2}"], "looks like a list"),
        (["--matrix", "args.lr=1, 2"], "has a space at its end"),
        (["--matrix", "args.lr =1,2"], "has a space"),
        (["--matrix", "args.lr=0.1..0.3"], "is no range"),
        (["--matrix", "args.lr=1..5..2"], "is no range"),
        (["--matrix", "args.lr=01..03"], "leading zeros"),
        (["--matrix", "name=a,b"], "cannot be an axis"),
        (["--matrix", "arg.lr=1..5"], "unknown key"),
        (["--matrix", "exclude.yaml"], "excludes no combination"),
    ],
)
def test_sweep_errors(folder: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str) -> None:
    """Each is one message with exit code 1."""
    text = "matrix: {args.lr: [1e-3, 1e-4], exclude: [{args.lr: 0.001}]}"
    (folder / "exclude.yaml").write_text(text, encoding="utf-8")
    code, out, err = run(capsys, "render", "values/a.yaml", *options)
    assert (code, out) == (1, "")
    assert message in err
    assert err.count(message) == 1
