"""What stands around the filters, tests, loops and comparisons of a template: few names, plain data, bounded work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from markupsafe import Markup

from mlxtpl.bounds import (
    MAX_RANGE,
    RENDER,
    TEXT_MESSAGE,
    TemplateFault,
    join,
    limited,
    plain,
    replace,
    rounded,
    scalar_text,
    tojson,
    total,
)
from mlxtpl.filters import FILTERS

_FILTERS = ("abs", "count", "default", "d", "dictsort", "first", "float", "groupby", "int", "items",
            "last", "length", "list", "map", "max", "min", "reject", "rejectattr", "reverse", "select",
            "selectattr", "sort", "unique")  # fmt: skip
_TEXT_FILTERS = ("capitalize", "lower", "title", "upper")
_TESTS = ("boolean", "defined", "divisibleby", "eq", "equalto", "==", "even", "false", "float", "ge", ">=", "gt", ">",
          "greaterthan", "in", "integer", "iterable", "le", "<=", "lower", "lt", "<", "lessthan", "mapping", "ne", "!=",
          "none", "number", "odd", "sequence", "string", "true", "undefined", "upper")  # fmt: skip
_PRESENCE = ("defined", "undefined")
# A comparison of lists of lists can take for ever: these measure what they compare first.
_COMPARING = frozenset(("dictsort", "eq", "equalto", "==", "ge", ">=", "gt", ">", "greaterthan", "groupby", "in", "le", "<=",
                        "lessthan", "lt", "<", "max", "min", "ne", "!=", "sort", "unique"))  # fmt: skip


def guarded_filters(known: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """The filters that a template may use, of Jinja's own and of ours."""
    functions: dict[str, Callable[..., Any]] = {
        **{name: known[name] for name in _FILTERS},
        **{name: _of_text(known[name]) for name in _TEXT_FILTERS},
        **{name: _copied(function) for name, function in FILTERS.items()},
        "join": join,
        "replace": replace,
        "round": rounded,
        "string": scalar_text,
        "sum": total,
        "tojson": tojson,
        "trim": _trim,
    }
    return {name: _plain_only(function, compares=name in _COMPARING) for name, function in functions.items()}


def guarded_tests(known: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """The tests that a template may use."""
    return {
        name: known[name] if name in _PRESENCE else _plain_only(known[name], compares=name in _COMPARING)
        for name in _TESTS
    }


class _Counted:
    """A loop's iterable that counts its rounds; keeps its length, which `loop.last` and `loop.length` want."""

    __slots__ = ("_items",)

    def __init__(self, items: Any) -> None:
        self._items = items if hasattr(items, "__len__") else list(limited(items))

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Any]:
        step = RENDER.get().step
        for each in self._items:
            step()
            yield each


def counted(iterable: Any) -> Any:
    """A loop's items, each a step."""
    if isinstance(iterable, (str, int, float, bool)) or iterable is None:
        kind = "null" if iterable is None else "text" if isinstance(iterable, str) else "a number"
        raise TemplateFault(
            f"a loop needs a list or a map, found {kind}", "write `x or []` for a key that may be absent"
        )
    return _Counted(iterable)


def comparable(value: Any) -> Any:
    """A value that may be compared or tested; template text may not, nor a list of lists without bound."""
    if isinstance(value, (list, tuple, dict)):
        plain(value)
    return no_text(value)


def no_text(value: Any) -> Any:
    """A value that is no template text; `in` goes through a list."""
    if isinstance(value, (list, tuple)):
        RENDER.get().work(len(value))
    if isinstance(value, Markup):
        raise TemplateFault(TEXT_MESSAGE)
    return value


def joined(*values: Any) -> str:
    """What `~` makes of scalars."""
    return join(values)


def _plain_only(function: Callable[..., Any], *, compares: bool = False) -> Callable[..., Any]:
    """A filter or test that refuses template text, and whose work and result are bounded."""
    passes = getattr(function, "jinja_pass_arg", None)

    def filtered(*args: Any, **kwargs: Any) -> Any:
        values = args[1:] if passes is not None else args
        if any(isinstance(each, Markup) for each in (*values, *kwargs.values())):
            raise TemplateFault(TEXT_MESSAGE)
        for each in values if compares else ():
            if isinstance(each, (list, tuple, dict)):
                plain(each)
        result = function(*args, **kwargs)
        if isinstance(result, Markup):
            return str(result)
        if isinstance(result, Iterator):
            return list(limited(result))  # map, select …
        if isinstance(result, (str, list)):
            RENDER.get().work(len(result))
        return result

    if passes is not None:
        filtered.jinja_pass_arg = passes  # type: ignore[attr-defined]
    filtered.__name__ = function.__name__
    return filtered


def _copied(function: Callable[..., Any]) -> Callable[..., Any]:
    """A domain filter that gets plain, bounded data."""
    return lambda *args: function(*(plain(each) for each in args))


def _of_text(function: Callable[[str], str]) -> Callable[[Any], str]:
    """A filter of text that refuses a map or a list, whose text could be huge."""
    return lambda value: function(scalar_text(value))


def _trim(value: Any, characters: str | None = None) -> str:
    return scalar_text(value).strip(characters)


def bounded_range(*args: Any) -> range:
    """`range`, of at most MAX_RANGE steps."""
    if not all(isinstance(each, int) for each in args):
        raise TemplateFault("range takes whole numbers")
    result = range(*args)
    if len(result) > MAX_RANGE:
        raise TemplateFault(f"range has {len(result)} steps; {MAX_RANGE} are allowed")
    return result
