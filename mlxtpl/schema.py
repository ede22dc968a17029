"""Cerberus schemas of layers: the type that a schema gives to a spelling, and errors with two places.

A schema file is a Cerberus schema with three rules of ours (exactlyOneKey, elements, onlyTrue, allowedText)
and the type `duration`. `meta.path` marks a value without a schema: it is typed as Kubernetes' Go parser types it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, ClassVar

from mlxtpl import kinds, yamlio
from mlxtpl.errors import MlxtplError, Place, Problem
from mlxtpl.yamlio import Node, Scalar, Sequence

Rules = Mapping[str, Any]
Path = tuple[Any, ...]

_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_DURATION = re.compile(r"([0-9]+)([smhdw]?)")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_NO_RULES: Rules = {}


def types_of(rules: Rules) -> tuple[str, ...]:
    """The types that a key may have; empty when anything goes."""
    wanted = rules.get("type", ())
    return (wanted,) if isinstance(wanted, str) else tuple(wanted)


def item_rules(rules: Rules) -> Rules:
    """The rules of each item of a list."""
    if "elements" in rules:
        return rules["elements"]  # type: ignore[no-any-return]
    inner = rules.get("schema", _NO_RULES)
    return inner if isinstance(inner.get("type"), (str, list)) else _NO_RULES


def key_rules(rules: Rules) -> Rules:
    """The declared keys of a map with the rules of each."""
    inner = rules.get("schema", _NO_RULES)
    return _NO_RULES if isinstance(inner.get("type"), (str, list)) else inner


def typed(node: Node, rules: Rules) -> Any:
    """The plain value of a node as its schema types it.

    A spelling that fits no wanted type stays text (Cerberus then says what is wrong with it). Text keeps its
    very characters: `1e-4`, `0012` and `on` are strings where the schema says string.
    """
    if isinstance(node, Scalar):
        return None if yamlio.is_null(node) else _typed_scalar(node, rules)
    path = rules.get("meta", _NO_RULES).get("path")
    if path is not None:
        return kinds_typed(node, tuple(path))
    if isinstance(node, Sequence):
        item = item_rules(rules)
        return [typed(each, item) for each in node.items]
    keys = key_rules(rules)
    others = rules.get("valuesrules", _NO_RULES)
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
        if "integer" in types and _INTEGER.fullmatch(text) and len(text) < 20:
            return int(text)
        if "number" in types and _NUMBER.fullmatch(text):
            return float(text)
        if "duration" in types:
            match = _DURATION.fullmatch(text)
            if match and len(text) < 15:
                return int(match[1]) * _SECONDS[match[2]]
        if not types and rules.get("meta", _NO_RULES).get("path") is not None:
            return yamlio.scalar_value(node)
    return text


class Declared(dict[str, Any]):
    """A map whose keys a schema declares: templates may name these and no others."""

    __slots__ = ()


def complete(value: Any, rules: Rules) -> Any:
    """The value with every declared but absent key as None, so that templates may name it."""
    if rules.get("meta", _NO_RULES).get("path") is not None:
        return value
    if isinstance(value, dict):
        keys = key_rules(rules)
        others = rules.get("valuesrules", _NO_RULES)
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


# --- validation --------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _validator_class() -> Any:
    # Cerberus takes a fifth of a cold start to import: only a process that validates pays for it.
    import cerberus
    from cerberus import TypeDefinition

    class LayerValidator(cerberus.Validator):  # type: ignore[misc]
        """Cerberus with strict integers, whole-text regexes and the rules of layers."""

        types_mapping: ClassVar = {
            **cerberus.Validator.types_mapping,
            "integer": TypeDefinition("integer", (int,), (bool,)),
            "number": TypeDefinition("number", (int, float), (bool,)),
            "duration": TypeDefinition("duration", (int,), (bool,)),
        }

        def _validate_regex(self, pattern: str, field: str, value: Any) -> None:
            """{'type': 'string'}"""
            if isinstance(value, str) and not re.fullmatch(pattern, value):
                self._error(field, cerberus.errors.REGEX_MISMATCH)

        def _validate_meta(self, constraint: Any, field: str, value: Any) -> None:
            """{'type': 'dict'}"""

        def _validate_exactlyOneKey(self, keys: list[str], field: str, value: Any) -> None:  # noqa: N802
            """{'type': 'list', 'schema': {'type': 'string'}}"""
            if isinstance(value, dict):
                found = [key for key in keys if value.get(key) is not None]
                if len(found) != 1:
                    some = f"found {' and '.join(found)}" if found else "found none"
                    self._error(field, f"must have exactly one of {', '.join(keys)}; {some}")

        def _validate_elements(self, rules: Any, field: str, value: Any) -> None:
            """{'type': 'dict'}"""
            if isinstance(value, list):
                for index, each in enumerate(value):
                    if not isinstance(each, str):
                        self._error(field, f"item {index} must be text")

        def _validate_onlyTrue(self, constraint: bool, field: str, value: Any) -> None:  # noqa: N802
            """{'type': 'boolean'}"""
            if value is False:
                self._error(field, "must be true or a map; leave it out or set it to null to turn it off")

        def _validate_allowedText(self, allowed: list[str], field: str, value: Any) -> None:  # noqa: N802
            """{'type': 'list', 'schema': {'type': 'string'}}"""
            if isinstance(value, str) and value not in allowed:
                self._error(field, f"must be a whole number or one of {', '.join(allowed)}")

        def _validate_min(self, lowest: Any, field: str, value: Any) -> None:
            """{'nullable': False}"""
            if isinstance(value, (int, float)):
                super()._validate_min(lowest, field, value)

        def _validate_max(self, highest: Any, field: str, value: Any) -> None:
            """{'nullable': False}"""
            if isinstance(value, (int, float)):
                super()._validate_max(highest, field, value)

    return LayerValidator


def make_validator(keys: Rules) -> Any:
    """A reusable Cerberus validator for a mapping with these keys, which `schemarules` found nothing wrong with."""
    return _validator_class()(keys, ignore_none_values=True, allow_unknown=False)


def validate(tree: Mapping[str, Any], validator: Any) -> Iterator[tuple[Path, Path, str, Any]]:
    """Check a typed tree.

    Yields:
        (path of the value, path in the schema, name of the rule, what the rule wants) for each fault; for a rule of
        ours the last is its message.
    """
    if validator.validate(tree, normalize=False):
        return
    yield from _leaves(validator._errors)


def _leaves(errors: Iterable[Any]) -> Iterator[tuple[Path, Path, str, Any]]:
    for error in errors:
        if error.child_errors:
            yield from _leaves(error.child_errors)
        elif error.code == 0:
            yield error.document_path, error.schema_path, "custom", error.info[0]
        else:
            rule = "unknown" if error.code == 0x03 else error.rule
            yield error.document_path, error.schema_path, rule, error.constraint


_TYPE_WORDS = {
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a number",
    "string": "text",
    "dict": "a map",
    "list": "a list",
    "duration": "seconds or a duration such as 3w, 2d, 12h, 90m, 30s",
}


def type_words(types: Iterable[str]) -> str:
    """The wanted types for a person: "true or false, or a map"."""
    words = [_TYPE_WORDS.get(each, each) for each in types]
    if len(words) > 1 and words[0] == "true or false":
        words[:1] = ["true", "false"]
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


def found_words(node: Node | None) -> str:
    """What stands there: a spelling in quotes, "a map", "a list"."""
    if isinstance(node, Scalar):
        text = node.text if len(node.text) <= 60 else node.text[:57] + "…"
        return "nothing" if yamlio.is_null(node) else f'"{text}"'
    return "nothing" if node is None else "a list" if isinstance(node, Sequence) else "a map"


def explain_fault(rule: str, wanted: Any, node: Node | None, rules: Rules) -> tuple[str, str]:
    """The message and the hint for a fault of `rule`.

    Args:
        node: the value that is wrong (for a fault of a key: the key).
        rules: the rules of the key that is wrong.
    """
    meta = rules.get("meta", _NO_RULES)
    found = found_words(node)
    hint = str(meta.get("hint", ""))
    if rule == "custom":
        return str(wanted), hint
    if rule == "required":
        example = meta.get("example")
        return "is required", hint or (f"such as {example}" if example is not None else "")
    if rule == "type":
        types = (wanted,) if isinstance(wanted, str) else tuple(wanted)
        return f"must be {type_words(types)}, found {found}", _type_hint(types, node) or hint
    if rule == "allowed":
        near = difflib.get_close_matches(str(getattr(node, "text", "")), [str(each) for each in wanted], 1, 0.5)
        folded = [each for each in wanted if str(each).lower() == str(getattr(node, "text", "")).lower()]
        best = folded or near
        hint = f"did you mean {best[0]}?" if best else hint
        return f"must be one of {', '.join(str(each) for each in wanted)}, found {found}", hint
    if rule == "regex":
        return f"must be {meta.get('form', f'text like {wanted}')}, found {found}", hint
    if rule in ("min", "max"):
        return f"must be at {'least' if rule == 'min' else 'most'} {wanted}, found {found}", hint
    if rule == "empty":
        return "must not be empty", hint
    if rule == "excludes":
        others = wanted if isinstance(wanted, str) else ", ".join(wanted)
        return f"cannot be combined with {others}", hint
    if rule == "dependencies":
        others = wanted if isinstance(wanted, str) else ", ".join(wanted)
        return f"needs {others} beside it", hint
    return f"breaks the rule {rule}: {wanted}", hint


def _type_hint(types: tuple[str, ...], node: Node | None) -> str:
    if isinstance(node, yamlio.Mapping) and node.source.name.startswith("--set"):
        return r"a dot inside a key is written \."
    if isinstance(node, Sequence) and node.source.name.startswith("--set") and "dict" in types:
        return "--set-json sets a map"
    if not isinstance(node, Scalar):
        return ""
    text = node.text
    if "boolean" in types and text.lower() in ("yes", "no", "on", "off", "true", "false", "y", "n"):
        word = "true" if text.lower() in ("yes", "on", "true", "y") else "false"
        return f"write {word}" + ("" if node.plain else " without quotes")
    if "integer" in types or "duration" in types:
        if not node.plain and (_INTEGER.fullmatch(text) or ("duration" in types and _DURATION.fullmatch(text))):
            return f"write {text} without quotes"
        if re.fullmatch(r"0[0-7]+", text):
            return (
                f"{text} is {int(text, 8)} to YAML 1.1 (octal) and {int(text)} to YAML 1.2; write the one that you mean"
            )
        try:
            number = yamlio.go_scalar(text)
        except (ValueError, MlxtplError):
            return ""
        if isinstance(number, (int, float)) and not isinstance(number, bool) and number == int(number):
            return f"write {int(number)}, as a plain decimal number"
    return ""


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
    close = [key for key in keys if key.lower() == name.lower()] or difflib.get_close_matches(name, list(keys), 1, 0.7)
    return f"did you mean {dotted((*at, close[0]))}?" if close else ""


def all_keys(keys: Rules, prefix: Path = ()) -> Iterator[tuple[Path, Rules]]:
    """Every declared key with its rules, depth first; `<name>` stands for a free key, `[]` for a list's item."""
    for key, rules in keys.items():
        path = (*prefix, key)
        yield path, rules
        yield from all_keys(key_rules(rules), path)
        yield from all_keys(key_rules(item_rules(rules)), (*path, "[]"))
        yield from all_keys(key_rules(rules.get("valuesrules", _NO_RULES)), (*path, "<name>"))


def problem_of(
    fault: tuple[Path, Path, str, Any], values: Node, keys: Rules, schema_nodes: Mapping[str, Node]
) -> Problem:
    """A fault as a problem with both places.

    Args:
        values: the merged values, for the place of the value.
        keys: the merged schema.
        schema_nodes: each top-level key → its node in its schema file, for the place of the rule.
    """
    path, schema_path, rule, wanted = fault
    if rule == "unknown":
        siblings = key_rules(rules_at(keys, path[:-1]))
        hint = nearest(str(path[-1]), siblings, path[:-1]) or _elsewhere(str(path[-1]), keys)
        notes = _schema_note(schema_nodes, schema_path[:-1])
        return Problem("unknown key", dotted(path), key_place(values, path), notes, hint)
    node, whole = locate(values, path)
    rules = rules_at(keys, path)
    if "keysrules" in schema_path:
        place = key_place(values, path)
        rules = rules_at(keys, path[:-1]).get("keysrules", _NO_RULES)
        if place is not None:
            node = Scalar(str(path[-1]), False, place.source, place.line, place.column)
        message, hint = explain_fault(rule, wanted, node, rules)
        return Problem(f"the key {message}", dotted(path), place, _schema_note(schema_nodes, schema_path), hint)
    message, hint = explain_fault(rule, wanted, node, rules)
    # A required key that is missing has no place of its own: the map that lacks it has, unless that is the whole file.
    place = None if node is None or (not whole and len(path) == 1) else node.place
    return Problem(message, dotted(path), place, _schema_note(schema_nodes, schema_path), hint)


def rules_at(keys: Rules, path: Path) -> Rules:
    """The rules of the key at a path of a document."""
    rules: Rules = {"schema": keys}
    for step in path:
        if isinstance(step, int):
            rules = item_rules(rules)
        else:
            known = key_rules(rules)
            rules = known[step] if step in known else rules.get("valuesrules", _NO_RULES)
    return rules


def _elsewhere(name: str, keys: Rules) -> str:
    found = [path for path, _ in all_keys(keys) if str(path[-1]).lower() == name.lower()]
    return f"did you mean {dotted(found[0])}?" if found else "`mlxtpl values` lists the keys"


def _schema_note(schema_nodes: Mapping[str, Node], path: Path) -> tuple[tuple[str, str], ...]:
    if not path or path[0] not in schema_nodes:
        return ()
    node, _ = locate(schema_nodes[path[0]], path[1:])
    return () if node is None else (("schema", f"{node.place.source.name}:{node.place.line}"),)
