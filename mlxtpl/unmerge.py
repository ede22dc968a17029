"""The reverse of a merge: the strategic-merge patch that makes one tree of another, and when two trees are as good as equal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlxtpl import quantities
from mlxtpl.kinds import Keyed, Lists, PrimitiveSet
from mlxtpl.merge import merge

# Items of these run, or are mounted, in the order in which they stand.
_ORDERED = ("initContainers", "containers")
# Empty, these mean nothing (emptyDir and elasticPolicy do).
_NOTHING = frozenset(
    """metadata labels annotations nodeSelector resources limits requests env envFrom volumeMounts volumes initContainers
    imagePullSecrets tolerations args command ports capabilities add drop runPolicy securityContext affinity""".split()
)
_AMOUNTS = ("limits", "requests")


def patch_between(base: Mapping[str, Any], wanted: Mapping[str, Any], lists: Lists) -> dict[str, Any]:
    """The patch with which `merge(base, patch, lists)` is as good as equal to `wanted`; empty when they are.

    >>> patch_between({"a": 1, "b": {"c": 1, "d": 2}}, {"b": {"c": 1, "e": 3}}, {})
    {'a': None, 'b': {'d': None, 'e': 3}}
    >>> patch_between({"env": [{"name": "A", "value": "1"}, {"name": "B"}]}, {"env": [{"name": "A", "value": "2"}]},
    ...               {"env": Keyed(("name",))})
    {'env': [{'name': 'A', 'value': '2'}, {'name': 'B', '$patch': 'delete'}]}
    """
    patch: dict[str, Any] = {key: None for key in base if key not in wanted}
    for key, value in wanted.items():
        old, how = base.get(key), lists.get(key)
        if key in base and same(old, value, how, key):
            continue
        if isinstance(old, dict) and isinstance(value, dict):
            patch[key] = patch_between(old, value, how if isinstance(how, Mapping) else {})
        elif isinstance(old, list) and isinstance(value, list) and isinstance(how, Keyed):
            patch[key] = _of_list(old, value, how, key)
        elif isinstance(old, list) and isinstance(value, list) and isinstance(how, PrimitiveSet):
            patch[f"$deleteFromPrimitiveList/{key}"] = [each for each in old if each not in value]
            patch[key] = [each for each in value if each not in old]
        elif (
            old is not None
            and (isinstance(old, (dict, list)) or isinstance(value, (dict, list)))
            and type(old) is not type(value)
        ):
            # One patch cannot put a map in the place of a list or scalar; a new parent can.
            return {"$patch": "replace", **wanted}
        else:
            patch[key] = value
    return patch


def _of_list(old: list[Any], wanted: list[Any], how: Keyed, field: str) -> list[Any]:
    keys = [_key(each, how) for each in wanted]
    before = {_key(each, how): each for each in old}
    whole = [{"$patch": "replace"}, *wanted]
    if None in keys or None in before or len(set(keys)) < len(keys) or len(before) < len(old):
        return whole
    items: list[Any] = []
    for key, each in zip(keys, wanted, strict=True):
        was = before.get(key)
        if was is None:
            items.append(each)
        elif not same(was, each, how.items, field):
            inner = patch_between(was, each, how.items if isinstance(how.items, Mapping) else {})
            items.append({**{name: each[name] for name in how.keys if name in each}, **inner})
    for key, was in before.items():
        if key not in keys:
            items.append({**{name: was[name] for name in how.keys if name in was}, "$patch": "delete"})
    lists = {field: how}
    made = merge({field: old}, {field: items}, lists).get(field, [])
    return items if same(made, wanted, how, field) else whole


def _key(item: Any, how: Keyed) -> Any:
    if not isinstance(item, dict) or item.get(how.keys[0]) is None:
        return None
    return tuple(item.get(name, how.defaults.get(name)) for name in how.keys)


def same(one: Any, other: Any, how: Any = None, field: str = "") -> bool:
    """Whether Kubernetes makes the same of two values: amounts by what they amount to, keyed lists in any order.

    The order of env counts where a variable uses an earlier one, that of containers always.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        one, other = filled(one), filled(other)
        if one.keys() != other.keys():
            return False
        inner = how if isinstance(how, Mapping) else {}
        if field in _AMOUNTS:
            return all(_amount(one[key]) == _amount(other[key]) for key in one)
        return all(same(one[key], other[key], inner.get(key), key) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        items = how.items if isinstance(how, Keyed) else None
        if len(one) != len(other):
            return False
        if isinstance(how, Keyed) and not _in_order(field, one):
            keys = {_key(each, how): each for each in one}
            others = {_key(each, how): each for each in other}
            if None not in keys and len(keys) == len(one) and keys.keys() == others.keys():
                return all(same(keys[key], others[key], items, field) for key in keys)
        return all(same(each, another, items, field) for each, another in zip(one, other, strict=True))
    return type(one) is type(other) and one == other


def filled(tree: Mapping[str, Any]) -> dict[str, Any]:
    """A map without fields that are as good as not there: empty labels, an empty list of volumes."""
    return {
        key: value
        for key, value in tree.items()
        if key not in _NOTHING or (value not in ({}, []) and not (isinstance(value, dict) and not filled(value)))
    }


def _in_order(field: str, items: list[Any]) -> bool:
    if field == "env":
        return any("$(" in str(each.get("value")) for each in items if isinstance(each, dict))
    return field in _ORDERED


def _amount(value: Any) -> Any:
    amount = quantities.amount(value)
    return value if amount is None else amount
