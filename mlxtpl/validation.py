"""Typed values → problems: Cerberus with strict types and rules of ours, and its faults as messages with both places."""

from __future__ import annotations

import contextlib
import hashlib
import marshal
import math
import re
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mlxtpl import yamlio
from mlxtpl.errors import MlxtplError, Problem, ValuesError
from mlxtpl.layervalidator import make_validator
from mlxtpl.schema import (
    DURATION,
    INTEGER,
    NO_RULES,
    Path,
    Rules,
    all_keys,
    dotted,
    found_words,
    key_place,
    key_rules,
    locate,
    nearest,
    rules_at,
    types_of,
)
from mlxtpl.yamlio import Node, Scalar, Sequence


def digest(value: Any) -> bytes:
    """Sixteen bytes that are equal for equal plain values, order included, and differ for others."""
    return hashlib.blake2b(marshal.dumps(value, _NO_REFERENCES), digest_size=16).digest()


class Validator:
    """Checks trees by a schema; what it has found valid once it does not look at again."""

    def __init__(self, keys: Rules) -> None:
        """Take a schema that `schemarules` found nothing wrong with."""
        self._keys = keys
        self._whole = make_validator(keys)
        self._parts: dict[str, Any] = {}
        self._valid: set[tuple[str, Any]] = set()
        self._key_sets: set[tuple[str, ...]] = set()
        # Such a rule looks at the value of another key.
        self._separate = not any("dependencies" in rules for rules in keys.values())

    def faults(self, tree: Mapping[str, Any], digests: Mapping[str, Any]) -> Iterator[tuple[Path, Path, str, Any]]:
        """Check a typed tree.

        Args:
            tree: typed values by top-level key.
            digests: for each key something that is equal only for equal values.

        Yields:
            (path of the value, path in the schema, name of the rule, what the rule wants) for each fault; for a rule of
            ours the last is its message.
        """
        # Which keys there are decides required, unknown and excluded ones.
        keys = (*tree, "", *(key for key, value in tree.items() if value is None))
        fresh = [key for key in tree if (key, digests[key]) not in self._valid]
        if self._separate and keys in self._key_sets and all(self._is_valid(key, tree[key]) for key in fresh):
            self._remember(fresh, digests)
            return
        if self._check_whole(tree):
            self._key_sets.add(keys)
            self._remember(fresh, digests)
            return
        yield from _leaves(self._whole._errors)

    def _check_whole(self, tree: Mapping[str, Any]) -> bool:
        with time_limit(_SECONDS, "the regular expressions of the schema take too long"):
            return bool(self._whole.validate(tree, normalize=False))

    def _is_valid(self, key: str, value: Any) -> bool:
        if key not in self._parts:
            self._parts[key] = make_validator({key: self._keys[key]})
        with time_limit(_SECONDS, "the regular expressions of the schema take too long"):
            return bool(self._parts[key].validate({key: value}, normalize=False))

    def _remember(self, keys: Iterable[str], digests: Mapping[str, Any]) -> None:
        if len(self._valid) > _REMEMBERED:
            self._valid.clear()
        self._valid.update((key, digests[key]) for key in keys)


_REMEMBERED = 512
_NO_REFERENCES = 2  # later versions of marshal's format depend on how often an object is referred to


_SECONDS = 5  # a regular expression of a stranger's layer can run for ever


@contextlib.contextmanager
def time_limit(seconds: float, message: str) -> Iterator[None]:
    """End what takes longer; without effect where there are no signals, or outside the main thread.

    Raises:
        ValuesError: with the message, after the time.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(_signal: int, _frame: Any) -> None:
        raise ValuesError(Problem(message, hint="simplify the regex in the layer's schema.yaml"))

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


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
        hint = nearest(str(path[-1]), siblings, path[:-1]) or _unindented(path, values, siblings)
        hint = hint or _elsewhere(str(path[-1]), keys)
        notes = _schema_note(schema_nodes, schema_path[:-1])
        return Problem("unknown key", dotted(path), key_place(values, path), notes, hint)
    node, whole = locate(values, path)
    rules = rules_at(keys, path)
    if "keysrules" in schema_path:
        place = key_place(values, path)
        rules = rules_at(keys, path[:-1]).get("keysrules", NO_RULES)
        if place is not None:
            node = Scalar(str(path[-1]), False, place.source, place.line, place.column)
        message, hint = explain_fault(rule, wanted, node, rules)
        return Problem(f"the key {message}", dotted(path), place, _schema_note(schema_nodes, schema_path), hint)
    message, hint = explain_fault(rule, wanted, node, rules)
    # A required key that is missing has no place of its own: the map that lacks it has, unless that is the whole file.
    place = None if node is None or (not whole and len(path) == 1) else node.place
    return Problem(message, dotted(path), place, _schema_note(schema_nodes, schema_path), hint)


def explain_fault(rule: str, wanted: Any, node: Node | None, rules: Rules) -> tuple[str, str]:
    """The message and the hint for a fault of `rule`.

    Args:
        node: the value that is wrong (for a fault of a key: the key).
        rules: the rules of the key that is wrong.
    """
    meta = rules.get("meta", NO_RULES)
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
        import difflib

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
    if types == ("list",) and node.source.name.startswith("--set "):
        return f"--set writes a list as {{{text.strip('[]')}}}"
    if "boolean" in types and text.lower() in ("yes", "no", "on", "off", "true", "false", "y", "n"):
        word = "true" if text.lower() in ("yes", "on", "true", "y") else "false"
        return f"write {word}" + ("" if node.plain else " without quotes")
    if "integer" in types or "duration" in types:
        if not node.plain and (INTEGER.fullmatch(text) or ("duration" in types and DURATION.fullmatch(text))):
            return f"write {text} without quotes"
        if re.fullmatch(r"0[0-7]{1,20}", text):
            return (
                f"{text} is {int(text, 8)} to YAML 1.1 (octal) and {int(text)} to YAML 1.2; write the one that you mean"
            )
        try:
            number = yamlio.go_scalar(text)
        except (ValueError, MlxtplError):
            return ""
        if (
            isinstance(number, (int, float))
            and math.isfinite(number)
            and not isinstance(number, bool)
            and number == int(number)
        ):
            return f"write {int(number)}, as a plain decimal number"
    return ""


def _unindented(path: Path, values: Node, siblings: Rules) -> str:
    """A hint for a key that follows an empty map: most likely it was to stand in it."""
    parent, _ = locate(values, path[:-1])
    place = key_place(values, path)
    if not isinstance(parent, yamlio.Mapping) or place is None:
        return ""
    above = [
        (key_node.line, key)
        for key, (key_node, node) in parent.items.items()
        if key_node.source is place.source and key_node.line < place.line and yamlio.is_null(node)
    ]
    name = max(above, default=(0, ""))[1]
    takes_any = "dict" in types_of(siblings.get(name, NO_RULES)) and not key_rules(siblings.get(name, NO_RULES))
    return f"indent it to stand in {name}" if name and takes_any else ""


def _elsewhere(name: str, keys: Rules) -> str:
    found = [path for path, _ in all_keys(keys) if str(path[-1]).lower() == name.lower()]
    return f"did you mean {dotted(found[0])}?" if found else "`mlxtpl values` lists the keys"


def _schema_note(schema_nodes: Mapping[str, Node], path: Path) -> tuple[tuple[str, str], ...]:
    if not path or path[0] not in schema_nodes:
        return ()
    node, _ = locate(schema_nodes[path[0]], path[1:])
    return () if node is None else (("schema", f"{node.place.source.name}:{node.place.line}"),)
