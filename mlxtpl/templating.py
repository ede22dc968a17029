"""One template → plain trees: rendered text with placeholders is parsed as YAML, then each is replaced by its value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.environment import Environment

from mlxtpl import kinds, yamlio
from mlxtpl.bounds import CLOSE, MAX_OUTPUT, OPEN, RENDER, Render, TemplateFault, plain, scalar_text
from mlxtpl.errors import LayerError, Place, Problem, Source, YamlError
from mlxtpl.sandbox import LayerEnvironment, template_line
from mlxtpl.yamlio import Node, Scalar

Locate = Callable[[tuple[Any, ...]], Place | None]
_HOLE = re.compile(f"{OPEN}([0-9]+){CLOSE}")
_DROP = object()


def make_environment(root: Path, shown: str) -> Environment:
    """The environment of a package (or of a layer of the user's own).

    Args:
        root: what templates may read.
        shown: how messages call it.
    """
    return LayerEnvironment(root, shown)


def render(environment: Environment, name: str, values: Mapping[str, Any], locate: Locate) -> list[Any]:
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
        template = environment.get_template(name)
        text = _text(template, values)
        documents = []
        for node in _skeleton(text):
            tree = _filled(node, (), state.values)
            if tree is not _DROP:
                documents.append(tree)
        return documents
    except YamlError as error:
        raise LayerError(_yaml_problem(environment, name, values, error)) from None
    except Exception as error:  # noqa: BLE001 - whatever a stranger's template does ends as an error with a place
        raise LayerError(_problem(environment, name, values, locate, error)) from None
    finally:
        RENDER.reset(token)


def _text(template: jinja2.Template, values: Mapping[str, Any]) -> str:
    pieces = []
    size = 0
    for piece in template.root_render_func(template.new_context(dict(values))):
        size += len(piece)
        if size > MAX_OUTPUT:
            raise TemplateFault(f"the template writes more than {MAX_OUTPUT // 1024} KiB")
        pieces.append(piece)
    return "".join(pieces)


@lru_cache(maxsize=512)
def _skeleton(text: str) -> tuple[Node, ...]:
    return tuple(yamlio.load(Source("rendered", text)))


def _filled(node: Node, path: tuple[str, ...], values: Sequence[Any]) -> Any:
    """A node of the skeleton as plain data with the values in place; _DROP for a null of the template's own."""
    if isinstance(node, Scalar):
        return _filled_scalar(node, path, values)
    if isinstance(node, yamlio.Sequence):
        items = [_filled(each, path, values) for each in node.items]
        kept = [each for each in items if each is not _DROP]
        return _DROP if items and not kept else kept
    result = {}
    for key_node, value_node in node.items.values():
        key = _text_of(key_node.text, values)
        value = _filled(value_node, (*path, key), values)
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
    whole = _HOLE.fullmatch(text) if node.plain else None
    if whole is None:
        return _text_of(text, values)
    value = values[int(whole[1])]
    if value is None:
        return _DROP
    if isinstance(value, str):
        return value
    try:
        value = plain(value)
    except TemplateFault as fault:
        fault.hole = int(whole[1])
        raise
    return scalar_text(value) if isinstance(value, (int, float)) and kinds.string_field(path) else value


def _text_of(text: str, values: Sequence[Any]) -> str:
    """Text with the text of each value in its place."""

    def filled(match: re.Match[str]) -> str:
        try:
            return scalar_text(values[int(match[1])])
        except TemplateFault as fault:
            fault.hole = int(match[1])
            raise

    return _HOLE.sub(filled, text) if OPEN in text else text


# --- errors ------------------------------------------------------------------------------------


def _problem(
    environment: Environment, name: str, values: Mapping[str, Any], locate: Locate, error: Exception
) -> Problem:
    assert isinstance(environment, LayerEnvironment)
    shown, line = f"{environment.shown}/{name}", 0
    if isinstance(error, jinja2.TemplateSyntaxError):
        shown, line = error.filename or shown, error.lineno
    else:
        trace = error.__traceback__
        while trace is not None:
            shown, line = template_line(trace.tb_frame, trace.tb_lineno) or (shown, line)
            trace = trace.tb_next
        if isinstance(error, TemplateFault) and error.hole is not None:
            shown, line = _hole_line(environment, name, values, error.hole) or (shown, line)
    place = _place(environment, shown, line)
    message, hint = _message(error, values)
    notes = []
    if place is not None and not isinstance(error, jinja2.TemplateSyntaxError):
        for path in _names(environment, place):
            written = locate(path)
            if written is not None:
                notes.append((f"value {'.'.join(path)}", f"{written}"))
    return Problem(message, "" if place else shown, place, tuple(notes), hint)


def _hole_line(
    environment: LayerEnvironment, name: str, values: Mapping[str, Any], hole: int
) -> tuple[str, int] | None:
    """The template line that printed a value, found by rendering once more with tracing on."""
    state = Render(trace=True)
    token = RENDER.set(state)
    try:
        _text(environment.get_template(name), values)
        return state.lines[hole] if state.lines else None
    except Exception:  # noqa: BLE001 - a second failure must not hide the first
        return None
    finally:
        RENDER.reset(token)


def _message(error: Exception, values: Mapping[str, Any]) -> tuple[str, str]:
    import difflib

    if isinstance(error, TemplateFault):
        return str(error), error.hint
    if isinstance(error, jinja2.TemplateNotFound):
        return (
            f'there is no template "{error.name}"',
            "a name is relative to the template's directory, or to its package",
        )
    if isinstance(error, jinja2.UndefinedError):
        match = re.match(r"'(.*?)' is undefined", str(error))
        if match:
            near = difflib.get_close_matches(match[1], list(values), 1, 0.6)
            hint = f"did you mean {near[0]}?" if near else "declare it in the layer's schema.yaml"
            return f'the name "{match[1]}" is not declared', hint
        return _lower(str(error)), ""
    if isinstance(error, RecursionError):
        return "the template calls or includes itself without end", ""
    if isinstance(error, (MemoryError, OverflowError)):
        return "the template needs too much memory", ""
    if isinstance(error, jinja2.TemplateSyntaxError):
        return _lower(str(error.message)), ""
    if isinstance(error, jinja2.exceptions.SecurityError):
        return _lower(str(error)), ""
    return _lower(str(error) or type(error).__name__), ""


def _lower(text: str) -> str:
    text = text.split("\n", maxsplit=1)[0].rstrip(".")
    return text[:1].lower() + text[1:]


def _place(environment: LayerEnvironment, shown: str, line: int) -> Place | None:
    if not line:
        return None
    try:
        text = (environment.root / shown[len(environment.shown) + 1 :]).read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        return None
    source = Source(shown, text)
    whole = Place(source, line, 1).text()
    column = len(whole) - len(whole.lstrip()) + 1
    return Place(source, line, column, max(1, len(whole.strip())))


def _names(environment: LayerEnvironment, place: Place) -> list[tuple[str, ...]]:
    """The dotted names that the expressions of a template's line read."""
    try:
        tree = environment.parse(place.source.text)
    except jinja2.TemplateError:
        return []
    found: list[tuple[str, ...]] = []
    for node in tree.find_all((nodes.Getattr, nodes.Name)):
        if node.lineno != place.line:
            continue
        path: list[str] = []
        inner: nodes.Node = node
        while isinstance(inner, nodes.Getattr):
            path.insert(0, inner.attr)
            inner = inner.node
        if isinstance(inner, nodes.Name):
            found.append((inner.name, *path))
    longest = [each for each in found if not any(o != each and o[: len(each)] == each for o in found)]
    return list(dict.fromkeys(longest))


_MARK = "\ue002"


def _yaml_problem(environment: Environment, name: str, values: Mapping[str, Any], error: YamlError) -> Problem:
    """Broken YAML from a template: the line of the template, found by rendering it once more with marked lines."""
    assert isinstance(environment, LayerEnvironment)
    first = error.problems[0]
    shown = f"{environment.shown}/{name}"
    place = None
    notes: list[tuple[str, str]] = []
    if first.place is not None:
        rendered = first.place.text()
        notes.append(("rendered", _HOLE.sub("{{…}}", rendered).strip() or "an empty line"))
        try:
            source = (environment.root / name).read_text(encoding="utf-8-sig")
            line = _marked_line(environment, name, source, values, first.place.line)
            if line:
                place = _place(environment, shown, line)
        except Exception:  # noqa: BLE001 - a second failure must not hide the first
            place = None
    hint = first.hint or "the template's own text must be YAML; a value can never break it"
    return Problem(f"renders broken YAML: {first.message}", "" if place else shown, place, tuple(notes), hint)


def _marked_line(environment: LayerEnvironment, name: str, source: str, values: Mapping[str, Any], wanted: int) -> int:
    """The template line that wrote line `wanted` of the output."""
    marked: list[str] = []
    state = 0
    for number, line in enumerate(source.split("\n"), 1):
        # A mark inside {% … %} or {# … #} that spans lines would break it.
        marked.append(f"{_MARK}{number}{_MARK}{line}" if state == 0 else line)
        state += (
            line.count("{%")
            + line.count("{{")
            + line.count("{#")
            - line.count("%}")
            - line.count("}}")
            - line.count("#}")
        )
    template = environment.from_string("\n".join(marked))
    template.name = name
    token = RENDER.set(Render())
    try:
        text = _text(template, values)
    finally:
        RENDER.reset(token)
    last = 0
    for number, line in enumerate(text.split("\n"), 1):
        marks = re.findall(f"{_MARK}([0-9]+){_MARK}", line)
        last = int(marks[-1]) if marks else last
        if number == wanted:
            return last
    return last
