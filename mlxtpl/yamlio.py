"""The one strict YAML loader: text → nodes that keep spelling and place, and how Go types them.

Events are read with libyaml (through PyYAML) and built with a stack of our own, so that depth,
size and alias expansion are bounded and no input can exhaust the interpreter's stack.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Union

import yaml

from mlxtpl.errors import Place, Problem, Source, YamlError

MAX_BYTES = 10 * 1024 * 1024
MAX_DEPTH = 100
MAX_NODES = 1_000_000  # after alias expansion

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_TAGS = frozenset(_TAG + name for name in ("str", "int", "float", "bool", "null", "map", "seq"))


class Scalar:
    """A scalar as it was written: `text` is its content, `plain` whether it stood without quotes."""

    __slots__ = ("column", "length", "line", "plain", "source", "tag", "text")

    def __init__(
        self, text: str, plain: bool, source: Source, line: int, column: int, length: int = 1, tag: str = ""
    ) -> None:
        self.text = text
        self.plain = plain
        self.source = source
        self.line = line
        self.column = column
        self.length = length
        self.tag = tag

    @property
    def place(self) -> Place:
        """Where it starts, as long as it is on that line."""
        return Place(self.source, self.line, self.column, self.length)


class Mapping:
    """A mapping: `items` is key text → (key, value) in the order of the file."""

    __slots__ = ("column", "items", "line", "source")

    def __init__(self, items: dict[str, tuple[Scalar, Node]], source: Source, line: int, column: int) -> None:
        self.items = items
        self.source = source
        self.line = line
        self.column = column

    @property
    def place(self) -> Place:
        """Where it starts."""
        return Place(self.source, self.line, self.column)


class Sequence:
    """A list of nodes."""

    __slots__ = ("column", "items", "line", "source")

    def __init__(self, items: list[Node], source: Source, line: int, column: int) -> None:
        self.items = items
        self.source = source
        self.line = line
        self.column = column

    @property
    def place(self) -> Place:
        """Where it starts."""
        return Place(self.source, self.line, self.column)


Node = Union[Scalar, Mapping, Sequence]


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
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if b"\0" in data[:8000] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise YamlError(Problem("the file is binary, not YAML text", name)) from None
        line = data.count(b"\n", 0, error.start) + 1
        hint = "save it as UTF-8"
        raise YamlError(Problem(f"byte {error.start} (line {line}) is no valid UTF-8", name, hint=hint)) from None
    if "\0" in text:
        raise YamlError(Problem("the file is binary, not YAML text", name))
    return Source(name, text)


_NOT_PRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def load(source: Source) -> list[Node]:
    """All documents of a source, empty ones left out.

    Raises:
        YamlError: a syntax error, a duplicate key, a tag beside the core ones, an unknown alias, or
            a document that is nested too deeply or grows too large.
    """
    bad = _NOT_PRINTABLE.search(source.text)
    if bad is not None:
        line = source.text.count("\n", 0, bad.start()) + 1
        column = bad.start() - (source.text.rfind("\n", 0, bad.start()) + 1) + 1
        raise YamlError(
            Problem(
                f"the character U+{ord(bad.group()):04X} is not allowed in YAML text",
                place=Place(source, line, column),
                hint=f'write it as an escape in double quotes: "\\x{ord(bad.group()):02x}"' if ord(bad.group()) < 256 else "",
            )
        )
    parser = _Loader(source.text)
    try:
        return _documents(parser, source)
    except yaml.MarkedYAMLError as error:
        raise YamlError(_syntax_problem(error, source)) from None
    except (yaml.YAMLError, ValueError) as error:
        # libyaml's binding raises a bare ValueError for an escape such as "\Ud8000000".
        raise YamlError(Problem(str(error).split("\n")[0], source.name)) from None
    finally:
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
    # The hot loop of every load: local names, no method calls beside the parser's own.
    documents: list[Node] = []
    anchors: dict[str, tuple[Node, int]] = {}
    # A frame is [container, anchor, pending key, merge nodes, node count at its start].
    stack: list[list[Any]] = []
    count = 0
    next_event = parser.get_event
    Scalar_, Mapping_, Sequence_ = yaml.ScalarEvent, yaml.MappingStartEvent, yaml.SequenceStartEvent
    while True:
        event = next_event()
        kind = type(event)
        if kind is Scalar_:
            mark, end = event.start_mark, event.end_mark
            length = end.column - mark.column if end.line == mark.line else _rest(source, mark)
            tag = event.tag or ""
            if tag and tag != "!" and tag not in _TAGS:
                raise YamlError(_tag_problem(event, source))
            style = event.style
            node: Node = Scalar(
                event.value,
                (style is None or style == "") and tag != "!",
                source,
                mark.line + 1,
                mark.column + 1,
                length or 1,
                tag[len(_TAG) :] if tag and tag != "!" else "",
            )
            count += 1
            if event.anchor:
                anchors[event.anchor] = (node, 1)
        elif kind is Mapping_ or kind is Sequence_:
            mark = event.start_mark
            if event.tag and event.tag not in _TAGS:
                raise YamlError(_tag_problem(event, source))
            if len(stack) >= MAX_DEPTH:
                message = f"nested more than {MAX_DEPTH} levels deep"
                raise YamlError(Problem(message, place=_place(source, mark)))
            container: Node
            if kind is Mapping_:
                container = Mapping({}, source, mark.line + 1, mark.column + 1)
            else:
                container = Sequence([], source, mark.line + 1, mark.column + 1)
            stack.append([container, event.anchor, None, None, count])
            count += 1
            continue
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            frame = stack.pop()
            node = frame[0]
            if frame[3]:
                _merge_keys(node, frame[3])
            if frame[1]:
                anchors[frame[1]] = (node, count - frame[4])
        elif kind is yaml.AliasEvent:
            if event.anchor not in anchors:
                open_ones = {frame[1] for frame in stack}
                message = (
                    f"the anchor &{event.anchor} contains itself"
                    if event.anchor in open_ones
                    else f"the alias *{event.anchor} has no anchor"
                )
                raise YamlError(Problem(message, place=_place(source, event.start_mark, len(event.anchor) + 1)))
            node, size = anchors[event.anchor]
            count += size
            if count > MAX_NODES:
                message = f"expands to more than {MAX_NODES} nodes through aliases"
                raise YamlError(Problem(message, place=_place(source, event.start_mark, len(event.anchor) + 1)))
        elif kind is yaml.DocumentStartEvent:
            if event.version and event.version != (1, 1):
                # kubectl: "found incompatible YAML document" (measured with 1.32).
                raise YamlError(
                    Problem("a %YAML directive other than 1.1 is refused by kubectl", place=_place(source, event.start_mark))
                )
            anchors.clear()
            continue
        elif kind is yaml.StreamEndEvent:
            return documents
        else:
            continue
        if count > MAX_NODES:
            raise YamlError(Problem(f"has more than {MAX_NODES} nodes", source.name))
        if not stack:
            if not (isinstance(node, Scalar) and node.plain and node.text == ""):
                documents.append(node)
            continue
        frame = stack[-1]
        parent = frame[0]
        if type(parent) is Sequence:
            parent.items.append(node)
        elif frame[2] is None:
            frame[2] = _key(node, parent, source)
        else:
            key = frame[2]
            frame[2] = None
            if key.text == "<<" and key.plain:
                frame[3] = [*(frame[3] or []), (key, node)]
            else:
                parent.items[key.text] = (key, node)


def _key(node: Node, parent: Mapping, source: Source) -> Scalar:
    if not isinstance(node, Scalar):
        hint = "quote it if it is text; in a template's own text `{{ … }}` is an expression, in values it is not"
        raise YamlError(Problem("a key must be text, found a map or list", place=node.place, hint=hint))
    first = parent.items.get(node.text)
    if first is not None:
        raise YamlError(
            Problem(
                f'the key "{node.text}" appears twice in one map',
                place=node.place,
                notes=(("first", str(first[0].place)),),
                hint="remove one of the two; the later would win in silence",
            )
        )
    return node


def _merge_keys(target: Node, merges: list[tuple[Scalar, Node]]) -> None:
    """Apply `<<` entries: explicit keys win, then earlier maps (YAML 1.1 merge key)."""
    assert isinstance(target, Mapping)
    inherited: dict[str, tuple[Scalar, Node]] = {}
    for key, node in merges:
        maps = node.items if isinstance(node, Sequence) else [node]
        for each in maps:
            if not isinstance(each, Mapping):
                raise YamlError(Problem("`<<` merges maps only", place=key.place, hint="point it at a map: `<<: *anchor`"))
            for name, item in each.items.items():
                inherited.setdefault(name, item)
    target.items = {**inherited, **target.items}


def _place(source: Source, mark: Any, length: int = 1) -> Place:
    return Place(source, mark.line + 1, mark.column + 1, length)


def _rest(source: Source, mark: Any) -> int:
    """The length of a scalar's first line when it spans several."""
    line = source.text.split("\n", mark.line + 1)[mark.line]
    return max(1, len(line.rstrip()) - int(mark.column))


def _tag_problem(event: Any, source: Source) -> Problem:
    tag = event.tag.replace(_TAG, "!!")
    hint = "quote the text if the ! belongs to it" if tag.startswith("!") else ""
    return Problem(f"the tag {tag} is not allowed", place=_place(source, event.start_mark, len(tag)), hint=hint)


def _syntax_problem(error: yaml.MarkedYAMLError, source: Source) -> Problem:
    mark = error.problem_mark or error.context_mark
    message = error.problem or error.context or "cannot be parsed"
    place = None if mark is None else _place(source, mark)
    line = "" if place is None else place.text()
    hint = ""
    if "cannot start any token" in message and line[place.column - 1 : place.column] == "\t" if place else False:
        message, hint = "a tab cannot indent YAML", "use spaces"
    elif "\t" in line[: len(line) - len(line.lstrip())]:
        hint = "the line is indented with a tab; use spaces"
    elif "cannot start any token" in message and place:
        char = line[place.column - 1 : place.column]
        message, hint = f'a value cannot start with "{char}"', "put the value in quotes"
    elif "mapping values are not allowed" in message:
        hint = 'text with ": " in it needs quotes; a nested map needs its own, deeper line'
    elif message.startswith("did not find expected"):
        hint = "look at the indentation of this line and the one above, and for a quote or bracket left open"
    notes: tuple[tuple[str, str], ...] = ()
    if error.context and error.context_mark is not None and error.context_mark is not mark:
        notes = ((error.context, f"{source.name}:{error.context_mark.line + 1}:{error.context_mark.column + 1}"),)
    return Problem(message, place=place, notes=notes, hint=hint)


# --- Go typing ---------------------------------------------------------------------------------

# sigs.k8s.io/yaml on go-yaml v2, measured with kubectl 1.32 and 1.37 (the tests ask kubectl again).
_GO_BOOL = {word: value for words, value in (
    ("y Y yes Yes YES on On ON true True TRUE", True),
    ("n N no No NO off Off OFF false False FALSE", False),
) for word in words.split()}  # fmt: skip
_GO_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_GO_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_GO_INF = re.compile(r"[-+]?\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z")


def is_null(node: Node) -> bool:
    """Whether the node is a plain null: empty, `~`, `null`, `Null`, `NULL`."""
    return isinstance(node, Scalar) and ((node.plain and not node.tag and node.text in _GO_NULL) or node.tag == "null")


def go_scalar(text: str) -> str | int | float | bool | None:
    """What Kubernetes' Go parser makes of a plain scalar.

    >>> [go_scalar(t) for t in ("1e-4", "010", "on", "12:30", "0o17", "1_000", "~", "1.10", "y")]
    [0.0001, 8, True, '12:30', 15, 1000, None, 1.1, True]
    """
    if text in _GO_BOOL:
        return _GO_BOOL[text]
    if text in _GO_NULL:
        return None
    if not text or text[0] not in "+-.0123456789":
        return text
    if _GO_INF.match(text):
        word = text.lstrip("+-").lower()
        return float("-inf") if text[0] == "-" and word == ".inf" else float(word[1:])
    number = _go_int(text.replace("_", ""))
    if number is not None:
        return number
    if _GO_FLOAT.match(text.replace("_", "")) and "_" not in text:
        value = float(text)
        return text if value in (float("inf"), float("-inf")) else int(value) if value.is_integer() else value
    return text


def _go_int(text: str) -> int | float | None:
    sign = -1 if text.startswith("-") else 1
    digits = text[1:] if text[:1] in ("+", "-") else text
    try:
        if re.fullmatch("0[xX][0-9a-fA-F]+", digits):
            value = int(digits, 16)
        elif re.fullmatch("0[bB][01]+", digits):
            value = int(digits[2:], 2)
        elif re.fullmatch("0[oO][0-7]+", digits):
            value = int(digits[2:], 8)
        elif re.fullmatch("0[0-7]+", digits):
            value = int(digits, 8)
        elif re.fullmatch("[0-9]+", digits):
            value = int(digits)
        else:
            return None
    except ValueError:
        return None
    value *= sign
    return value if -(2**63) <= value < 2**64 else float(value)


def scalar_value(node: Scalar) -> str | int | float | bool | None:
    """A scalar node typed as Kubernetes' Go parser types it; tags and quotes are honoured.

    Raises:
        YamlError: `.inf` or `.nan`, which JSON and so Kubernetes cannot carry, or a tag that does not fit.
    """
    if node.tag == "str" or not (node.plain or node.tag):
        return node.text
    value = go_scalar(node.text)
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        raise YamlError(Problem(f"{node.text} is no number that Kubernetes can carry", place=node.place, hint="quote it if it is text"))
    if node.tag:
        wanted = {"int": (int,), "float": (int, float), "bool": (bool,), "null": (type(None),)}.get(node.tag, (str,))
        if not isinstance(value, wanted) or (isinstance(value, bool) and node.tag in ("int", "float")):
            raise YamlError(Problem(f'"{node.text}" does not fit its tag !!{node.tag}', place=node.place))
        return float(value) if node.tag == "float" and isinstance(value, int) else value
    return value


def shown(path: Path) -> str:
    """A path as messages show it: relative to the working directory when it lies under it."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


