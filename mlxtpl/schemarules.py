"""What a layer's schema.yaml may say: the rules of Cerberus that we take, and our own, each with the shape it needs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

TYPES = ("string", "integer", "number", "boolean", "dict", "list", "duration")
_Fault = tuple[tuple[str, ...], str]


def _texts(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(each, str) for each in value))


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _length(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _regex(value: Any) -> bool:
    try:
        return isinstance(value, str) and re.compile(value) is not None
    except (re.error, OverflowError, RecursionError):
        return False


def _meta(value: Any) -> bool:
    path = value.get("path", []) if isinstance(value, Mapping) else None
    return isinstance(path, list) and all(isinstance(each, str) for each in path)


def _types(value: Any) -> bool:
    return (
        _texts(value) and bool(value) and all(each in TYPES for each in ([value] if isinstance(value, str) else value))
    )


def _texts_list(value: Any) -> bool:
    return isinstance(value, list) and _texts(value)


def _scalars(value: Any) -> bool:
    return isinstance(value, list) and not any(isinstance(each, (list, dict)) for each in value)


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _map(value: Any) -> bool:
    return isinstance(value, Mapping)


# rule → (whether a value fits it, what it wants)
_RULES = {
    "type": (_types, f"one or a list of {', '.join(TYPES)}"),
    "required": (_flag, "true or false"),
    "nullable": (_flag, "true or false"),
    "empty": (_flag, "true or false"),
    "onlyTrue": (_flag, "true or false"),
    "regex": (_regex, "a regular expression"),
    "allowed": (_scalars, "a list of scalars"),
    "forbidden": (_scalars, "a list of scalars"),
    "allowedText": (_texts_list, "a list of texts"),
    "exactlyOneKey": (_texts_list, "a list of keys"),
    "min": (_number, "a number"),
    "max": (_number, "a number"),
    "minlength": (_length, "a whole number"),
    "maxlength": (_length, "a whole number"),
    "dependencies": (_texts, "a key or a list of keys"),
    "excludes": (_texts, "a key or a list of keys"),
    "meta": (_meta, "a map; its `path` a list of texts"),
    "schema": (_map, "a map"),
    "keysrules": (_map, "a map of rules"),
    "valuesrules": (_map, "a map of rules"),
    "elements": (_map, "a map of rules"),
}


def faults(keys: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[_Fault]:
    """Every fault of a mapping of key → rules, as (path in the schema, message)."""
    for key, rules in keys.items():
        yield from _faults_of_rules(rules, (*path, key))


def _faults_of_rules(rules: Any, path: tuple[str, ...]) -> Iterator[_Fault]:
    if not isinstance(rules, Mapping):
        yield path, "must be a map of rules, such as {type: string}"
        return
    for rule, value in rules.items():
        if rule not in _RULES:
            yield (*path, rule), f"is no valid rule; there are {', '.join(_RULES)}"
            continue
        fits, wanted = _RULES[rule]
        if not fits(value):
            yield (*path, rule), f"must be {wanted}"
        elif rule in ("keysrules", "valuesrules", "elements"):
            yield from _faults_of_rules(value, (*path, rule))
        elif rule == "schema":
            # The rules of a list's items, or a map of key → rules; a key may itself be called `type`.
            if isinstance(value.get("type"), (str, list)):
                yield from _faults_of_rules(value, (*path, rule))
            else:
                yield from faults(value, (*path, rule))
