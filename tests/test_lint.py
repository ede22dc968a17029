"""`mlxtpl lint`: one test per folder of tests/lint, and what formats, waivers, repairs and odd input come to.

A folder holds what somebody has, perhaps `args` (one more argument a line), and output.txt: the exit code, stdout and
stderr of `mlxtpl lint`. `pytest --update` rewrites output.txt; read the diff before you keep it.
"""

from __future__ import annotations

import copy
import io
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mlxtpl import lint, repairs, yamlio
from mlxtpl.cli import main
from mlxtpl.effective_pods import effective_pods
from mlxtpl.errors import Source, YamlError
from mlxtpl.resources import plain
from mlxtpl.rules import RULES, Rule
from mlxtpl.trainjob import reports
from mlxtpl.yamldump import dump

CASES = sorted(path for path in (Path(__file__).parent / "lint").iterdir() if path.is_dir())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(
    case: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command says what is written down."""
    monkeypatch.chdir(case)
    more = Path("args").read_text(encoding="utf-8").splitlines() if Path("args").exists() else []
    code = main(["lint", *(more or ["."])])
    out, err = capsys.readouterr()
    text = f"exit code {code}\n\n{out}{err}"
    golden = Path("output.txt")
    if request.config.getoption("--update"):
        golden.write_text(text, encoding="utf-8", newline="\n")
    assert golden.exists(), f"no output.txt yet; read this, then run pytest --update\n{text}"
    assert text == golden.read_text(encoding="utf-8")


JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: mnist, namespace: p-myproject}
spec:
  backoffLimit: 1
  ttlSecondsAfterFinished: 1814400
  template:
    metadata: {annotations: {sidecar.istio.io/inject: "false"}}
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: example.com/mnist:1.0
          command: [python, -u, train.py]
          args: [--lr, 1e-4]   # the rate
          resources: {limits: {cpu: 4, memory: 8Gi, nvidia.com/gpu: 1}}
          env:
            - {name: API_TOKEN, value: hf_abcdefghijklmnopqrstuvwxyz012345}
"""


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    """Exit code, stdout, stderr."""
    code = main(["lint", *argv])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A manifest with a number where text is due and a secret in plain text; its folder is the working directory."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "job.yaml"
    path.write_text(JOB, encoding="utf-8")
    return path


def test_json(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each problem is a row with its rule and place."""
    code, out, _ = run(capsys, "job.yaml", "--format", "json")
    row = next(each for each in json.loads(out) if each["rule"] == "wrong-type")
    assert code == 1
    assert (row["file"], row["line"], row["column"], row["level"]) == ("job.yaml", 15, 24, "error")
    assert row["where"] == "p-myproject/Job/mnist: spec.template.spec.containers[main].args[1]"
    assert row["fixable"]


def test_sarif(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The log fits the model that was generated from the official schema of SARIF 2.1.0, which takes no unknown field."""
    model = pytest.importorskip("pydantic_sarif.model", reason="needs the SARIF schema: pip install pydantic-sarif")
    _, out, _ = run(capsys, "job.yaml", ".", "--format", "sarif")
    log = model.StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate_json(out)
    result = next(each for each in json.loads(out)["runs"][0]["results"] if each["ruleId"] == "wrong-type")
    region = result["locations"][0]["physicalLocation"]["region"]
    assert (result["level"], region) == ("error", {"startLine": 15, "startColumn": 24, "endColumn": 28})
    assert log.runs[0].tool.driver.rules[result["ruleIndex"]].id == "wrong-type"
    with pytest.raises(ValueError, match="extra"):
        model.StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate({**json.loads(out), "more": 1})


def test_github(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One workflow command a problem, on one line, its special characters escaped."""
    _, out, _ = run(capsys, "job.yaml", "--format", "github")
    wanted = "::error file=job.yaml,line=15,col=24,endColumn=28,title=wrong-type::p-myproject/Job/mnist: "
    assert any(line.startswith(wanted) for line in out.splitlines())
    assert all(line.startswith("::") for line in out.splitlines())


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_a_secret_is_never_shown(job: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither in a message nor in the source line beside it, of whatever rule."""
    job.write_text(
        JOB.replace("image: example.com/mnist:1.0", "imagePullPolicy: x").replace("- {name", "- {nam: 1, name")
    )
    _, out, err = run(capsys, "job.yaml", "--format", form)
    assert "plain-secret" in out
    assert "abcdefghijklmnop" not in out + err


def test_only_the_secret_is_hidden(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a script with a token in it the rest stays readable."""
    script = "command: [bash, -c, 'exit; curl -H hf_abcdefghijklmnopqrstuvwxyz012345 x']"
    job.write_text(JOB.replace("command: [python, -u, train.py]", script), encoding="utf-8")
    out = run(capsys, "job.yaml")[1]
    assert f"[bash, -c, 'exit; curl -H {'*' * 35} x']" in out


def test_levels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A warning fails the lint unless only errors count; an info only when asked for."""
    monkeypatch.chdir(tmp_path)
    good = JOB.replace("1e-4", '"1e-4"').partition("          env:")[0]
    Path("job.yaml").write_text(good.replace("  ttlSecondsAfterFinished: 1814400\n", ""), encoding="utf-8")
    assert [run(capsys, "job.yaml", "--level", level)[0] for level in ("error", "warning", "info")] == [0, 1, 1]
    Path("job.yaml").write_text(good, encoding="utf-8")
    assert [run(capsys, "job.yaml", "--level", level)[0] for level in ("error", "warning", "info")] == [0, 0, 1]


def test_fix(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A dry run shows the change alone; the repair makes it and nothing else; a second one finds nothing to do."""
    data = b"\xef\xbb\xbf" + JOB.replace("\n", "\r\n").encode()
    job.write_bytes(data)
    _, out, err = run(capsys, "job.yaml", "--fix", "--dry-run")
    changed = [line.rstrip() for line in out.splitlines() if line[0] in "+-" and line[1] not in "+-"]
    assert changed == ["-          args: [--lr, 1e-4]   # the rate", '+          args: [--lr, "1e-4"]   # the rate']
    assert "1 would be mended in 1 file" in err
    assert job.read_bytes() == data
    run(capsys, "job.yaml", "--fix")
    assert job.read_bytes() == data.replace(b"1e-4", b'"1e-4"')
    before = job.stat().st_mtime_ns
    assert "mended" not in run(capsys, "job.yaml", "--fix")[2]
    assert job.stat().st_mtime_ns == before


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.ID)
def test_what_a_repair_writes_is_clean(rule: Rule) -> None:
    """Of each rule that can mend: its bad cases, mended, have nothing left to mend, and a second time changes nothing."""
    path = Path(__file__).parent / f"rules/{rule.ID}.yaml"
    cases: Any = plain(yamlio.load_one(yamlio.read_source(path)))
    for case in cases["bad"]:
        options = lint.Options("2026-01-01", case.get("driver", ""))
        if not any(isinstance(each, dict) and each.get("kind") for each in case["manifest"]):
            continue
        try:
            source = Source("m.yaml", dump(case["manifest"]))
        except YamlError:
            continue  # a shape that no text has
        after, made, linted = repairs.repaired(source, lambda each, how=options: lint.lint_source(each, how))
        left = [each for each in linted.found if each.edits and each.rule == rule.ID]
        assert left == [], case
        assert repairs.repaired(after, lambda each, how=options: lint.lint_source(each, how))[:2] == (after, [])
        assert bool(made) == (after != source)


def test_stdin(job: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """`-` is what somebody pipes in."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(JOB.encode())))
    code, out, _ = run(capsys, "-")
    assert code == 1
    assert "--> <stdin>:15:24" in out


def test_an_empty_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong path in CI must not pass for clean."""
    code, out, _ = run(capsys, str(tmp_path))
    assert code == 1
    assert "has no file to check" in out


def test_keys_in_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A misspelt key that values only pass on is told at the key, not at the first value below it."""
    monkeypatch.chdir(tmp_path)
    text = """\
name: a
image: x:1
tolerations: [{key: g, operater: Exists}]
patch:
  pod:
    spec:
      securityContxt:
        runAsUser: 1
"""
    Path("v.yaml").write_text(text, encoding="utf-8")
    _, out, _ = run(capsys, "v.yaml", "--format", "json")
    found = {(each["line"], each["column"]) for each in json.loads(out) if each["rule"] == "unknown-field"}
    assert found == {(3, 24), (7, 7)}


def test_odd_objects() -> None:
    """Whatever stands in a field: a finding or none, and what --fix writes is YAML that it finds nothing more to mend in."""
    random = Random(1)
    cases: Any = plain(yamlio.load_one(yamlio.read_source(Path(__file__).with_name("import.yaml"))))
    bases = [plain(yamlio.load_one(Source("m", text))) for text in cases.values()]
    odd: list[Any] = [
        None,
        0,
        -1,
        10**18,
        1.5,
        True,
        "",
        "${A}",
        [],
        {},
        [None],
        [[]],
        [{}],
        {"a": None},
        "{ x }",
        "<a>",
    ]
    how = lint.Options("2026-01-01", "535.129")
    for number in range(300):
        obj = copy.deepcopy(random.choice(bases))
        for _ in range(random.choice((1, 1, 2, 3))):
            _replace_somewhere(obj, random, copy.deepcopy(random.choice(odd)))
        source = Source("m.yaml", dump([obj]))
        lint.lint_source(source, how)
        effective_pods([obj])
        reports([obj])
        if number % 10 == 0:
            after, _, _ = repairs.repaired(source, lambda each: lint.lint_source(each, how))
            assert repairs.repaired(after, lambda each: lint.lint_source(each, how))[:2] == (after, [])


def _replace_somewhere(tree: Any, random: Random, value: Any) -> None:
    steps = list(tree) if isinstance(tree, dict) else range(len(tree))
    step = random.choice(list(steps))
    inner = tree[step]
    if isinstance(inner, (dict, list)) and inner and random.random() < 0.85:
        _replace_somewhere(inner, random, value)
    else:
        tree[step] = value


def test_binary_and_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line each; the good file is linted all the same."""
    monkeypatch.chdir(tmp_path)
    Path("a.bin").write_bytes(b"\x7fELF\0\0")
    Path("cm.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", encoding="utf-8")
    code, out, err = run(capsys, "a.bin", "none.yaml", "cm.yaml")
    assert code == 1
    assert "error: a.bin: the file is binary, not YAML text" in out
    assert "error: none.yaml: cannot read the file: no such file or directory" in out
    assert "2 errors in 1 object of 3 paths" in err


def test_many_files_on_all_cores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same as one by one, in order."""
    for number in range(250):
        (tmp_path / f"job{number:03}.yaml").write_text(JOB.replace("name: mnist", f"name: j{number}"), encoding="utf-8")
    code, out, _ = run(capsys, str(tmp_path), "--format", "json")
    rows = [each for each in json.loads(out) if each["rule"] == "wrong-type"]
    assert code == 1
    assert [Path(each["file"]).name for each in rows] == [f"job{number:03}.yaml" for number in range(250)]


def test_render_tells_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`render` stops at an error and tells the line of the values; --no-lint prints all the same."""
    monkeypatch.chdir(tmp_path)
    text = "name: a\nimage: x:1\nresources: {memory: 8Gi}\npatch:\n  container:\n    volumeMounts:\n      - {name: d, mountPath: /d}\n"
    Path("v.yaml").write_text(text, encoding="utf-8")
    assert main(["render", "v.yaml"]) == 1
    assert "--> v.yaml:7:16" in capsys.readouterr().err
    assert main(["render", "v.yaml", "--no-lint"]) == 0
    out, err = capsys.readouterr()
    assert "mountPath: /d" in out
    assert err == ""
    waived = f"{text}lint: {{ignore: {{undeclared-volume: {{reason: comes with a webhook}}}}}}\n"
    Path("v.yaml").write_text(waived, encoding="utf-8")
    assert main(["render", "v.yaml"]) == 0


def test_rules_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Every rule is listed and explained; a misspelt one has a hint."""
    assert main(["rules"]) == 0
    listed = capsys.readouterr().out
    for rule in RULES:
        assert f"\n{rule.ID} " in f"\n{listed}"
    assert main(["rules", "long-name"]) == 0
    assert capsys.readouterr().out.startswith("long-name (warning)\n\nThe name of a job is longer than 50 characters.")
    assert main(["rules", "long-nam"]) == 2
    assert "Did you mean long-name?" in capsys.readouterr().err
