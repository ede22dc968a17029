"""The one strict YAML loader: text → nodes that keep spelling and place, and how Go types them.

Events are read with libyaml (through PyYAML) and built with a stack of our own, so that depth,
size and alias expansion are bounded and no input can exhaust the interpreter's stack.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from mlxtpl import yamlsyntax
from mlxtpl.errors import Place, Problem, Source, YamlError
from mlxtpl.gotypes import NULLS, go_scalar
from mlxtpl.nodes import Mapping, Node, Scalar, Sequence, is_null, scalar_value

__all__ = [
    "Mapping",
    "Node",
    "Scalar",
    "Sequence",
    "decode",
    "go_scalar",
    "is_null",
    "load",
    "load_one",
    "read_source",
    "scalar_value",
    "shown",
]

MAX_BYTES = 10 * 1024 * 1024
MAX_DEPTH = 100  # after alias expansion
MAX_NODES = 1_000_000  # after alias expansion; a long text counts as several
_TEXT_PER_NODE = 8  # … one more for each 2**8 characters
_MAX_TAG_DIRECTIVES = 100  # libyaml compares each with every other

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_SCALAR_TAGS = frozenset(("str", "int", "float", "bool", "null"))


# --- reading -----------------------------------------------------------------------------------


def read_source(path: Path, name: str | None = None) -> Source:
    """Read a text file; `name` is what messages call it (the path as given, when left out).

    Raises:
        YamlError: it is missing, unreadable, a directory, larger than MAX_BYTES, or no UTF-8 text.
    """
    shown = str(path) if name is None else name
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise YamlError(Problem(f"cannot read the file: {reason}", shown)) from None
    except ValueError:
        raise YamlError(Problem("cannot read the file: its name has a NUL character", repr(shown))) from None
    return decode(data, shown)


def decode(data: bytes, name: str) -> Source:
    """Bytes → Source: UTF-8 with or without a BOM, at most MAX_BYTES.

    Raises:
        YamlError: too large, or no UTF-8 text.
    """
    if len(data) > MAX_BYTES:
        raise YamlError(Problem(f"the file is larger than {MAX_BYTES // 1024 // 1024} MiB", name))
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise YamlError(Problem("the file is UTF-16, not UTF-8", name, hint="save it as UTF-8"))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if b"\0" in data[:8000]:
            raise YamlError(Problem("the file is binary, not YAML text", name)) from None
        line = data.count(b"\n", 0, error.start) + 1
        hint = "save it as UTF-8"
        raise YamlError(Problem(f"byte {error.start} (line {line}) is no valid UTF-8", name, hint=hint)) from None
    if "\0" in text:
        raise YamlError(Problem("the file is binary, not YAML text", name))
    return Source(name, text)


def load(source: Source) -> list[Node]:
    """All documents of a source, empty ones left out.

    Raises:
        YamlError: a syntax error, a duplicate key, a tag beside the core ones, an unknown alias, or
            a document that is nested too deeply or grows too large.
    """
    if source.text.count("%TAG") > _MAX_TAG_DIRECTIVES:
        raise YamlError(Problem(f"has more than {_MAX_TAG_DIRECTIVES} %TAG directives", source.name))
    parser = None
    try:
        parser = _Loader(source.text)
        return _documents(parser, source)
    except yaml.MarkedYAMLError as error:
        if error.problem_mark and "nesting depth" in str(error.problem):  # libyaml reads ahead, to a bound of its own
            raise YamlError(_too_deep(_place(source, error.problem_mark))) from None
        raise YamlError(yamlsyntax.syntax_problem(error, source)) from None
    except (yaml.YAMLError, ValueError) as error:
        # A character that YAML does not allow, or half of a surrogate pair, is met on the way into libyaml.
        raise YamlError(yamlsyntax.character_problem(error, source)) from None
    finally:
        if parser is not None:
            parser.dispose()


def load_one(source: Source) -> Node | None:
    """The only document of a source; None when it is empty.

    Raises:
        YamlError: as `load`, and when there are several documents.
    """
    nodes = load(source)
    if len(nodes) > 1:
        raise YamlError(
            Problem(
                f"has {len(nodes)} documents, one was expected",
                source.name,
                nodes[1].place,
                hint="remove the line `---` or split the file",
            )
        )
    return nodes[0] if nodes else None


def _documents(parser: Any, source: Source) -> list[Node]:
    # The hot loop of every load: events in, nodes out, with local names instead of calls wherever it counts.
    documents: list[Node] = []
    anchors: dict[str, tuple[Node, int, int]] = {}  # name → node, its size, the levels below it
    stack: list[tuple[Any, ...]] = []
    # The innermost open container, its items, the key that waits for its value, its `<<` entries and its anchor,
    # the count before it, and the deepest level that was reached in it.
    container: Any = None
    items: Any = None
    key: Scalar | None = None
    merges: Any = None
    anchor: str | None = None
    start = deepest = count = 0
    node: Node
    next_event, new_scalar = parser.get_event, Scalar.__new__
    scalar_event, alias_event = yaml.ScalarEvent, yaml.AliasEvent
    map_start, list_start = yaml.MappingStartEvent, yaml.SequenceStartEvent
    container_ends = (yaml.MappingEndEvent, yaml.SequenceEndEvent)
    while True:
        event = next_event()
        kind = type(event)
        if kind is scalar_event:
            node = new_scalar(Scalar)  # and so past __init__, which would cost as much as the parser
            node.text = text = event.value
            node.plain = not event.style
            node.source = source
            node.tag = ""
            node.start = event.start_mark
            node.end = event.end_mark
            if event.tag:
                _tag(node, event.tag)
            weight = 1 + (len(text) >> _TEXT_PER_NODE)
            count += weight
            if event.anchor:
                anchors[event.anchor] = (node, weight, 0)
        elif kind is map_start or kind is list_start:
            mark = event.start_mark
            if event.tag and event.tag != "!":
                _check_container_tag(event, kind is map_start, source)
            if len(stack) >= MAX_DEPTH:
                raise YamlError(_too_deep(_place(source, mark)))
            if event.anchor:
                # An alias inside means this very container, not an earlier one of the name.
                anchors.pop(event.anchor, None)
            stack.append((container, items, key, merges, anchor, start, deepest))
            items = {} if kind is map_start else []
            container = (Mapping if kind is map_start else Sequence)(items, source, mark.line + 1, mark.column + 1)
            key = merges = None
            anchor = event.anchor
            start = count
            deepest = len(stack)
            count += 1
            continue
        elif kind in container_ends:
            node = container
            if merges:
                _merge_keys(node, merges)
            if anchor:
                anchors[anchor] = (node, count - start, deepest - len(stack) + 1)
            below = deepest
            container, items, key, merges, anchor, start, deepest = stack.pop()
            deepest = max(deepest, below)
        elif kind is alias_event:
            place = _place(source, event.start_mark, len(event.anchor) + 1)
            if event.anchor not in anchors:
                raise YamlError(_alias_problem(event.anchor, [anchor, *[frame[4] for frame in stack]], place))
            node, weight, levels = anchors[event.anchor]
            count += weight
            if count > MAX_NODES:
                raise YamlError(Problem(f"expands to more than {MAX_NODES} nodes through aliases", place=place))
            deepest = max(deepest, len(stack) + levels)
            if deepest > MAX_DEPTH:
                raise YamlError(_too_deep(place))
        elif kind is yaml.DocumentStartEvent:
            if event.version and event.version != (1, 1):
                # kubectl: "found incompatible YAML document" (measured with 1.32).
                message = "a %YAML directive other than 1.1 is refused by kubectl"
                raise YamlError(
                    Problem(message, place=_place(source, event.start_mark), hint="remove the line; 1.1 is the default")
                )
            anchors.clear()
            continue
        elif kind is yaml.StreamEndEvent:
            return documents
        else:
            continue
        if count > MAX_NODES:
            raise YamlError(Problem(f"has more than {MAX_NODES} nodes", source.name))
        if container is None:
            if not (isinstance(node, Scalar) and node.plain and node.text == ""):
                documents.append(node)
        elif type(items) is list:
            items.append(node)
        elif key is None:
            if type(node) is not Scalar or node.text in items or (node.plain and node.text in ("", "<<")):
                _check_key(node, items, merges)
            key = node  # type: ignore[assignment]
        elif key.plain and key.text == "<<":
            merges = [*(merges or []), (key, node)]
            key = None
        else:
            items[key.text] = (key, node)
            key = None


def _check_key(node: Node, items: dict[str, tuple[Scalar, Node]], merges: Any) -> None:
    if not isinstance(node, Scalar):
        hint = "quote it if it is text; `{{ … }}` is an expression in templates only"
        raise YamlError(Problem("a key must be text, found a map or list", place=node.place, hint=hint))
    if node.plain and node.text == "":
        raise YamlError(Problem("a key is missing before the colon", place=node.place, hint='quote an empty key: ""'))
    merge = node.plain and node.text == "<<"
    first = merges[0][0] if merge and merges else None if merge else items[node.text][0]
    if first is not None:
        hint = "merge several maps with one list: `<<: [*a, *b]`" if merge else _DUPLICATE_HINT
        notes = (("first", str(first.place)),)
        raise YamlError(
            Problem(f'the key "{node.text}" appears twice in one map', place=node.place, notes=notes, hint=hint)
        )


_DUPLICATE_HINT = "remove one of the two; the later would win in silence"


def _merge_keys(target: Node, merges: list[tuple[Scalar, Node]]) -> None:
    """Apply `<<` entries: explicit keys win, then earlier maps (YAML 1.1 merge key)."""
    assert isinstance(target, Mapping)
    inherited: dict[str, tuple[Scalar, Node]] = {}
    for key, node in merges:
        maps = node.items if isinstance(node, Sequence) else [node]
        for each in maps:
            if not isinstance(each, Mapping):
                raise YamlError(
                    Problem("`<<` merges maps only", place=key.place, hint="point it at a map: `<<: *anchor`")
                )
            for name, item in each.items.items():
                inherited.setdefault(name, item)
    # In place: an alias may already hold this map.
    own = dict(target.items)
    target.items.clear()
    target.items.update({**inherited, **own})


def _tag(node: Scalar, tag: str) -> None:
    """Note a scalar's tag; text that is tagged as text is as good as quoted."""
    name = tag.removeprefix(_TAG)
    if tag == "!" or (name == "str" and name != tag):
        node.plain = False
    elif name == tag or name not in _SCALAR_TAGS:
        raise YamlError(yamlsyntax.tag_problem(tag, node.place))
    elif name == "null" and node.text not in NULLS:
        raise YamlError(Problem(f'"{node.text}" does not fit its tag !!null', place=node.place))
    else:
        node.tag = name


def _check_container_tag(event: Any, is_map: bool, source: Source) -> None:
    if event.tag != _TAG + ("map" if is_map else "seq"):
        raise YamlError(yamlsyntax.tag_problem(event.tag, _place(source, event.start_mark)))


def _alias_problem(name: str, open_anchors: list[str | None], place: Place) -> Problem:
    if name in open_anchors:
        return Problem(f"the anchor &{name} contains itself", place=place)
    hint = f'quote it if it is text: "*{name}"'
    return Problem(f"the alias *{name} has no anchor", place=place, hint=hint)


def _too_deep(place: Place) -> Problem:
    return Problem(f"nested more than {MAX_DEPTH} levels deep", place=place)


def _place(source: Source, mark: Any, length: int = 1) -> Place:
    return Place(source, mark.line + 1, mark.column + 1, length)


def shown(path: Path) -> str:
    """A path as messages show it: relative to the working directory when it lies under it."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)
