"""One template → plain trees: rendered text with placeholders is parsed as YAML, then each is replaced by its value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from mlxtpl import kinds, yamlio
from mlxtpl.bounds import HOLE, OPEN, RENDER, Render, TemplateFault, plain, scalar_text
from mlxtpl.errors import LayerError, Source, YamlError
from mlxtpl.sandbox import LayerEnvironment, write
from mlxtpl.templatefaults import Locate, fault_problem, line_place, names_on_line, yaml_problem
from mlxtpl.tracing import Leaf, Marks, Written, path_of, traced, untraced
from mlxtpl.yamlio import Node, Scalar

# What a traced render makes of a scalar: the value, its node in the skeleton, the numbers of its placeholders → a tree.
Wrap = Callable[[Any, Scalar, Sequence[int]], Any]
_DROP = object()


def make_environment(root: Path, shown: str) -> LayerEnvironment:
    """The environment of a package (or of a layer of the user's own).

    Args:
        root: what templates may read.
        shown: how messages call it.
    """
    return LayerEnvironment(root, shown)


def render(environment: LayerEnvironment, name: str, values: Mapping[str, Any], locate: Locate) -> list[Any]:
    """The documents that a template renders, as plain trees.

    A null of the template's own (a literal, or an expression that is null) is dropped, and so is a map or list that
    becomes empty by it. A null inside a value stays: it is the user's deletion.

    Args:
        environment: of the package, from `make_environment`.
        name: the template, relative to the environment's root.
        values: the declared names; any other name is an error.
        locate: where the value at a path was written, for messages.

    Raises:
        LayerError: the template or its output is wrong, with the template's line and the values involved.
    """
    state = Render()
    token = RENDER.set(state)
    try:
        return _documents(_skeleton(write(environment.get_template(name), values)), state.values, None)
    except YamlError as error:
        raise LayerError(yaml_problem(environment, name, values, error)) from None
    except Exception as error:  # noqa: BLE001 - whatever a stranger's template does ends as an error with a place
        raise LayerError(fault_problem(environment, name, values, locate, error)) from None
    finally:
        RENDER.reset(token)


def render_traced(environment: LayerEnvironment, name: str, values: Mapping[str, Any], locate: Locate) -> list[Any]:
    """What `render` gives, with a `tracing.Leaf` for each scalar.

    Raises:
        LayerError: as `render`.
    """
    state = Render(trace=True)
    token = RENDER.set(state)
    try:
        marks = Marks(write(environment.marked.get_template(name), traced(dict(values))))
        lines = state.lines or []

        def uses(template: str, line: int) -> tuple[tuple[Any, ...], ...]:
            place = line_place(environment, template, line)
            names = names_on_line(environment, place) if place is not None else []
            return tuple(path for path in names if path[0] in values and locate(path) is not None)

        def wrap(value: Any, node: Scalar, holes: Sequence[int]) -> Any:
            if not holes:
                return _leaves(value, Written(*marks.at(node.start.line, node.start.column)), None)
            template, line = lines[holes[0]]
            placed = [state.values[hole] for hole in holes]
            if node.plain and HOLE.fullmatch(node.text):
                path = path_of(placed[0])
                if isinstance(placed[0], bool):
                    # true and false have no path: the one name of the line that has this value is meant.
                    same = [each for each in uses(template, line) if _value_at(values, each) is placed[0]]
                    path = same[0] if len(same) == 1 else None
                value = placed[0] if isinstance(placed[0], (dict, list)) else value
                return _leaves(value, Written(template, line, None, () if path else uses(template, line)), path)
            paths = tuple(path for each in placed if (path := path_of(each)) is not None)
            return _leaves(value, Written(template, line, None, paths or uses(template, line)), None)

        documents = _documents(_skeleton(marks.text), state.values, wrap)
        # An empty map that is the whole document has no field to be the leaf of.
        return [{} if isinstance(each, Leaf) and each.value == {} else each for each in documents]
    except LayerError:
        raise
    except Exception as error:  # noqa: BLE001 - as in `render`
        raise LayerError(fault_problem(environment, name, values, locate, error)) from None
    finally:
        RENDER.reset(token)


def _value_at(values: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        values = values.get(step) if isinstance(values, dict) else None
    return values


def _leaves(value: Any, written: Written, path: tuple[Any, ...] | None) -> Any:
    """A value whose scalars are leaves; `path` is where it came from, unless a part knows better."""
    own = path_of(value) or path
    if isinstance(value, dict) and value:
        return {k: _leaves(each, written, None if own is None else (*own, k)) for k, each in value.items()}
    if isinstance(value, (list, tuple)) and value:
        return [_leaves(each, written, None if own is None else (*own, n)) for n, each in enumerate(value)]
    return Leaf(untraced(value), written._replace(path=own))


def _documents(skeleton: Sequence[Node], values: Sequence[Any], wrap: Wrap | None) -> list[Any]:
    trees = [_filled(node, (), values, wrap) for node in skeleton]
    return [tree for tree in trees if tree is not _DROP]


@lru_cache(maxsize=512)
def _skeleton(text: str) -> tuple[Node, ...]:
    return tuple(yamlio.load(Source("rendered", text)))


def _filled(node: Node, path: tuple[str, ...], values: Sequence[Any], wrap: Wrap | None) -> Any:
    """A node of the skeleton as plain data with the values in place; _DROP for a null of the template's own."""
    if isinstance(node, Scalar):
        value = _filled_scalar(node, path, values)
        if wrap is None or value is _DROP:
            return value
        return wrap(value, node, [int(number) for number in HOLE.findall(node.text)])
    if isinstance(node, yamlio.Sequence):
        items = [_filled(each, path, values, wrap) for each in node.items]
        kept = [each for each in items if each is not _DROP]
        return _DROP if items and not kept else kept
    result = {}
    for key_node, value_node in node.items.values():
        key = _text_of(key_node.text, values)
        value = _filled(value_node, (*path, key), values, wrap)
        if value is not _DROP:
            if key in result:
                raise TemplateFault(f'the key "{key}" comes out twice in one map')
            result[key] = value
    return _DROP if node.items and not result else result


def _filled_scalar(node: Scalar, path: tuple[str, ...], values: Sequence[Any]) -> Any:
    text = node.text
    if OPEN not in text:
        if yamlio.is_null(node):
            return _DROP
        return text if kinds.string_field(path) else yamlio.scalar_value(node)
    whole = HOLE.fullmatch(text) if node.plain else None
    if whole is None:
        return _text_of(text, values)
    value = _value(whole[1], values)
    if value is None:
        return _DROP
    if isinstance(value, str):
        return value
    if not isinstance(value, (dict, list)):
        try:
            value = plain(value)
        except TemplateFault as fault:
            fault.hole = int(whole[1])
            raise
    return scalar_text(value) if isinstance(value, (int, float)) and kinds.string_field(path) else value


def _value(hole: str, values: Sequence[Any]) -> Any:
    if int(hole) >= len(values):
        raise TemplateFault("the template writes a placeholder of its own making (U+E000)")
    return values[int(hole)]


def _text_of(text: str, values: Sequence[Any]) -> str:
    """Text with the text of each value in its place."""

    def filled(match: re.Match[str]) -> str:
        try:
            return scalar_text(_value(match[1], values))
        except TemplateFault as fault:
            fault.hole = int(match[1])
            raise

    return HOLE.sub(filled, text) if OPEN in text else text
