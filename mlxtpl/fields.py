"""Fields of an object by a path that does not shift: an item of a keyed list goes by its merge key, not its number.

`spec.template.spec.containers[main].env[NCCL_DEBUG].value`, `metadata.annotations["mlx.navercorp.com/zone"]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mlxtpl.errors import Problem, ValuesError
from mlxtpl.kinds import Keyed, Lists

_PLAIN = re.compile(r"[\w/$-]+")
_NEAREST = 5


class Item(str):
    """The step to an item of a keyed list; `8080/TCP` when several fields make the key."""

    __slots__ = ()


Field = tuple[str | int, ...]


def walk(tree: Any, lists: Lists | None, field: Field = (), path: Field = ()) -> Iterator[tuple[Field, Field, Any]]:
    """Every scalar (and empty map or list) of a tree as (field, path by numbers, value)."""
    if isinstance(tree, dict) and tree:
        for key, value in tree.items():
            inner = lists.get(key) if isinstance(lists, Mapping) else None
            yield from walk(value, inner, (*field, key), (*path, key))
    elif isinstance(tree, list) and tree:
        for number, value in enumerate(tree):
            key = item_key(value, lists) if isinstance(lists, Keyed) else None
            inner = lists.items if isinstance(lists, Keyed) else None
            yield from walk(value, inner, (*field, number if key is None else key), (*path, number))
    else:
        yield field, path, tree


def item_key(item: Any, how: Keyed) -> Item | None:
    """The merge key of an item; None when it lacks one."""
    if not isinstance(item, dict):
        return None
    parts = [item.get(name, how.defaults.get(name)) for name in how.keys]
    parts = [getattr(part, "value", part) for part in parts]  # a traced leaf
    return (
        None if parts[0] is None or isinstance(parts[0], (dict, list)) else Item("/".join(str(part) for part in parts))
    )


def keyed(tree: Any, lists: Lists | None, path: Sequence[Any]) -> Field:
    """The field of a path by numbers; steps that lead nowhere stay as they are."""
    field: list[Any] = []
    for step in path:
        key, inner = step, None
        if isinstance(lists, Keyed) and isinstance(step, int):
            item = tree[step] if isinstance(tree, list) and step < len(tree) else None
            key = item_key(item, lists) or step
            inner = lists.items
        elif isinstance(lists, Mapping):
            inner = lists.get(step)
        field.append(key)
        known = isinstance(tree, dict) or (isinstance(tree, list) and isinstance(step, int) and step < len(tree))
        tree = (tree.get(step) if isinstance(tree, dict) else tree[step]) if known else None
        lists = inner
    return tuple(field)


def text(field: Field) -> str:
    """A field as a person writes it.

    >>> text(("spec", "containers", Item("main"), "args", 0)), text(("labels", "a.b/c"))
    ('spec.containers[main].args[0]', 'labels["a.b/c"]')
    """
    written = ""
    for step in field:
        if isinstance(step, (Item, int)):
            written += f"[{step}]"
        elif _PLAIN.fullmatch(step) and "/" not in step:
            written += f".{step}" if written else step
        else:
            written += f'["{step}"]'
    return written


def parse(written: str) -> tuple[str, ...]:
    r"""The steps of a field that a person wrote.

    >>> parse('metadata.annotations["mlx.navercorp.com/zone"]'), parse(r"a.b\.c[0].d"), parse("env[A].value")
    (('metadata', 'annotations', 'mlx.navercorp.com/zone'), ('a', 'b.c', '0', 'd'), ('env', 'A', 'value'))

    Raises:
        ValuesError: a bracket or quote that does not end.
    """
    token = re.compile(r"""\[(?:"([^"]*)"|'([^']*)'|([^\]"']+))\]|((?:\\.|[^.\[\]])+)|(\.)""", re.DOTALL)
    steps: list[str] = []
    at = 0
    while at < len(written):
        match = token.match(written, at)
        if match is None:
            problem = Problem(f"is no field: what starts at {written[at:]} does not end", written, hint=HINT)
            raise ValuesError(problem)
        quoted = next((group for group in match.groups()[:3] if group is not None), None)
        if quoted is not None:
            steps.append(quoted)
        elif match[4]:
            steps.append(re.sub(r"\\(.)", r"\1", match[4]))
        at = match.end()
    return tuple(steps)


HINT = 'such as spec.template.spec.containers[main].env[NCCL_DEBUG].value or metadata.annotations["a.b/c"]'


def matching(fields: Iterable[Field], steps: Sequence[str]) -> list[Field]:
    """The fields below a path; when nothing starts with it, those that contain it."""
    all_fields = list(fields)
    found = [field for field in all_fields if _same(field[: len(steps)], steps)]
    if found or not steps:
        return found
    return [
        field
        for field in all_fields
        if any(_same(field[start : start + len(steps)], steps) for start in range(1, len(field) - len(steps) + 1))
    ]


def _same(field: Field, steps: Sequence[str]) -> bool:
    return len(field) == len(steps) and all(str(one) == other for one, other in zip(field, steps, strict=True))


def nearest(fields: Sequence[Field], written: str) -> list[str]:
    """The fields whose text is most like what a person wrote: like it as a whole, or in its last step."""
    import difflib  # a cold start has no use for it

    texts = [text(field) for field in fields]
    near = difflib.get_close_matches(written, texts, _NEAREST, 0.6)
    last = (parse(written) or ("",))[-1].lower()
    near += [each for each in texts if last and last in each.lower() and each not in near]
    if not near:
        steps = {str(step).lower(): field[: n + 1] for field in fields for n, step in enumerate(field)}
        near = [text(steps[each]) for each in difflib.get_close_matches(last, steps, _NEAREST, 0.6)]
    return near[:_NEAREST]
