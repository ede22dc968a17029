"""What went wrong in a template → a problem with the template's line, the values that it reads, and a hint."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import jinja2
from jinja2 import nodes

from mlxtpl.bounds import HOLE, RENDER, Render, TemplateFault
from mlxtpl.errors import Place, Problem, Source, YamlError
from mlxtpl.sandbox import LayerEnvironment, template_line, write
from mlxtpl.tracing import Marks

Locate = Callable[[tuple[Any, ...]], Place | None]


def fault_problem(
    environment: LayerEnvironment, name: str, values: Mapping[str, Any], locate: Locate, error: Exception
) -> Problem:
    """Whatever ended a render, as a problem with the template's line and the values that it reads."""
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
    place = line_place(environment, shown, line)
    message, hint = _message(error, values)
    notes = []
    if place is not None and not isinstance(error, jinja2.TemplateSyntaxError):
        for path in names_on_line(environment, place):
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
        write(environment.get_template(name), values)
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
    if isinstance(error, TypeError) and "NoneType" in str(error):
        return "an expression calculates with null", "a key that is absent is null: test it first, or write `x or 0`"
    if isinstance(error, jinja2.exceptions.SecurityError):
        return _lower(str(error)), ""
    return _lower(str(error) or type(error).__name__), ""


def _lower(text: str) -> str:
    text = text.split("\n", maxsplit=1)[0].rstrip(".")
    return text[:1].lower() + text[1:]


def line_place(environment: LayerEnvironment, shown: str, line: int) -> Place | None:
    """A whole line of a template; None when it cannot be read again."""
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


def names_on_line(environment: LayerEnvironment, place: Place) -> list[tuple[str, ...]]:
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


def yaml_problem(environment: LayerEnvironment, name: str, values: Mapping[str, Any], error: YamlError) -> Problem:
    """Broken YAML from a template: the line of the template, found by rendering it once more with marked lines."""
    first = error.problems[0]
    shown = f"{environment.shown}/{name}"
    place = None
    notes: list[tuple[str, str]] = []
    if first.place is not None:
        notes.append(("rendered", HOLE.sub("{{…}}", first.place.text()).strip() or "an empty line"))
        token = RENDER.set(Render())
        try:
            marks = Marks(write(environment.marked.get_template(name), values))
            place = line_place(environment, *marks.at(first.place.line - 1, first.place.column - 1))
        except Exception:  # noqa: BLE001 - a second failure must not hide the first
            place = None
        finally:
            RENDER.reset(token)
    hint = first.hint or "the template's own text must be YAML; a value can never break it"
    return Problem(f"renders broken YAML: {first.message}", "" if place else shown, place, tuple(notes), hint)
