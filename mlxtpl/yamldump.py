"""The one YAML dumper: plain trees → text that PyYAML, libyaml and Kubernetes' Go parser read as the same trees.

Block style with two spaces, Kubernetes' usual key order, literal blocks for text of several lines. A string stays
plain only when no parser can take it for anything else; every other one is double-quoted on a single line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from mlxtpl.errors import Problem, YamlError
from mlxtpl.gotypes import key_text
from mlxtpl.keyorder import FREE, ORDERS, permutation
from mlxtpl.yamlio import MAX_DEPTH

Path = tuple[str | int, ...]
Comments = Callable[[Path], str | None]

# --- trees -------------------------------------------------------------------------------------

_INDENT = "  "
_DEEPEST = len(_INDENT) * (MAX_DEPTH - 2)  # what the loader still reads
_LONGEST_PATH = 20
_TEXT = {str}
_LONGEST_KEY = 1000  # parsers look 1024 characters ahead for the colon; a longer key needs a `? `


class _Unwritable(Exception):
    """A value that has no place in YAML; collects its path on the way up, innermost step first."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.steps: list[str | int] = []


def dump(objects: Iterable[Mapping[str, Any]], comments: Comments | None = None) -> str:
    """Kubernetes objects → the text of a manifest, `---` between documents, a newline at the end.

    Args:
        objects: plain trees of dict, list, tuple, str, bool, int, float, None and subclasses of them.
        comments: asked with the path of each scalar (and empty map or list), which starts with the number of its
            object; the text it returns is written as a comment at the end of that line.

    Raises:
        YamlError: a value that YAML or Kubernetes cannot carry; `where` is its path.
    """
    return "---\n".join([_document(each, True, comments, (number,)) for number, each in enumerate(objects)])


def dump_tree(tree: Any, comments: Comments | None = None) -> str:
    """One plain tree → the text of one document; keys keep their order.

    Args:
        tree: as an object of `dump`.
        comments: asked with the path of each scalar, as in `dump`.

    Raises:
        YamlError: as `dump`.
    """
    return _document(tree, False, comments, ())


def path_text(path: Iterable[str | int]) -> str:
    """A path as messages show it: `spec.containers[0].name`; a key with a dot or space in it is quoted."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            name = step if re.fullmatch(r"[\w/$-]+", step) else ascii(step)
            text += f".{name}" if text else name
    return text


def _document(tree: Any, ordered: bool, comments: Comments | None, path: Path) -> str:
    out: list[str] = []
    try:
        if isinstance(tree, (dict, list, tuple)) and tree:
            _write(out, tree, "", "", "", ordered, comments, path)
        else:
            out.append(_scalar(tree, _INDENT, comments and comments(path)))
    except _Unwritable as error:
        # A tree that holds itself would fill pages.
        raise YamlError(Problem(str(error), path_text(error.steps[: -_LONGEST_PATH - 1 : -1]))) from None
    return "".join(out)


def _write(
    out: list[str], node: Any, pad: str, head: str, field: str, ordered: bool, comments: Comments | None, path: Path
) -> None:
    """Append the lines of a map or list that is not empty.

    `pad` starts each line but the first, which starts with `head`: it may follow the dash of a list. `field` is the
    key that leads here; `ordered` is off where keys are the user's own.
    """
    if len(pad) > _DEEPEST:
        raise _Unwritable(f"nested more than {MAX_DEPTH} levels deep")
    if isinstance(node, dict):
        _write_map(out, node, pad, head, field, ordered, comments, path)
        return
    inner = pad + _INDENT
    index = 0
    try:
        for index, value in enumerate(node):
            if isinstance(value, (dict, list, tuple)) and value:
                below = path if comments is None else (*path, index)
                _write(out, value, inner, f"{head}- ", field, ordered, comments, below)
            else:
                note = comments and comments((*path, index))
                out.append(f"{head}- {_scalar(value, inner, note)}")
            head = pad
    except _Unwritable as error:
        error.steps.append(index)
        raise


def _write_map(
    out: list[str],
    node: dict[Any, Any],
    pad: str,
    head: str,
    field: str,
    ordered: bool,
    comments: Comments | None,
    path: Path,
) -> None:
    items: Iterable[tuple[Any, Any]] = node.items()
    if ordered and field in ORDERS:
        order = permutation(tuple(node), field)
        if order is not None:
            pairs = list(items)
            items = [pairs[index] for index in order]
    if set(map(type, node)) != _TEXT:
        items = _text_keys(items)
    inner = pad + _INDENT
    step = ""
    try:
        for step, value in items:
            key = quote(step)
            lead = f"{head}{key}:" if len(key) <= _LONGEST_KEY else f"{head}? {key}\n{pad}:"
            head = pad
            if isinstance(value, (dict, list, tuple)) and value:
                out.append(f"{lead}\n")
                below = path if comments is None else (*path, step)
                _write(out, value, inner, inner, step, ordered and step not in FREE, comments, below)
            else:
                note = comments and comments((*path, step))
                out.append(f"{lead} {_scalar(value, inner, note)}")
    except _Unwritable as error:
        error.steps.append(step)
        raise


def _text_keys(items: Iterable[tuple[Any, Any]]) -> list[tuple[str, Any]]:
    texts: dict[str, Any] = {}
    for key, value in items:
        try:
            text = key if isinstance(key, str) else key_text(key)
        except ValueError as error:
            raise _Unwritable(str(error)) from None
        if text in texts:
            raise _Unwritable(f'two keys of one map are written "{text}"')
        texts[text] = value
    return list(texts.items())


# --- scalars -----------------------------------------------------------------------------------

# Plain: a word, path, image or flag. Digits, signs and dots may begin a number; what is left are a few words.
_PLAIN = re.compile(
    r"(?:[A-Za-z_/]|\.\.?/|--?[A-Za-z])(?:[\w./@%+=,~-]|:(?=[\w./@%+=,~-])| (?=[\w./@%+=,~-]))*", re.ASCII
)
_WORDS = frozenset(("y", "yes", "n", "no", "on", "off", "true", "false", "null"))
_ESCAPED_ASCII = re.compile('["\\\\\x00-\x1f\x7f]')
_ESCAPED = '["\\\\\x00-\x1f\x7f-\xa0\xad\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\ud800-\udfff\ufeff\ufff0-\uffff\U000e0000-\U000e0fff]'
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}
# What a literal block cannot give back: carriage returns and what YAML 1.1 also counts as line ends, control
# characters, byte order marks; and what would show a text in another order than it has.
_NOT_LITERAL = "[^\t\n\x20-\x7e\xa0-\u2027\u202f-\u2065\u206a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
_compiled = lru_cache(re.compile)  # when a text needs it: these large sets take longer than a small dump
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1


def quote(text: str) -> str:
    r"""A string as a scalar on one line: plain where every parser reads that as this string, else double-quoted.

    >>> [quote(text) for text in ("--lr", "/data/a:b", "1e-4", "y", "$(VAR)", "a: b", "two\nlines")]
    ['--lr', '/data/a:b', '"1e-4"', '"y"', '"$(VAR)"', '"a: b"', '"two\\nlines"']
    """
    # A subclass of str may carry a whole source along: the cache must hold neither it nor a long text.
    exact = text if type(text) is str else str.__str__(text)
    return _quote_short(exact) if len(exact) <= 128 else _quote(exact)


def _quote(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return f'"{(_ESCAPED_ASCII if text.isascii() else _compiled(_ESCAPED)).sub(_escape, text)}"'


_quote_short = lru_cache(maxsize=1024)(_quote)


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    if 0xD800 <= code <= 0xDFFF:
        raise _Unwritable(f"the text has a lone surrogate (U+{code:04X}), which no YAML can carry")
    short = _ESCAPES.get(char)
    return short or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")


def _scalar(value: Any, pad: str, note: str | None) -> str:
    """A scalar or an empty map or list to the end of its line; `pad` starts the lines of a literal block."""
    end = _comment(note) if note else "\n"
    if isinstance(value, str):
        return _block(value, pad, end) if "\n" in value else quote(value) + end
    if value is None:
        return f"null{end}"
    if isinstance(value, bool):
        return f"true{end}" if value else f"false{end}"
    if isinstance(value, int):
        if not _INT64_MIN <= value <= _INT64_MAX:
            _check_range(value)
        return int.__repr__(value) + end
    if isinstance(value, float):
        return _float(value) + end
    if isinstance(value, dict):
        return f"{{}}{end}"
    if isinstance(value, (list, tuple)):
        return f"[]{end}"
    raise _Unwritable(f"a {type(value).__name__} cannot be written as YAML")


def _block(text: str, pad: str, end: str) -> str:
    if _compiled(_NOT_LITERAL).search(text) or text.isspace():
        return quote(text) + end
    # A parser takes the indentation from the first line unless a number gives it.
    number = str(len(_INDENT)) if text.lstrip("\n")[0] in " \t" else ""
    chomp = "-" if not text.endswith("\n") else "+" if text.endswith("\n\n") else ""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return f"|{number}{chomp}{end}" + "".join([f"{pad}{line}\n" if line else "\n" for line in lines])


def _float(value: float) -> str:
    text = float.__repr__(value)
    if text in ("inf", "-inf", "nan"):
        raise _Unwritable(f"{text} is no number that Kubernetes can carry")
    # PyYAML takes 1e-05 for text: a float needs its dot.
    mantissa, e, exponent = text.partition("e")
    return text if not e or "." in mantissa else f"{mantissa}.0e{exponent}"


def _check_range(value: int) -> None:
    try:
        float(value)
    except OverflowError:
        raise _Unwritable("the integer is larger than any number that Kubernetes can carry") from None


def _comment(note: str) -> str:
    return f" # {_compiled(_NOT_LITERAL).sub('?', ' '.join(note.split()))}\n"
