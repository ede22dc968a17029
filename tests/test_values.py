"""Values: merging, `--set`, types and `extends`; the cases of merging.yaml, which docs/values-merging.md lists."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mlxtpl.errors import MlxtplError, Source
from mlxtpl.values import load_values, read_values

CASES = yaml.safe_load((Path(__file__).parent / "merging.yaml").read_text(encoding="utf-8"))
BASE = Source("base.yaml", "name: mnist\nimage: example.com/mnist:1.0\n")


def without_none(value: object) -> object:
    """Drop declared but absent keys, which are None."""
    if isinstance(value, dict):
        return {key: without_none(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [without_none(each) for each in value]
    return value


@pytest.mark.parametrize("title", CASES)
def test_merging(title: str) -> None:
    """Each row of the table of merges."""
    case = CASES[title]
    files = [BASE, *(Source(f"{n}.yaml", text) for n, text in enumerate(case.get("files", []), 1))]
    sets = [(option, text) for option, text in case.get("set", [])]
    if "error" in case:
        with pytest.raises(MlxtplError, match=r".") as caught:
            load_values(files, sets)
        assert case["error"] in str(caught.value)
        assert all(problem.place or problem.notes for problem in caught.value.problems)
    else:
        tree = load_values(files, sets).tree
        for key, wanted in case["want"].items():
            assert without_none(tree[key]) == wanted, key


def test_every_case_is_in_the_docs() -> None:
    """docs/values-merging.md has a row for each case."""
    page = Path(__file__).parent.parent / "docs" / "values-merging.md"
    text = page.read_text(encoding="utf-8")
    assert [title for title in CASES if title not in text] == []


@given(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=40))
def test_set_string_takes_any_text(text: str) -> None:
    """Whatever text is escaped for --set-string arrives as it was."""
    escaped = "".join(f"\\{c}" if c in "\\,{" else c for c in text)
    tree = load_values([BASE], [("set-string", f"env.A={escaped}")]).tree
    assert tree["env"]["A"] == text


def write(folder: Path, files: dict[str, str]) -> None:
    """Write a tree of files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_extends_resolves_against_the_file_that_writes_it(tmp_path: Path) -> None:
    """A chain over directories, and a list of parents: later ones win."""
    write(
        tmp_path,
        {
            "a/base.yaml": "name: base\nimage: x:1\nzone: base\nresources: {cpu: 1, memory: 1Gi}\n",
            "b/extra.yaml": "zone: extra\n",
            "b/mid.yaml": "extends: [../a/base.yaml, extra.yaml]\nresources: {cpu: 2}\n",
            "top.yaml": "extends: b/mid.yaml\nname: top\n",
        },
    )
    tree = load_values([read_values(str(tmp_path / "top.yaml"))]).tree
    assert (tree["name"], tree["zone"], tree["image"]) == ("top", "extra", "x:1")
    assert without_none(tree["resources"]) == {"cpu": "2", "memory": "1Gi"}


def test_extends_twice_the_same_file_is_no_cycle(tmp_path: Path) -> None:
    """A diamond is fine."""
    write(
        tmp_path,
        {
            "base.yaml": "name: base\nimage: x:1\n",
            "left.yaml": "extends: base.yaml\nzone: left\n",
            "right.yaml": "extends: base.yaml\n",
            "top.yaml": "extends: [left.yaml, right.yaml]\n",
        },
    )
    assert load_values([read_values(str(tmp_path / "top.yaml"))]).tree["zone"] == "left"


def test_files_are_read_beside_the_values_that_name_them(tmp_path: Path) -> None:
    """Text, JSON, YAML and bytes; keys are made from the paths."""
    write(
        tmp_path,
        {
            "base/base.yaml": "name: a\nimage: x:1\nfiles: {/etc/a.txt: {from: a.txt}}\n",
            "base/a.txt": "text of a\n",
            "top.yaml": "extends: base/base.yaml\nfiles: {/etc/b.json: {json: {a: 1e-4, b: [on]}}, /etc/c: {from: c.bin}}\n",
        },
    )
    (tmp_path / "c.bin").write_bytes(b"\xff\x00")
    files = load_values([read_values(str(tmp_path / "top.yaml"))]).tree["files"]
    assert files["/etc/a.txt"] == {"key": "etc_a.txt", "text": "text of a\n", "base64": None}
    assert files["/etc/b.json"]["text"] == '{\n  "a": 0.0001,\n  "b": [\n    true\n  ]\n}\n'
    assert files["/etc/c"] == {"key": "etc_c", "text": None, "base64": "/wA="}


def test_every_problem_of_a_file_is_told() -> None:
    """Not the first one only."""
    text = "name: A\nimage: x\nresources: {gpus: eight, cpus: 1}\nttl: 3y\nfoo: 1\n"
    with pytest.raises(MlxtplError) as caught:
        load_values([Source("x.yaml", text)])
    assert [problem.where for problem in caught.value.problems] == [
        "name",
        "resources.gpus",
        "resources.cpus",
        "ttl",
        "foo",
    ]
