"""Kubernetes strategic merge of plain trees, for layers, `patch` and overlays.

Maps merge, scalars replace, null deletes:

>>> merge({"a": {"x": 1, "y": 2}, "b": 1}, {"a": {"y": 3}, "b": None, "c": 4}, {})
{'a': {'x': 1, 'y': 3}, 'c': 4}

A list of maps merges by the key of its field, any other list is replaced:

>>> pod = {"spec": {"containers": [{"name": "a", "image": "1", "args": ["x"]}, {"name": "b"}]}}
>>> patch = {"spec": {"containers": [{"name": "c"}, {"name": "b", "image": "2"}]}}
>>> [c["name"] for c in merge(pod, patch, POD_TEMPLATE)["spec"]["containers"]]
['a', 'b', 'c']
>>> [c["name"] for c in merge(pod, patch, POD_TEMPLATE, order="patch-first")["spec"]["containers"]]
['c', 'b', 'a']

Directives: `$patch: delete` removes an item or empties a map, `$patch: replace` replaces a map, or a list when it is an
item of its own; `$retainKeys`, `$deleteFromPrimitiveList/x` and `$setElementOrder/x` are honoured:

>>> merge(pod, {"spec": {"containers": [{"name": "b", "$patch": "delete"}]}}, POD_TEMPLATE)["spec"]["containers"][1:]
[]
>>> merge({"a": {"x": 1}}, {"a": {"$patch": "replace", "y": 2}}, {})
{'a': {'y': 2}}
>>> merge({"metadata": {"finalizers": ["a", "b"]}}, {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}}, POD_TEMPLATE)
{'metadata': {'finalizers': ['b']}}

A new volume source takes the place of the old one, and `valueFrom` that of `value`:

>>> merge({"env": [{"name": "A", "value": "1"}]}, {"env": [{"name": "A", "valueFrom": {}}]}, CONTAINER)
{'env': [{'name': 'A', 'valueFrom': {}}]}
"""

from __future__ import annotations

from typing import Any, Literal

from mlxtpl.errors import MergeError, Problem
from mlxtpl.kinds import CONTAINER, POD_TEMPLATE, Keyed, Lists, PrimitiveSet

Order = Literal["append", "patch-first"]
Path = tuple[str, ...]

__all__ = ["CONTAINER", "POD_TEMPLATE", "merge"]

_PATCH = "$patch"
_RETAIN = "$retainKeys"
_ORDER = "$setElementOrder/"
_DELETE = "$deleteFromPrimitiveList/"
_NONE: Lists = {}


def merge(base: Any, patch: Any, lists: Lists, *, order: Order = "append", switch: bool = True) -> Any:
    """Merge `patch` over `base`; neither is changed, parts that no patch touches are shared.

    Args:
        base: a map.
        patch: a map that may hold directives.
        lists: how the lists at this place merge (`Kind.lists`, `kinds.POD_TEMPLATE`, `kinds.CONTAINER`).
        order: new items of a keyed list at the end, or the patch's items first, as kustomize has it.
        switch: a new volume source replaces the old one, valueFrom replaces value (Kubernetes refuses both at once).

    Raises:
        MergeError: an item without its merge key, an unknown directive, a map where a list stands, and the like.
    """
    return _map(base, patch, lists, order, switch, ())


def _map(base: dict[str, Any], patch: dict[str, Any], lists: Lists, order: Order, switch: bool, path: Path) -> Any:
    directive = patch.get(_PATCH)
    if directive is not None:
        if directive == "replace":
            return {key: _clean(value) for key, value in patch.items() if key != _PATCH and value is not None}
        if directive == "delete":
            return {}
        if directive != "merge":
            raise _error(
                f"the directive $patch: {directive} is not known", (*path, _PATCH), "use delete, replace or merge"
            )
    result = dict(base)
    retain = patch.get(_RETAIN)
    if retain is not None:
        if not isinstance(retain, list):
            raise _error("must be a list of keys", (*path, _RETAIN))
        result = {key: value for key, value in result.items() if key in retain}
    for key, value in patch.items():
        if key[:1] == "$":
            if key in (_PATCH, _RETAIN) or key.startswith(_ORDER):
                continue
            if key.startswith(_DELETE):
                name = key[len(_DELETE) :]
                if isinstance(result.get(name), list):
                    result[name] = [each for each in result[name] if each not in (value or [])]
                continue
            raise _error(f"the directive {key} is not known", path)
        old = result.get(key)
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            if old is not None and not isinstance(old, dict):
                raise _clash(old, value, (*path, key))
            table = lists.get(key, _NONE)
            table = table if isinstance(table, dict) else _NONE
            if old is None and not table and not _directed(value):
                result[key] = value
            else:
                result[key] = _map(old or {}, value, table, order, switch, (*path, key))
        elif isinstance(value, list):
            if old is not None and not isinstance(old, list):
                raise _clash(old, value, (*path, key))
            result[key] = _list(old, value, lists.get(key), order, switch, (*path, key))
            wanted = patch.get(_ORDER + key)
            if wanted is not None:
                result[key] = _ordered(result[key], wanted, lists.get(key))
        else:
            if isinstance(old, (dict, list)):
                raise _clash(old, value, (*path, key))
            result[key] = value
    for key, wanted in patch.items():
        name = key[len(_ORDER) :]
        if key.startswith(_ORDER) and name not in patch and isinstance(result.get(name), list):
            result[name] = _ordered(result[name], wanted, lists.get(name))
    return result


def _list(old: list[Any] | None, patch: list[Any], how: Any, order: Order, switch: bool, path: Path) -> list[Any]:
    if isinstance(how, PrimitiveSet):
        return [*(old or []), *(each for each in patch if each not in (old or []))]
    if not isinstance(how, Keyed):
        return [_clean(each) for each in patch]
    for each in patch:
        if not isinstance(each, dict):
            raise _error("every item must be a map, as the list merges by " + how.keys[0], path)
    if any(each.get(_PATCH) == "replace" and len(each) == 1 for each in patch):
        return [_clean(each) for each in patch if each.get(_PATCH) != "replace"]
    before = [each for each in old or [] if isinstance(each, dict)]
    places = {_key(each, how, path, needed=False): number for number, each in enumerate(before)}
    result: list[Any] = list(before)
    new: list[Any] = []
    moved: list[int] = []
    for each in patch:
        directive = each.get(_PATCH)
        if directive == "replace":
            hint = "put `$patch: replace` into an item of its own, beside the items that replace the list"
            raise _error("$patch: replace stands in an item with content, which would be lost", path, hint)
        key = _key(each, how, path)
        name = f"{path[-1]}[{'/'.join(str(part) for part in key)}]"
        at = places.get(key)
        if directive == "delete":
            if at is not None and at >= 0:
                result[at] = None
            continue
        if directive not in (None, "merge"):
            raise _error(f"the directive $patch: {directive} is not known", (*path[:-1], name))
        inner = {k: v for k, v in each.items() if k != _PATCH}
        if at is None:
            places[key] = len(result) + len(new)
            new.append(_map({}, inner, how.items, order, switch, (*path[:-1], name)))
        elif at >= len(result):
            position = at - len(result)
            new[position] = _map(new[position], inner, how.items, order, switch, (*path[:-1], name))
        else:
            current = result[at] or {}
            if switch and how.switch:
                current = _switched(current, inner, how.switch)
            result[at] = _map(current, inner, how.items, order, switch, (*path[:-1], name))
            moved.append(at)
    if order == "patch-first":
        numbers = list(dict.fromkeys(places[key] for each in patch if (key := _key(each, how, path)) in places))
        both = [*result, *new]
        rest = [number for number in range(len(both)) if number not in numbers]
        return [both[number] for number in (*numbers, *rest) if both[number] is not None]
    return [each for each in result if each is not None] + new


def _switched(current: dict[str, Any], patch: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The item without the alternative that the patch replaces (value or valueFrom, one volume source)."""
    if names[0].startswith("!"):
        kept = {name[1:] for name in names}
        chosen = [key for key, value in patch.items() if key not in kept and key[:1] != "$" and value is not None]
        drop = [key for key in current if key not in kept and key not in chosen] if chosen else []
    else:
        chosen = [key for key in names if patch.get(key) is not None]
        drop = [key for key in names if key not in chosen] if chosen else []
    return {key: value for key, value in current.items() if key not in drop}


def _key(item: dict[str, Any], how: Keyed, path: Path, *, needed: bool = True) -> tuple[Any, ...]:
    key = tuple(item.get(name, how.defaults.get(name)) for name in how.keys)
    if any(isinstance(part, (dict, list)) for part in key):
        raise _error(f"the {how.keys[0]} of an item, by which the list merges, must be a scalar", path)
    if needed and key[0] is None:
        have = ", ".join(str(name) for name in item) or "nothing"
        raise _error(f"an item has no {how.keys[0]}, by which the list merges (it has {have})", path)
    return key


def _ordered(items: list[Any], wanted: Any, how: Any) -> list[Any]:
    names = how.keys if isinstance(how, Keyed) else ()

    def rank(item: Any) -> Any:
        return tuple(item.get(name) for name in names[:1]) if isinstance(item, dict) else item

    order = [rank(each) for each in wanted or []]
    listed = sorted((each for each in items if rank(each) in order), key=lambda each: order.index(rank(each)))
    return listed + [each for each in items if rank(each) not in order]


def _directed(tree: Any) -> bool:
    """Whether a new part holds a directive or a null, so that it cannot be taken as it is."""
    if isinstance(tree, dict):
        return any(value is None or key[:1] == "$" or _directed(value) for key, value in tree.items())
    return isinstance(tree, list) and any(_directed(each) for each in tree if isinstance(each, (dict, list)))


def _clean(tree: Any) -> Any:
    """A part of a replaced list without directives; a null inside stays, as in Kubernetes."""
    if isinstance(tree, dict):
        return {key: _clean(value) for key, value in tree.items() if key[:1] != "$"}
    return [_clean(each) for each in tree] if isinstance(tree, list) else tree


def _clash(old: Any, new: Any, path: Path) -> MergeError:
    words: dict[type, str] = {dict: "a map", list: "a list"}
    message = f"{words.get(type(new), 'a scalar')} cannot replace {words.get(type(old), 'a scalar')}"
    return _error(message, path, "delete it first with null, in a layer or patch before")


def _error(message: str, path: Path, hint: str = "") -> MergeError:
    return MergeError(Problem(message, ".".join(path), hint=hint))
