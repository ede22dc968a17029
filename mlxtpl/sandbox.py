"""The Jinja environment of layers: expressions print placeholders, names and filters are few, everything is bounded.

Markup (autoescape is on) is how Jinja marks text that came out of a template: macros, caller(), set blocks. It passes
through `finalize`; every other value becomes a placeholder, so no value can ever be YAML.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Any, cast

import jinja2
from jinja2 import meta, nodes
from jinja2.runtime import LoopContext, Macro, StrictUndefined, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer
from markupsafe import Markup

from mlxtpl.bounds import (
    CLOSE,
    MAX_OUTPUT,
    OPEN,
    OPERATORS,
    RENDER,
    TEXT_MESSAGE,
    TemplateFault,
    check_size,
    kind_of,
    plain,
)
from mlxtpl.bytecode import open_cache
from mlxtpl.guards import bounded_range, comparable, counted, guarded_filters, guarded_tests, joined, no_text
from mlxtpl.schema import Declared
from mlxtpl.templatefiles import TemplateFiles
from mlxtpl.tracing import LineMarks

_LOOP = frozenset(("index", "index0", "revindex", "revindex0", "first", "last", "length", "depth", "depth0", "previtem",
                   "nextitem", "cycle", "changed"))  # fmt: skip
_REMEMBERED = 256  # renders of an environment


def template_line(frame: FrameType | None, line: int) -> tuple[str, int] | None:
    """The template's name and line that a frame of compiled code stands for; None for any other frame."""
    template = None if frame is None else frame.f_globals.get("__jinja_template__")
    if template is None or frame is None or frame.f_code.co_filename != template.filename:
        return None
    return str(template.filename), template.get_corresponding_lineno(line)


def write(template: jinja2.Template, values: Mapping[str, Any]) -> str:
    """The text of a template, with placeholders.

    Raises:
        TemplateFault: it writes more than MAX_OUTPUT characters; whatever else the template raises.
    """
    limit = MAX_OUTPUT * (10 if LineMarks.identifier in template.environment.extensions else 1)
    pieces = []
    size = 0
    for piece in template.root_render_func(template.new_context(dict(values))):
        size += len(piece)
        if size > limit:
            raise TemplateFault(f"the template writes more than {MAX_OUTPUT // 1024} KiB")
        pieces.append(piece)
    return "".join(pieces)


def finalize(value: Any) -> Any:
    """A value → its placeholder; template text stays."""
    if isinstance(value, Markup):
        return value
    if isinstance(value, Undefined):
        str(value)  # StrictUndefined raises
    state = RENDER.get()
    values = state.values
    if isinstance(value, str):
        state.spend(len(value))
    elif isinstance(value, (dict, list, tuple, range)) and state.lines is None:
        value = plain(value)
    values.append(value)
    if state.lines is not None:
        frame = sys._getframe(1)
        while frame.f_back is not None and (found := template_line(frame, frame.f_lineno)) is None:
            frame = frame.f_back
        state.lines.append(found or ("", 0))
    return Markup(f"{OPEN}{len(values) - 1}{CLOSE}")  # noqa: S704 - a placeholder holds no text of a value


class LayerEnvironment(ImmutableSandboxedEnvironment):
    """Reads templates below one root; see the module."""

    intercepted_binops = frozenset(("+", "-", "*", "/", "//", "%", "**"))

    def __init__(self, root: Path, shown: str, *, marks: bool = False) -> None:
        super().__init__(
            loader=TemplateFiles(root, shown),
            extensions=[LineMarks] if marks else [],
            bytecode_cache=None if marks else open_cache(root),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=jinja2.pass_context(_finalize),
            auto_reload=False,
            cache_size=-1,
            keep_trailing_newline=True,
        )
        self.root, self.shown = root, shown
        self.globals = {"range": bounded_range}
        self.filters = guarded_filters(self.filters)
        self.tests = guarded_tests(cast("Any", self.tests))  # type: ignore[assignment]
        # What `_parse` wraps around loops and comparisons; no template needs to write them.
        self.filters.update(_counted=counted, _comparable=comparable, _no_text=no_text, _joined=joined)
        self._joined_paths: dict[tuple[str, str], str] = {}
        self._reads: dict[str, tuple[str, ...] | None] = {}
        self._documents: dict[tuple[Any, ...], list[Any]] = {}

    @cached_property
    def marked(self) -> LayerEnvironment:
        """The same environment, whose templates mark the lines that they write."""
        return LayerEnvironment(self.root, self.shown, marks=True)

    def remembered(self, name: str, digests: Mapping[str, bytes], render: Callable[[], list[Any]]) -> list[Any]:
        """What a template renders, from memory when the values that it reads are what they were before.

        A template is a function of the values that it names. The first render of a process is not remembered: finding
        out the names costs as much as several renders.
        """
        if name not in self._reads:
            self._reads[name] = None
            return render()
        names = self._reads[name]
        if names is None:
            names = self._reads[name] = self._names_read(name, set())
        if "" in names:
            return render()
        key = (name, *(digests.get(each) for each in names))
        documents = self._documents.get(key)
        if documents is None:
            documents = render()
            if len(self._documents) >= _REMEMBERED:
                self._documents.clear()
            self._documents[key] = documents
        return documents

    def _names_read(self, name: str, seen: set[str]) -> tuple[str, ...]:
        """The values that a template and those that it includes name; an empty name stands for all of them."""
        assert self.loader is not None
        seen.add(name)
        try:
            tree = self.parse(self.loader.get_source(self, name)[0])
            names = set(meta.find_undeclared_variables(tree))
            for other in meta.find_referenced_templates(tree):
                path = "" if other is None else self.join_path(other, name)
                if not path:
                    names.add("")
                elif path not in seen:
                    names.update(self._names_read(path, seen))
        except (jinja2.TemplateError, TemplateFault):
            return ("",)
        return tuple(sorted(names))

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        for block in tree.find_all(nodes.ScopedEvalContextModifier):
            # Without escaping, text that a template made could not be told from a value.
            raise jinja2.TemplateSyntaxError("autoescape cannot be changed", block.lineno, name, filename)
        for loop in tree.find_all(nodes.For):
            loop.iter = _wrapped("_counted", loop.iter)
        for each in tree.find_all(nodes.Compare):
            each.expr = _wrapped("_comparable", each.expr)
            for operand in each.ops:
                # `in` looks a map's key up and walks no deeper than the left side does.
                check = "_no_text" if operand.op in ("in", "notin") else "_comparable"
                operand.expr = _wrapped(check, operand.expr)
        tree = cast(nodes.Template, _Joins().visit(tree))
        tree.set_environment(self)
        return tree

    def getattr(self, obj: Any, attribute: str) -> Any:
        """`obj.attribute`: a key of a mapping, never an attribute of a value."""
        if isinstance(obj, LoopContext):
            return getattr(obj, attribute) if attribute in _LOOP else self._missing(obj, attribute)
        if isinstance(obj, jinja2.environment.TemplateModule):
            found = getattr(obj, attribute, None)
            return found if isinstance(found, Macro) else self._missing(obj, attribute)
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """`obj[argument]`, and what `obj.argument` comes to."""
        if obj is None:
            return None
        if isinstance(obj, Undefined):
            str(obj)
        if isinstance(obj, Mapping):
            if argument in obj:
                return obj[argument]
            # A free map (labels, affinity) may have any key: an absent one is null.
            return self._missing(obj, argument) if isinstance(obj, Declared) else None
        if isinstance(obj, (list, tuple)) and isinstance(argument, (int, slice)) and not isinstance(argument, bool):
            try:
                return obj[argument]
            except IndexError:
                raise TemplateFault(f"the index [{argument}] is past the end of a list of {len(obj)}") from None
        if isinstance(obj, str) and not isinstance(obj, Markup) and isinstance(argument, (int, slice)):
            try:
                return obj[argument]
            except IndexError:
                raise TemplateFault(f"the index [{argument}] is past the end of the text") from None
        return self._missing(obj, argument)

    def _missing(self, obj: Any, name: Any) -> Any:
        import difflib

        if isinstance(obj, Mapping):
            near = difflib.get_close_matches(str(name), [str(key) for key in obj], 1, 0.6)
            hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(map(str, obj)) or 'no keys'}"
            raise TemplateFault(f'there is no key "{name}"', hint)
        hint = "a dot reads the key of a map, never an attribute or method"
        raise TemplateFault(f'{kind_of(obj)} has no key "{name}"', hint)

    def call(self, context: Any, obj: Any, *args: Any, **kwargs: Any) -> Any:
        RENDER.get().step()
        allowed = (
            obj is bounded_range
            or isinstance(obj, (Macro, LoopContext))
            or getattr(obj, "__self__", None).__class__ in (LoopContext, jinja2.runtime.BlockReference)
        )
        if not allowed:
            raise TemplateFault(f"{kind_of(obj)} cannot be called", "only macros, caller() and range() can")
        return super().call(context, obj, *args, **kwargs)

    def is_safe_callable(self, obj: Any) -> bool:
        """Decided in `call`."""
        return True

    def call_binop(self, context: Any, operator_: str, left: Any, right: Any) -> Any:
        """Arithmetic within bounds."""
        if isinstance(left, Markup) or isinstance(right, Markup):
            raise TemplateFault(TEXT_MESSAGE)
        check_size(operator_, left, right)
        return OPERATORS[operator_](left, right)

    def join_path(self, template: str, parent: str) -> str:
        """A name in a template is relative to its directory, else to the root."""
        key = (template, parent)
        if key not in self._joined_paths:
            beside = os.path.normpath(Path(parent).parent / template)
            found = beside.startswith("..") or (self.root / beside).exists()
            self._joined_paths[key] = beside if found else os.path.normpath(template)
        return self._joined_paths[key]


def _finalize(_context: Any, value: Any) -> Any:
    # With the context as an argument Jinja folds no constant at compile time.
    return finalize(value)


class _Joins(NodeTransformer):
    """Turns `a ~ b` into the filter `_joined`, which knows its bounds."""

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802 - Jinja's name
        self.generic_visit(node)
        return _wrapped("_joined", node.nodes[0], *node.nodes[1:])


def _wrapped(name: str, node: Any, *more: Any) -> nodes.Filter:
    # A filter, since a call would go through all that the sandbox does for calls.
    return nodes.Filter(node, name, list(more), [], None, None).set_lineno(node.lineno)  # type: ignore[return-value]
