"""Schemas of layers: the type that a schema gives to a spelling, and finding the way in values and schemas.

A schema file is a Cerberus schema with four rules of ours (exactlyOneKey, elements, onlyTrue, allowedText)
and the type `duration`. `meta.path` marks a value without a schema: it is typed as Kubernetes' Go parser types it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mlxtpl import kinds, yamlio
from mlxtpl.errors import Place
from mlxtpl.yamlio import Node, Scalar, Sequence

Rules = Mapping[str, Any]
Path = tuple[Any, ...]

INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
DURATION = re.compile(r"([0-9]+)([smhdw]?)")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
NO_RULES: Rules = {}


def types_of(rules: Rules) -> tuple[str, ...]:
    """The types that a key may have; empty when anything goes."""
    wanted = rules.get("type", ())
    return (wanted,) if isinstance(wanted, str) else tuple(wanted)


def item_rules(rules: Rules) -> Rules:
    """The rules of each item of a list."""
    if "elements" in rules:
        return rules["elements"]  # type: ignore[no-any-return]
    inner = rules.get("schema", NO_RULES)
    return inner if isinstance(inner.get("type"), (str, list)) else NO_RULES


def key_rules(rules: Rules) -> Rules:
    """The declared keys of a map with the rules of each."""
    inner = rules.get("schema", NO_RULES)
    return NO_RULES if isinstance(inner.get("type"), (str, list)) else inner


def typed(node: Node, rules: Rules) -> Any:
    """The plain value of a node as its schema types it.

    A spelling that fits no wanted type stays text (Cerberus then says what is wrong with it). Text keeps its
    very characters: `1e-4`, `0012` and `on` are strings where the schema says string.
    """
    if isinstance(node, Scalar):
        return None if yamlio.is_null(node) else _typed_scalar(node, rules)
    path = rules.get("meta", NO_RULES).get("path")
    if path is not None:
        return kinds_typed(node, tuple(path))
    if isinstance(node, Sequence):
        item = item_rules(rules)
        return [typed(each, item) for each in node.items]
    keys = key_rules(rules)
    others = rules.get("valuesrules", NO_RULES)
    return {key: typed(value, keys.get(key, others)) for key, (_, value) in node.items.items()}


def kinds_typed(node: Node, path: tuple[str, ...]) -> Any:
    """A value without a schema, as Kubernetes' Go parser types it; text where Kubernetes has a string field."""
    if isinstance(node, Scalar):
        if yamlio.is_null(node):
            return None
        return node.text if kinds.string_field(path) else yamlio.scalar_value(node)
    if isinstance(node, Sequence):
        return [kinds_typed(each, path) for each in node.items]
    return {key: kinds_typed(value, (*path, key)) for key, (_, value) in node.items.items()}


def _typed_scalar(node: Scalar, rules: Rules) -> Any:
    types = types_of(rules)
    text = node.text
    if node.plain:
        if "boolean" in types and text in ("true", "false"):
            return text == "true"
        if "integer" in types and INTEGER.fullmatch(text) and len(text) < 20:
            return int(text)
        if "number" in types and _NUMBER.fullmatch(text):
            return float(text)
        if "duration" in types:
            match = DURATION.fullmatch(text)
            if match and len(text) < 15:
                return int(match[1]) * _SECONDS[match[2]]
        if not types and rules.get("meta", NO_RULES).get("path") is not None:
            return yamlio.scalar_value(node)
    return text


class Declared(dict[str, Any]):
    """A map whose keys a schema declares: templates may name these and no others."""

    __slots__ = ()


def complete(value: Any, rules: Rules) -> Any:
    """The value with every declared but absent key as None, so that templates may name it."""
    if rules.get("meta", NO_RULES).get("path") is not None:
        return value
    if isinstance(value, dict):
        keys = key_rules(rules)
        others = rules.get("valuesrules", NO_RULES)
        done = {key: complete(each, keys.get(key, others)) for key, each in value.items()}
        if keys:
            done = Declared(done)
        for key in keys:
            done.setdefault(key, None)
        return done
    if isinstance(value, list):
        item = item_rules(rules)
        return [complete(each, item) for each in value]
    return value


def found_words(node: Node | None) -> str:
    """What stands there: a spelling in quotes, "a map", "a list"."""
    if isinstance(node, Scalar):
        text = node.text if len(node.text) <= 60 else node.text[:57] + "…"
        return "nothing" if yamlio.is_null(node) else f'"{text}"'
    return "nothing" if node is None else "a list" if isinstance(node, Sequence) else "a map"


def locate(node: Node | None, path: Iterable[Any]) -> tuple[Node | None, bool]:
    """Walk a tree of nodes along a path; the deepest node there is, and whether it is the end of the path."""
    for step in path:
        if isinstance(node, yamlio.Mapping) and str(step) in node.items:
            node = node.items[str(step)][1]
        elif isinstance(node, Sequence) and isinstance(step, int) and 0 <= step < len(node.items):
            node = node.items[step]
        else:
            return node, False
    return node, True


def key_place(root: Node | None, path: Path) -> Place | None:
    """Where the key at the end of a path is written."""
    parent, whole = locate(root, path[:-1])
    if whole and isinstance(parent, yamlio.Mapping) and path and str(path[-1]) in parent.items:
        return parent.items[str(path[-1])][0].place
    return None if parent is None else parent.place


def dotted(path: Iterable[Any]) -> str:
    r"""A path for a person, as --set takes it: `a.b`, `list[0]`, `podAnnotations.x\.y/z`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += ("." if text else "") + str(step).replace(".", "\\.")
    return text


def nearest(name: str, keys: Rules, at: Path) -> str:
    """A hint for an unknown key: the nearest key of the same map, or the same key elsewhere."""
    import difflib

    close = [key for key in keys if key.lower() == name.lower()] or difflib.get_close_matches(name, list(keys), 1, 0.7)
    return f"did you mean {dotted((*at, close[0]))}?" if close else ""


def all_keys(keys: Rules, prefix: Path = ()) -> Iterator[tuple[Path, Rules]]:
    """Every declared key with its rules, depth first; `<name>` stands for a free key, `[]` for a list's item."""
    for key, rules in keys.items():
        path = (*prefix, key)
        yield path, rules
        yield from all_keys(key_rules(rules), path)
        yield from all_keys(key_rules(item_rules(rules)), (*path, "[]"))
        yield from all_keys(key_rules(rules.get("valuesrules", NO_RULES)), (*path, "<name>"))


def rules_at(keys: Rules, path: Path) -> Rules:
    """The rules of the key at a path of a document."""
    rules: Rules = {"schema": keys}
    for step in path:
        if isinstance(step, int):
            rules = item_rules(rules)
        else:
            known = key_rules(rules)
            rules = known[step] if step in known else rules.get("valuesrules", NO_RULES)
    return rules
