"""`lint --fix`: edits of a hand-written manifest that change the text they are about and nothing else.

Dumping the document anew would be shorter, but even a round-trip dumper changes indentation, quotes and line breaks all
over a file. So an edit is a change of characters, found through the marks of PyYAML's nodes, and what comes out is
parsed again: unless it is exactly the old data with the edit made, the edit is not taken.
"""

from __future__ import annotations

import copy
import difflib
import json
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from mlxtpl import documents
from mlxtpl.errors import Source
from mlxtpl.lint import Linted
from mlxtpl.manifest import Edit, Manifest, Path
from mlxtpl.yamldump import dump_tree

_INDENT = "  "
_MOST = 10_000  # repairs of one file


def repaired(source: Source, lint: Callable[[Source], Linted]) -> tuple[Source, list[str], Linted]:
    """A manifest with everything mended that has one right answer.

    Args:
        lint: lints a source.

    Returns:
        the new source, a line for each repair, and what lint says of the new source.
    """
    made: list[str] = []
    given_up: set[str] = set()
    linted = lint(source)
    for _ in range(_MOST):
        done = False
        for each in linted.found:
            if not each.edits or str(each.edits) in given_up:
                continue
            changed = apply(source, each.edits)
            if changed is None:
                given_up.add(str(each.edits))
                continue
            source = changed
            made.append(f"{each.problem.where}: {each.problem.message} [{each.rule}]")
            done = True
            break
        if not done:
            break
        linted = lint(source)
    return source, made, linted


def diff(before: Source, after: Source) -> str:
    """The repairs as a unified diff."""
    old, new = (text.splitlines(keepends=True) for text in (before.text, after.text))
    out = difflib.unified_diff(old, new, before.name, before.name)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in out)


def apply(source: Source, edits: tuple[tuple[int, Edit], ...]) -> Source | None:
    """The source with edits made together; None when one cannot be made without touching something else."""
    wanted = copy.deepcopy(list(documents.read(source).objects))
    text = source.text
    for number, wish in edits:
        edit = wish
        nodes = list(_objects(text))
        if number >= len(nodes):
            return None
        if edit.op == "quote":
            scalar, rest = _walk(nodes[number], edit.path)
            if rest or not isinstance(scalar, yaml.ScalarNode):
                return None
            edit = Edit("set", edit.path, scalar.value)
        changed = _edited(text, nodes[number], edit)
        if changed is None:
            return None
        text = changed
        wanted = _expected(wanted, number, edit)
    new = source._replace(text=text)
    read = documents.read(new)
    return new if not read.problems and list(read.objects) == wanted else None


def _objects(text: str) -> Iterator[yaml.Node]:
    """The nodes of the objects, those of a List one by one."""
    for document in yaml.compose_all(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if document is None or (isinstance(document, yaml.ScalarNode) and not document.value):
            continue
        kind, items = _child(document, "kind"), _child(document, "items")
        if kind is not None and kind.value.endswith("List") and isinstance(items, yaml.SequenceNode):
            yield from items.value
        else:
            yield document


def _expected(objects: Manifest, number: int, edit: Edit) -> Manifest:
    """The data as the edit means it."""
    tree: Any = objects[number]
    *way, last = edit.path
    for step in way:
        if isinstance(tree, dict) and tree.get(step) is None:
            tree[step] = {}
        tree = tree[step]
    if edit.op == "remove":
        del tree[last]
    elif edit.op == "rename":
        items = [(edit.value if key == last else key, value) for key, value in tree.items()]
        tree.clear()
        tree.update(items)
    elif edit.op == "append":
        tree[last] = [*(tree.get(last) or []), edit.value]
    else:
        tree[last] = edit.value
    return objects


def _edited(text: str, node: yaml.Node, edit: Edit) -> str | None:
    parent, rest = _walk(node, edit.path)
    if edit.op in ("remove", "rename"):
        holder = _walk(node, edit.path[:-1])[0]
        pair = None if rest else _pair(holder, edit.path[-1])
        if pair is None or not isinstance(holder, yaml.CollectionNode):
            return None
        return _spliced(text, pair[0], edit.value) if edit.op == "rename" else _removed(text, holder, pair)
    if edit.op == "append" and not rest and isinstance(parent, yaml.SequenceNode):
        return _appended(text, parent, edit.value)
    value: Any = [edit.value] if edit.op == "append" else edit.value
    if not rest and isinstance(parent, yaml.ScalarNode) and parent.value and not isinstance(value, (dict, list)):
        return _spliced(text, parent, _scalar(value, parent.style))
    if not rest and isinstance(parent, yaml.SequenceNode) and isinstance(value, list):
        end = _end(text, parent)
        commented = "#" in text[parent.start_mark.index : end]
        return None if commented else text[: parent.start_mark.index] + _flow(value) + text[end:]
    for step in reversed(rest):
        value = {step: value}
    if isinstance(parent, yaml.MappingNode) and rest:
        return _inserted(text, parent, value)
    if isinstance(parent, yaml.ScalarNode) and not parent.value and not parent.style:
        done = len(edit.path) - len(rest)
        holder = _walk(node, edit.path[: done - 1])[0]
        pair = _pair(holder, edit.path[done - 1]) if done else None
        if pair is not None and isinstance(holder, yaml.CollectionNode):
            return _filled(text, holder, pair, value)
    return None


def _walk(node: yaml.Node, path: Path) -> tuple[yaml.Node, Path]:
    """The deepest node on a path, and what of the path is not there."""
    for number, step in enumerate(path):
        if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            continue
        inner = _child(node, step)
        if inner is None:
            return node, path[number:]
        node = inner
    return node, ()


def _pair(node: yaml.Node, key: Any) -> tuple[yaml.ScalarNode, yaml.Node] | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next((pair for pair in pairs if pair[0].value == key), None)


def _child(node: yaml.Node, key: Any) -> yaml.Node | None:
    pair = _pair(node, key)
    return None if pair is None else pair[1]


def _spliced(text: str, node: yaml.Node, new: str) -> str:
    return text[: node.start_mark.index] + new + text[node.end_mark.index :]


def _scalar(value: Any, style: str | None = None) -> str:
    """A scalar as it is written; text that replaces quoted text is quoted as that was."""
    if isinstance(value, str) and style == "'" and "'" not in value and value.isprintable():
        return f"'{value}'"
    if isinstance(value, str) and style == '"':
        return json.dumps(value, ensure_ascii=False)
    return dump_tree(value).strip()


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(key)}: {_flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(each) for each in value) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else _scalar(value)


def _block(value: Any, column: int, newline: str) -> str:
    """A tree as block lines that start at a column."""
    return "".join(f"{' ' * column}{line}{newline}" for line in dump_tree(value).splitlines())


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _line_starts(text: str) -> list[int]:
    return [0, *(at + 1 for at, char in enumerate(text) if char == "\n")]


def _last_line(text: str, node: yaml.Node) -> int:
    """The last line, from 0, that has something of the node on it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style:
        last = node.value[-1]
        return _last_line(text, last[1] if isinstance(last, tuple) else last)
    end = int(node.end_mark.line)
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        lines = text.split("\n")
        end -= node.end_mark.column == 0
        while end > node.start_mark.line and (end >= len(lines) or not lines[end].strip()):
            end -= 1
    return end


def _end(text: str, node: yaml.Node) -> int:
    """Where the text of a node ends."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style:
        last = node.value[-1]
        return _end(text, last[1] if isinstance(last, tuple) else last)
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        end = text.find("\n", _line_starts(text)[_last_line(text, node)])
        return len(text) if end < 0 else end
    return int(node.end_mark.index)


def _after(text: str, node: yaml.Node, lines: str, newline: str) -> str:
    """The text with lines put below the last line of a node."""
    starts = _line_starts(text)
    line = _last_line(text, node) + 1
    if line < len(starts):
        return text[: starts[line]] + lines + text[starts[line] :]
    return text + newline + lines.removesuffix(newline)


def _inserted(text: str, parent: yaml.MappingNode, value: dict[str, Any]) -> str | None:
    """New keys at the end of a map."""
    if parent.flow_style:
        at = parent.end_mark.index - 1
        before = text[:at].rstrip()
        comma = "" if not parent.value or before.endswith(",") else ", "
        space = "" if comma or not parent.value else " "
        return before + comma + space + _flow(value)[1:-1] + text[len(before) :]
    newline = _newline(text)
    return _after(text, parent, _block(value, parent.start_mark.column, newline), newline)


def _appended(text: str, parent: yaml.SequenceNode, value: Any) -> str:
    if parent.flow_style:
        at = parent.end_mark.index - 1
        before = text[:at].rstrip()
        comma = "" if not parent.value or before.endswith(",") else ", "
        return before + comma + _flow(value) + text[len(before) :]
    newline = _newline(text)
    return _after(text, parent, _block([value], parent.start_mark.column, newline), newline)


def _filled(text: str, holder: yaml.CollectionNode, pair: tuple[yaml.ScalarNode, yaml.Node], value: Any) -> str | None:
    """A value for a key that has none."""
    colon = text.find(":", pair[0].end_mark.index)
    written = text[pair[1].start_mark.index : pair[1].end_mark.index]
    if colon < 0 or written not in ("", "~", "null", "Null", "NULL"):
        return None
    if written:
        start, end = pair[1].start_mark.index, pair[1].end_mark.index
        return text[:start] + _flow(value) + text[end:]
    if holder.flow_style or not isinstance(value, (dict, list)):
        return f"{text[: colon + 1]} {_flow(value)}{text[colon + 1 :]}"
    newline = _newline(text)
    return _after(text, pair[0], _block(value, pair[0].start_mark.column + len(_INDENT), newline), newline)


def _removed(text: str, parent: yaml.CollectionNode, pair: tuple[yaml.ScalarNode, yaml.Node]) -> str | None:
    """A map without one of its keys."""
    pairs = parent.value
    at = pairs.index(pair)
    if parent.flow_style:
        if at + 1 < len(pairs):
            return text[: pair[0].start_mark.index] + text[pairs[at + 1][0].start_mark.index :]
        start = pairs[at - 1][1].end_mark.index if at else pair[0].start_mark.index
        return text[:start] + text[pair[1].end_mark.index :]
    starts = _line_starts(text)
    line = pair[0].start_mark.line
    alone = not text[starts[line] : pair[0].start_mark.index].strip()
    if len(pairs) == 1:
        return text[: pair[0].start_mark.index] + "{}" + text[_end(text, pair[1]) :]
    if alone:
        last = _last_line(text, pair[1]) + 1
        return text[: starts[line]] + (text[starts[last] :] if last < len(starts) else "")
    # Behind the dash of a list's item: the next key takes its place.
    between = text[pair[1].end_mark.index : pairs[1][0].start_mark.index]
    if "#" in between:
        return None
    return text[: pair[0].start_mark.index] + text[pairs[1][0].start_mark.index :]
