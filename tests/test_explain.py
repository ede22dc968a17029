"""explain: the same manifest, an origin for every field, and origins that move when their cause moves."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from mlxtpl import explain, fields, yamlio
from mlxtpl.cli import main
from mlxtpl.errors import Source, ValuesError
from mlxtpl.package import data_path
from mlxtpl.pipeline import render
from mlxtpl.values import Packages, load_values, read_values

ROOT = Path(__file__).parent
GOLDENS = ROOT / "explain"
RENDERED = sorted(path.parent for path in (ROOT / "cases").glob("*/expected.yaml"))
PACKAGES: Packages = {}


def run(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    code = main(list(args))
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("case", RENDERED, ids=lambda case: case.name)
def test_every_field_has_an_origin(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tracing changes nothing in the manifest; each origin names a line that is there and holds what it says."""
    monkeypatch.chdir(case)
    lines = Path("args").read_text(encoding="utf-8").splitlines() if Path("args").exists() else []
    sets = [(option.removeprefix("--"), text) for option, text in zip(lines[::2], lines[1::2], strict=True)]
    files = [read_values("values.yaml")]
    values = load_values(files, sets, packages=PACKAGES)
    manifest, explained = explain.explain(values)
    assert manifest == render(files, sets, packages=PACKAGES, linted=False)[0]
    for each in explained:
        assert each.origins, fields.text(each.field)
        winner = each.origins[0]
        assert each.removed or winner.value == each.value or winner.line == 0
        for origin in each.origins:
            template = data_path("templates").parent / origin.template
            assert origin.line <= len(template.read_text(encoding="utf-8").splitlines())
            assert (origin.place is None) == (origin.kind == "template")
            if (
                origin.kind in ("values", "set", "default")
                and isinstance(origin.value, str)
                and origin.value.isprintable()
            ):
                node_text = origin.place.text()[origin.place.column - 1 :]
                # A name of a map stands in its key, before the place of its value.
                in_value = origin.value.strip() in node_text or node_text[:1] in ("", "|", ">")
                assert in_value or origin.value in map(str, origin.path) or "files" in origin.path, each


@pytest.mark.parametrize("golden", sorted(GOLDENS.glob("*.txt")), ids=lambda path: path.stem)
def test_text(
    golden: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whole outputs that a person has read; the first line of each is the command line."""
    monkeypatch.chdir(ROOT.parent)
    ask, _, expected = golden.read_text(encoding="utf-8").partition("\n")
    code, out, err = run(capsys, *re.findall(r"[^\s']+|'[^']*'", ask.replace("'", "'")))
    if request.config.getoption("--update"):
        golden.write_text(f"{ask}\n{out}{err}", encoding="utf-8")
        return
    assert out + err == expected
    assert code in (0, 1)


def origin_of(files: list[Source], field: str, **arguments: object) -> explain.Origin:
    _, explained = explain.explain(load_values(files, **arguments))
    (found,) = explain.below(explained, field)
    return found.origins[0]


def test_an_origin_moves_with_its_cause(tmp_path: Path) -> None:
    """The same field, decided by a template, a default, a partial, a file, an option in turn."""
    package = tmp_path / "package"
    shutil.copytree(data_path("templates"), package)
    base, job = tmp_path / "_base.yaml", tmp_path / "job.yaml"
    base.write_text("name: a\nimage: b\n", encoding="utf-8")
    job.write_text("extends: _base.yaml\n", encoding="utf-8")
    ask = {"package_path": package}
    field = "spec.template.spec.containers[main].imagePullPolicy"

    def origin(**more: object) -> tuple[str, str]:
        found = origin_of([read_values(str(job))], field, **ask, **more)
        return found.kind, found.text().replace(f"{tmp_path}/", "")

    assert origin() == ("default", "default package/base/defaults.yaml:1:18")
    defaults = package / "base/defaults.yaml"
    defaults.write_text("# moved\n" + defaults.read_text(encoding="utf-8"), encoding="utf-8")
    assert origin() == ("default", "default package/base/defaults.yaml:2:18")
    base.write_text("name: a\nimage: b\nimagePullPolicy: Never\n", encoding="utf-8")
    assert origin() == ("values", "_base.yaml:3:18")
    job.write_text("extends: _base.yaml\n\nimagePullPolicy: IfNotPresent\n", encoding="utf-8")
    assert origin() == ("values", "job.yaml:3:18")
    sets = [("set", "name=c"), ("set", "imagePullPolicy=Always")]
    assert origin(sets=sets) == ("set", "--set #2:17")
    job.write_text("extends: _base.yaml\npatch:\n  container: {imagePullPolicy: Always}\n", encoding="utf-8")
    assert origin() == ("patch", "patch job.yaml:3:32")
    container = package / "user/container.yaml.j2"
    container.write_text(container.read_text(encoding="utf-8") + "\n---\nimagePullPolicy: Never\n", encoding="utf-8")
    line = len(container.read_text(encoding="utf-8").splitlines())
    assert origin() == ("template", f"template package/user/container.yaml.j2:{line}")


def test_what_lost_and_what_was_removed() -> None:
    """Losers in order, latest first; a field that null removes says who."""
    source = Source("v.yaml", "name: a\nimage: b\ndebug: true\nenv: {NCCL_DEBUG: WARN}\npatch:\n  container:\n"
                    "    env: [{name: NCCL_DEBUG, value: TRACE}]\n")  # fmt: skip
    _, explained = explain.explain(load_values([source]))
    (found,) = explain.below(explained, "env[NCCL_DEBUG].value")
    assert [(origin.kind, origin.value) for origin in found.origins] == [
        ("patch", "TRACE"),
        ("values", "WARN"),
        ("default", "INFO"),
    ]
    assert str(found.origins[2].switch) == "v.yaml:3:1"
    gone = Source("v.yaml", "name: a\nimage: b\ndebug: true\nenv: {NCCL_DEBUG: null}\n")
    _, explained = explain.explain(load_values([gone]))
    for each in explain.below(explained, "env[NCCL_DEBUG]"):
        assert each.removed
        assert str(each.origins[0].place) == "v.yaml:4:19"


def test_unused() -> None:
    """What decides without being shown is used; what changes nothing is told, with its place."""
    text = "name: a\nimage: b\nsharedMemory: false\nzone: z\nresources: {gpus: 2}\ndebug: false\nnodeSelector: {}\n"
    source = Source("v.yaml", text)
    found = explain.unused([source], {})
    assert [(".".join(path), str(place)) for path, place in found] == [
        ("debug", "v.yaml:6:8"),
        ("nodeSelector", "v.yaml:7:15"),
    ]
    assert [path for path, _ in explain.unused([source], {"sets": [("set", "sharedMemory=true")]})] == [
        ("sharedMemory",),
        ("debug",),
        ("nodeSelector",),
    ]


def test_comments_are_no_data(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """render --explain and values --explain are the same data as without."""
    monkeypatch.chdir(ROOT.parent)
    for verb in ("render", "values"):
        for path in ("values/prod.yaml", "values/deepspeed.yaml"):
            _, plain, _ = run(capsys, verb, path)
            code, told, _ = run(capsys, verb, path, "--explain")
            assert code == 0
            assert " # values/" in told
            assert list(yaml.safe_load_all(told)) == list(yaml.safe_load_all(plain))


def test_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """--format json says the same."""
    monkeypatch.chdir(ROOT.parent)
    code, out, _ = run(capsys, "explain", "values/prod.yaml", "lr", "--format", "json")
    assert code == 1
    code, out, _ = run(capsys, "explain", "values/prod.yaml", "args.lr", "--format", "json")
    assert code == 0
    (row,) = [each for each in json.loads(out) if each["value"] == "1e-4"]
    assert row["origins"][0]["at"] == "values/prod.yaml:9:7"
    assert row["origins"][0]["over"] == [{"value": "1e-3", "at": "values/_base.yaml:13:7"}]
    code, out, _ = run(capsys, "values", "values/prod.yaml", "--explain", "--format", "json")
    rows = {row["key"]: row for row in json.loads(out)}
    assert rows["args.lr"]["at"] == "values/prod.yaml:9:7"


@pytest.mark.parametrize("written", ["a[", 'a["b]', "a]b"])
def test_no_path(written: str) -> None:
    """A bracket that does not end is told."""
    with pytest.raises(ValuesError, match="does not end"):
        fields.parse(written)


def test_marks_leave_no_trace() -> None:
    """Marks are taken out of the text; the place before the first mark belongs to no template."""
    from mlxtpl.tracing import MARK, Marks

    marks = Marks(f"a{MARK}x:3{MARK}b\n{MARK}x:4{MARK}  c{MARK}y:1{MARK}d")
    assert marks.text == "ab\n  cd"
    assert [marks.at(0, 0), marks.at(0, 1), marks.at(1, 0), marks.at(1, 2), marks.at(1, 3)] == [
        ("", 0),
        ("x", 3),
        ("x", 4),
        ("x", 4),
        ("y", 1),
    ]
    assert yamlio.load(Source("x", marks.text))


@pytest.mark.parametrize(
    "text", ["command: [null]\n", "patch: {pod: {}, job: {}}\n", "args: {a: [x, null]}\nlabels: {}\n"]
)
def test_odd_but_valid(text: str) -> None:
    """A null in a list, an empty patch: the same manifest, and every field has an origin."""
    files = [Source("v.yaml", f"name: a\nimage: b\n{text}")]
    manifest, explained = explain.explain(load_values(files))
    assert manifest == render(files, linted=False)[0]
    assert all(each.origins for each in explained)
