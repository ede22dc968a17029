"""A wrong schema.yaml of somebody's own layer is told with its place, before a value is looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlxtpl.cli import main

WRONG = {
    "foo: [a]": "must be a map of rules",
    "foo: null": "must be a map of rules",
    "foo: {type: strin}": "must be one or a list of string",
    "foo: {type: null}": "must be one or a list of string",
    "foo: {type: []}": "must be one or a list of string",
    "foo: {type: {a: b}}": "must be one or a list of string",
    "foo: {typ: string}": "is no valid rule",
    "foo: {anyof: [{type: string}]}": "is no valid rule",
    "foo: {type: string, default: 5}": "is no valid rule",
    "foo: {type: string, coerce: x}": "is no valid rule",
    "foo: {type: string, regex: '['}": "must be a regular expression",
    "foo: {type: string, regex: 5}": "must be a regular expression",
    "foo: {type: integer, min: a}": "must be a number",
    "foo: {type: string, maxlength: -1}": "must be a whole number",
    "foo: {type: string, allowed: 5}": "must be a list",
    "foo: {type: string, dependencies: [1]}": "must be a key or a list of keys",
    "foo: {type: dict, exactlyOneKey: a}": "must be a list of keys",
    "foo: {type: dict, schema: 5}": "must be a map",
    "foo: {type: dict, schema: {bar: 5}}": "must be a map of rules",
    "foo: {type: dict, valuesrules: 5}": "must be a map of rules",
    "foo: {type: dict, keysrules: {type: [5]}}": "must be one or a list of string",
    "foo: {type: list, elements: {type: x}}": "must be one or a list of string",
    "foo: {type: string, meta: 5}": "must be a map",
    "foo: {type: string, meta: {path: 5}}": "must be a map",
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_schema(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both commands that read a schema end with exit code 1 and the place."""
    (tmp_path / "layer").mkdir()
    (tmp_path / "layer" / "job.yaml.j2").write_text("spec: {a: 1}\n", encoding="utf-8")
    (tmp_path / "layer" / "schema.yaml").write_text(text + "\n", encoding="utf-8")
    (tmp_path / "v.yaml").write_text("name: a\nimage: b\nfoo: x\n", encoding="utf-8")
    layer = str(tmp_path / "layer")
    for argv in (["render", str(tmp_path / "v.yaml"), "--layer", layer], ["values", "--schema", "--layer", layer]):
        assert main(argv) == 1
        out, err = capsys.readouterr()
        assert out == ""
        assert WRONG[text] in err
        assert f"{layer}/schema.yaml:1:" in err
