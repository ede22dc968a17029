"""Templates: placeholders, the sandbox and its bounds; the cases of templating.yaml."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from mlxtpl.errors import LayerError, Place, Source
from mlxtpl.templating import make_environment, render

CASES = yaml.safe_load((Path(__file__).parent / "templating.yaml").read_text(encoding="utf-8"))
TORTURE = yaml.safe_load((Path(__file__).parent / "torture.yaml").read_text(encoding="utf-8"))


def rendered(folder: Path, template: str, values: dict[str, Any]) -> list[Any]:
    """Render one template of a layer in `folder`."""
    layer = folder / "layer"
    layer.mkdir(exist_ok=True)
    (layer / "job.yaml.j2").write_text(template, encoding="utf-8")
    place = Place(Source("values.yaml", "x\n"), 1, 1)
    return render(make_environment(layer, "layer"), "job.yaml.j2", values, lambda path: place if path else None)


@pytest.mark.parametrize("title", CASES)
def test_case(title: str, tmp_path: Path) -> None:
    """Each case of the file, within two seconds."""
    case = CASES[title]
    (tmp_path / "secret.yaml").write_text("secret: 1\n", encoding="utf-8")
    start = time.monotonic()
    if "want" in case:
        assert rendered(tmp_path, case["template"], case["values"]) == case["want"]
    else:
        with pytest.raises(LayerError) as caught:
            rendered(tmp_path, case["template"], case["values"])
        assert case["error"] in str(caught.value)
        problem = caught.value.problems[0]
        assert problem.place or problem.where
    assert time.monotonic() - start < 5


def test_error_names_the_line_and_the_values(tmp_path: Path) -> None:
    """The template's line, and each value that the line reads."""
    with pytest.raises(LayerError) as caught:
        rendered(tmp_path, "a: 1\nb: x{{ m.k }}{{ n }}\n", {"m": {"k": None}, "n": "1"})
    problem = caught.value.problems[0]
    assert (problem.place.source.name, problem.place.line) == ("layer/job.yaml.j2", 2)
    assert [note[0] for note in problem.notes] == ["value n", "value m.k"] or sorted(
        note[0] for note in problem.notes
    ) == ["value m.k", "value n"]


def test_broken_yaml_names_the_template_line(tmp_path: Path) -> None:
    """Not the line of the rendered text."""
    template = "{% for x in l %}\na{{ x }}: {{ x }}\n{% endfor %}\nb: 1\n   c: 2\n"
    with pytest.raises(LayerError) as caught:
        rendered(tmp_path, template, {"l": list(range(7))})
    problem = caught.value.problems[0]
    assert (problem.place.line, problem.place.text()) == (5, "   c: 2")


def test_a_link_out_of_the_layer_is_refused(tmp_path: Path) -> None:
    """Links are resolved first."""
    (tmp_path / "secret.yaml").write_text("secret: 1\n", encoding="utf-8")
    (tmp_path / "layer").mkdir()
    (tmp_path / "layer" / "link.j2").symlink_to(tmp_path / "secret.yaml")
    with pytest.raises(LayerError, match="leads out of its package"):
        rendered(tmp_path, "{% include 'link.j2' %}", {})


def test_a_private_use_character_in_a_template_is_refused(tmp_path: Path) -> None:
    """It would be taken for a placeholder."""
    with pytest.raises(LayerError, match="private-use"):
        rendered(tmp_path, "a: \ue0000\ue001", {})


@pytest.mark.parametrize("name", TORTURE)
def test_torture(name: str, tmp_path: Path) -> None:
    """Every nasty string comes out of every position as it is."""
    text = TORTURE[name]
    template = "a: {{ s }}\nb: '{{ s }}'\nc: [{{ s }}, \"{{ s }}\"]\nd: {e: {{ s }}}\n{{ s }}k: x{{ s }}y # {{ s }}\n"
    assert rendered(tmp_path, template, {"s": text}) == [
        {"a": text, "b": text, "c": [text, text], "d": {"e": text}, f"{text}k": f"x{text}y"}
    ]


@settings(max_examples=200, deadline=None)
@given(st.text(), st.text())
def test_no_text_changes_the_structure(tmp_path_factory: pytest.TempPathFactory, one: str, two: str) -> None:
    """Whatever the values are, the tree has the same shape and holds them."""
    folder = tmp_path_factory.getbasetemp() / "property"
    folder.mkdir(exist_ok=True)
    template = "a: {{ x }}\nb: |\n  {{ y }}{{ x }}\nc: ['{{ x }}{{ y }}']\n"
    assert rendered(folder, template, {"x": one, "y": two}) == [{"a": one, "b": f"{two}{one}\n", "c": [f"{one}{two}"]}]
