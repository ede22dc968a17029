"""JSON patches (RFC 6902) on plain trees."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from mlxtpl.errors import MergeError, Problem

_OPS = ("add", "remove", "replace", "move", "copy", "test")


def apply(tree: Any, operations: Sequence[Any]) -> Any:
    """The tree with all operations carried out, on a copy.

    >>> apply({"a": [1, 2]}, [{"op": "add", "path": "/a/-", "value": 3}, {"op": "remove", "path": "/a/0"}])
    {'a': [2, 3]}

    Raises:
        MergeError: a wrong operation, a path that does not exist (with how far it went), a test that fails.
    """
    tree = copy.deepcopy(tree)
    for number, operation in enumerate(operations):
        if not isinstance(operation, dict) or operation.get("op") not in _OPS:
            found = operation.get("op") if isinstance(operation, dict) else operation
            raise _error(f"the operation must be one of {', '.join(_OPS)}, found {found}", f"[{number}]")
        if not isinstance(operation.get("path"), str):
            raise _error("the operation has no path", f"[{number}]")
        tree = _applied(tree, operation)
    return tree


def _applied(tree: Any, operation: dict[str, Any]) -> Any:
    op, path = operation["op"], operation["path"]
    if op in ("add", "replace", "test") and "value" not in operation:
        raise _error(f"{op} needs a value", path)
    if op in ("move", "copy"):
        source = operation.get("from")
        if not isinstance(source, str):
            raise _error(f"{op} needs from", path)
        value = copy.deepcopy(_get(tree, source))
        if op == "move":
            tree = _set(tree, source, "remove", None)
        return _set(tree, path, "add", value)
    if op == "test":
        found = _get(tree, path)
        if found != operation["value"]:
            raise _error(f"the test wants {operation['value']!r}, found {found!r}", path)
        return tree
    return _set(tree, path, op, copy.deepcopy(operation.get("value")))


def steps(path: str) -> list[str]:
    """The steps of a JSON pointer.

    >>> steps("/metadata/annotations/a.b~1c")
    ['metadata', 'annotations', 'a.b/c']

    Raises:
        MergeError: it does not start with a slash.
    """
    if path and not path.startswith("/"):
        raise _error("a path starts with /", path)
    return [each.replace("~1", "/").replace("~0", "~") for each in path.split("/")[1:]]


def _get(tree: Any, path: str) -> Any:
    parts = steps(path)
    for depth, step in enumerate(parts):
        tree = _step(tree, step, parts[:depth], path)
    return tree


def _step(tree: Any, step: str, so_far: Sequence[str], path: str) -> Any:
    if isinstance(tree, dict) and step in tree:
        return tree[step]
    if isinstance(tree, list):
        index = _index(step, tree, path)
        if -len(tree) <= index < len(tree):
            return tree[index]
    raise _gone(tree, step, so_far, path)


def _gone(tree: Any, step: str, so_far: Sequence[str], path: str) -> MergeError:
    if isinstance(tree, dict):
        there = f"has {', '.join(map(str, tree)) or 'no keys'}"
    elif isinstance(tree, list):
        there = f"is a list of {len(tree)}"
    else:
        there = "is no map or list"
    where = "/" + "/".join(so_far) if so_far else "the object"
    return _error(f'the path does not exist: {where} {there}, not "{step}"', path)


def _set(tree: Any, path: str, op: str, value: Any) -> Any:
    parts = steps(path)
    if not parts:
        return value
    parent = tree
    for depth, step in enumerate(parts[:-1]):
        parent = _step(parent, step, parts[:depth], path)
    last = parts[-1]
    if isinstance(parent, dict):
        # `replace` adds a missing key, as in kustomize; the RFC wants an error.
        if op == "remove" and last not in parent:
            raise _gone(parent, last, parts[:-1], path)
        if op == "remove":
            del parent[last]
        else:
            parent[last] = value
    elif isinstance(parent, list):
        index = len(parent) if last == "-" and op == "add" else _index(last, parent, path)
        if index < 0:
            index += len(parent)
        if not 0 <= index < len(parent) + (op == "add"):
            raise _gone(parent, last, parts[:-1], path)
        if op == "add":
            parent.insert(index, value)
        elif op == "remove":
            del parent[index]
        else:
            parent[index] = value
    else:
        raise _gone(parent, last, parts[:-1], path)
    return tree


def _index(step: str, items: Sequence[Any], path: str) -> int:
    digits = step.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 9:
        raise _error(f'"{step}" is no index of a list of {len(items)}', path)
    return int(step)


def _error(message: str, path: str) -> MergeError:
    return MergeError(Problem(message, path))
