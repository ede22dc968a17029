"""The command line: exit codes, streams, and what bad input gets."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mlxtpl import __version__
from mlxtpl.cli import COMMANDS, main

GOOD = "name: mnist\nimage: x:1\nresources: {cpu: 1, memory: 1Gi}\n"


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    """Exit code, stdout, stderr."""
    code = main(list(argv))
    out, err = capsys.readouterr()
    return code, out, err


BAD: dict[str, bytes] = {
    "empty": b"",
    "only comments": b"# nothing\n",
    "binary": bytes(range(256)) * 10,
    "zeros": b"\0" * 100,
    "latin-1": "name: caf\xe9\n".encode("latin-1"),
    "utf-16": "name: x\n".encode("utf-16"),
    "huge": b"a: " + b"x" * (50 * 1024 * 1024),
    "deep": b"[" * 100_000,
    "deep map": b"{a: " * 100_000,
    "alias bomb": b"a: &a [x,x,x,x,x,x,x,x,x]\n"
    + b"".join(f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n".encode() for n in range(12)),
    "self alias": b"a: &a [*a]\n",
    "scalar": b"hello\n",
    "list": b"- a\n- b\n",
    "two documents": b"name: a\n---\nname: b\n",
    "manifest": b"apiVersion: v1\nkind: Pod\n",
    "tab": b"name: a\nenv:\n\tA: b\n",
    "duplicate key": b"name: a\nname: b\n",
    "python tag": b"name: !!python/object/apply:os.system [id]\n",
    "open quote": b"name: 'a\n",
    "null key": b"? \n: x\n",
    "list key": b"? [a]\n: x\n",
    "wrong types": b"name: [a]\nimage: 5\nenv: text\nargs: 7\nvolumes: [a]\ndistributed: 3\npatch: x\nlayers: a\n",
    "wrong directives": b"name: a\nimage: b\nextends: {a: b}\npackage: [x]\nlayers: [[a], {b: c}]\n",
    "package that is not there": b"name: a\nimage: b\npackage: nowhere\n",
    "layer that is not there": b"name: a\nimage: b\nlayers: [nowhere]\n",
    "extends itself": b"extends: values.yaml\n",
    "null extends and bad name": b"extends: null\nname: A_B\nimage: x\n",
    "patch that clashes": b"name: a\nimage: b\npatch: {pod: {spec: {containers: {a: b}}}}\n",
    "patch without a key": b"name: a\nimage: b\npatch: {container: {env: [{value: x}]}}\n",
    "patch that hangs the job": b"name: a\nimage: b\ndistributed: {nodes: 2}\npatch: {job: {spec: {elasticPolicy: null}}}\n",
    "patch with nan": b"name: a\nimage: b\npatch: {pod: {spec: {x: .nan}}}\n",
    "surrogate": b'name: a\nimage: b\nenv: {A: "\\ud800"}\n',
}


@pytest.mark.parametrize("fault", BAD)
def test_bad_values(fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 1, nothing on stdout, no traceback, and the message names the file."""
    path = tmp_path / "values.yaml"
    path.write_bytes(BAD[fault])
    code, out, err = run(capsys, "render", str(path))
    assert (code, out) == (1, ""), err
    assert "Traceback" not in err
    assert str(path) in err


def test_missing_file_and_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A path that cannot be read is told by its name."""
    for path in (tmp_path / "nothing.yaml", tmp_path / "a\nb.yaml"):
        code, out, err = run(capsys, "render", str(path))
        assert (code, out) == (1, "")
        assert "no such file" in err


LAYERS: dict[str, tuple[dict[str, str], str]] = {
    "no package.yaml": ({"p/base/job.yaml.j2": "a: 1"}, "p/package.yaml: the file does not exist"),
    "a layer outside": (
        {"p/package.yaml": "name: p\nlayers: [../evil]", "evil/job.yaml.j2": "a: 1"},
        "outside its package",
    ),
    "a layer that is missing": ({"p/package.yaml": "name: p\nlayers: [base]"}, 'the layer "base" does not exist'),
    "no layers": ({"p/package.yaml": "name: p\n"}, "must be a list of layer directories"),
    "an unknown key": ({"p/package.yaml": "name: p\nlayer: [a]"}, "did you mean layers?"),
    "a layer without templates": ({"p/package.yaml": "name: p\nlayers: [a]", "p/a/x": ""}, "has no template"),
    "a wrong schema": (
        {"p/package.yaml": "name: p\nlayers: [a]", "p/a/job.yaml.j2": "a: 1", "p/a/schema.yaml": "name: {typ: string}"},
        "is no valid rule",
    ),
    "a key twice": (
        {
            "p/package.yaml": "name: p\nlayers: [a, b]",
            "p/a/job.yaml.j2": "a: 1",
            "p/b/job.yaml.j2": "a: 1",
            "p/a/schema.yaml": "name: {type: string}\nimage: {type: string}",
            "p/b/schema.yaml": "name: {type: string}",
        },
        "declared twice",
    ),
    "a template that is wrong": (
        {
            "p/package.yaml": "name: p\nlayers: [a]",
            "p/a/job.yaml.j2": "a: {{ b",
            "p/a/schema.yaml": "name: {type: string}\nimage: {type: string}",
        },
        "p/a/job.yaml.j2:1",
    ),
    "an object without a kind": (
        {
            "p/package.yaml": "name: p\nlayers: [a]",
            "p/a/job.yaml.j2": "apiVersion: v1",
            "p/a/schema.yaml": "name: {type: string}\nimage: {type: string}",
        },
        "without kind",
    ),
}


@pytest.mark.parametrize("fault", LAYERS)
def test_bad_packages(
    fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package or layer that is wrong is told with its file."""
    files, message = LAYERS[fault]
    for name, text in {**files, "v.yaml": "name: mnist\nimage: x:1\n"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, "render", "v.yaml", "--package", "p")
    assert (code, out) == (1, ""), err
    assert message in err
    assert "Traceback" not in err


def test_own_layer_and_package(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A layer of one's own comes before `user`, has its keys and defaults, and adds an object."""
    files = {
        "wandb/schema.yaml": "wandb: {type: [boolean, dict], schema: {mode: {type: string}}}\n",
        "wandb/defaults.yaml": "wandb: {mode: online}\n",
        "wandb/container.yaml.j2": "env: [{name: WANDB_MODE, value: {{ wandb.mode }}}]\n",
        "wandb/config.yaml.j2": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ name }}-wandb}\n",
        "v.yaml": GOOD + "layers: [wandb]\nwandb: true\nenv: {A: b}\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, "render", "v.yaml")
    assert code == 0, err
    assert out.startswith("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: mnist-wandb\n---\n")
    assert out.index("WANDB_MODE") < out.index("name: A")


def test_a_linked_layer_file_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A template that is a link out of the layer is not read."""
    (tmp_path / "secret").write_text("apiVersion: v1\nkind: Secret\n", encoding="utf-8")
    (tmp_path / "layer").mkdir()
    (tmp_path / "layer" / "job.yaml.j2").symlink_to(tmp_path / "secret")
    (tmp_path / "v.yaml").write_text(GOOD, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, "render", "v.yaml", "--layer", "layer")
    assert (code, out) == (1, "")
    assert "leads out of its package" in err


@pytest.mark.parametrize("argv", [["rendr", "x"], ["render"], ["render", "x", "--nope"], ["values", "--format", "xml"]])
def test_usage(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Wrong usage is exit code 2, with nothing on stdout."""
    code, out, err = run(capsys, *argv)
    assert (code, out) == (2, "")
    assert "Error" in err or "Usage" in err


def test_a_misspelt_command_gets_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    """The nearest command is named."""
    assert "Did you mean render?" in run(capsys, "rendr")[2]


def test_a_cold_render_imports_little(tmp_path: Path) -> None:
    """What was measured to cost a cold start and is not needed stays out: a tenth of it was importlib.metadata."""
    (tmp_path / "v.yaml").write_text(GOOD, encoding="utf-8")
    heavy = ("importlib.metadata", "difflib", "mlxtpl.kube_schema", "mlxtpl.explain", "jsonschema", "copier", "gzip")
    code = (
        "import sys\nfrom mlxtpl.cli import main\nmain(['render', sys.argv[1]])\n"
        f"print([n for n in {heavy} if n in sys.modules], file=sys.stderr)"
    )
    ask = [sys.executable, "-c", code, str(tmp_path / "v.yaml")]
    answer = subprocess.run(ask, capture_output=True, encoding="utf-8", check=True, env=os.environ)
    assert answer.stderr == "[]\n"


def test_help_and_version_import_little() -> None:
    """--help and --version work without jinja2, yaml's heavy users and cerberus."""
    code = (
        "import sys\nfrom mlxtpl.cli import main\nmain([sys.argv[1]])\n"
        "print([n for n in ('jinja2', 'cerberus', 'copier') if n in sys.modules])"
    )
    for option in ("--help", "--version"):
        answer = subprocess.run(
            [sys.executable, "-c", code, option], capture_output=True, encoding="utf-8", check=True, env=os.environ
        )
        assert answer.stdout.endswith("[]\n")
        assert __version__ in answer.stdout or all(name in answer.stdout for name in COMMANDS)


def test_standard_input(tmp_path: Path) -> None:
    """`-` reads standard input; a closed pipe is no error; a full disk is one line."""
    ask = [sys.executable, "-m", "mlxtpl", "render", "-"]
    answer = subprocess.run(ask, input=GOOD.encode(), capture_output=True, check=False)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith(b"apiVersion: batch/v1")
    if Path("/dev/full").exists():
        with Path("/dev/full").open("wb") as full:
            answer = subprocess.run(ask, input=GOOD.encode(), stdout=full, stderr=subprocess.PIPE, check=False)
        assert answer.returncode == 1
        assert answer.stderr.decode() == "error: output: cannot write to standard output: no space left on device\n"


@pytest.mark.parametrize("streams", [">&-", "<&-", ">&- 2>&-"])
def test_closed_streams(streams: str) -> None:
    """A stream that the shell closed is told, or is nothing to talk to; never a bug."""
    ask = ["bash", "-c", f"{sys.executable} -m mlxtpl render - {streams}"]
    answer = subprocess.run(ask, capture_output=True, encoding="utf-8", check=False, input=GOOD)
    assert (answer.returncode, answer.stdout) == (1, "")
    assert "closed" in answer.stderr or "2>" in streams


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set", "resources.gpus=.inf"], 'must be an integer, found ".inf"'),
        (["--set", "resources.gpus=.nan"], 'must be an integer, found ".nan"'),
        (["--set", "resources.gpus=0" + "7" * 5000], "must be an integer"),
        (["--set", "patch" + ".a" * 1500 + "=1"], "more than 100 steps"),
        (["--set-json", "patch=" + "[" * 900 + "]" * 900], "nested too deeply"),
        (["--set-json", 'patch={"container": {"name": ["x"]}}'], "must be a scalar"),
        (
            ["--set-json", 'patch={"job": {"metadata": {"namespace": [3]}}}'],
            "metadata.namespace of the Job must be text",
        ),
        (["--set-json", 'patch={"job": {"metadata": {"name": null}}}'], "metadata.name of the Job must be text"),
        (["--format", "json", "--set-json", 'env={"A": "\\ud800"}'], "lone surrogate"),
    ],
)
def test_odd_values(tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str) -> None:
    """None of them is a bug of ours."""
    path = tmp_path / "v.yaml"
    path.write_text(GOOD, encoding="utf-8")
    code, out, err = run(capsys, "render", str(path), *options)
    assert (code, out) == (1, "")
    assert message in err


def test_thousands_of_problems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are told in a moment, and not all of them."""
    path = tmp_path / "v.yaml"
    path.write_text(GOOD + "".join(f"key{n}: 1\n" for n in range(5000)), encoding="utf-8")
    code, _, err = run(capsys, "render", str(path))
    assert code == 1
    assert "201 problems" in err
    assert "more than 200 problems" in err


def test_a_stranger_s_layer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its defaults read no file outside of it, its regular expressions do not run for ever, its files are files."""
    values, layer = tmp_path / "v.yaml", tmp_path / "layer"
    values.write_text(GOOD, encoding="utf-8")
    layer.mkdir()
    (layer / "pod.yaml.j2").write_text("x: null\n", encoding="utf-8")
    ask = ("render", str(values), "--layer", str(layer))
    (layer / "defaults.yaml").write_text("files: {/x: {from: ../v.yaml}}\n", encoding="utf-8")
    assert "lies outside of the layer that names it" in run(capsys, *ask)[2]
    (layer / "defaults.yaml").write_text("files: {/x: {from: pod.yaml.j2}}\n", encoding="utf-8")
    assert run(capsys, *ask)[0] == 0
    (layer / "schema.yaml").write_text("foo: {type: string, regex: '(a+)+b'}\n", encoding="utf-8")
    (layer / "defaults.yaml").write_text(f"foo: {'a' * 40}\n", encoding="utf-8")
    assert "regular expressions of the schema take too long" in run(capsys, *ask)[2]
    (layer / "schema.yaml").unlink()
    (layer / "defaults.yaml").unlink()
    (layer / "pod.yaml.j2").unlink()
    os.mkfifo(layer / "pod.yaml.j2")
    assert "is no regular file" in run(capsys, *ask)[2]


def test_an_option_that_is_no_text(capsys: pytest.CaptureFixture[str]) -> None:
    """Bytes of a shell that are no UTF-8 are refused with the option's name."""
    code, out, err = run(capsys, "render", os.devnull, "--set", "env.A=\udcff")
    assert (code, out) == (1, "")
    assert "--set #1: the option is no UTF-8 text" in err


def test_values_lists_every_key(capsys: pytest.CaptureFixture[str]) -> None:
    """Each declared key is listed with a doc."""
    code, out, _ = run(capsys, "values")
    assert code == 0
    for word in ("name: string  (required)", "imagePullPolicy", "distributed: bool or map", "= 3w"):
        assert word in out


def test_json_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--format json is one document."""
    import json

    (tmp_path / "v.yaml").write_text(GOOD + "files: {/a: {text: b}}\n", encoding="utf-8")
    code, out, _ = run(capsys, "render", str(tmp_path / "v.yaml"), "--format", "json")
    assert code == 0
    assert [each["kind"] for each in json.loads(out)["items"]] == ["ConfigMap", "Job"]
