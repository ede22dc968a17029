"""What libyaml says about broken YAML, turned into problems that name the mistake and what to do about it."""

from __future__ import annotations

import re
from typing import Any

import yaml

from mlxtpl.errors import Place, Problem, Source

# libyaml counts lines by these.
_LINE_END = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
_NOT_ALLOWED = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# (part of libyaml's problem, our message, hint); the first that fits. `{}` is the character at the place.
_MISTAKES = (
    ("tab character", "a tab cannot indent YAML", "use spaces"),
    ("cannot start any token", 'a value cannot start with "{}"', "put the value in quotes"),
    ("expected node content", 'a value cannot start with "{}"', "put the value in quotes"),
    ("block sequence entries", "a list cannot start here", "start it on its own line, or quote the dash if it is text"),
    ("invalid Unicode character escape", "", "write the character itself, or one escape such as \\U0001F600"),
    ("unknown escape character", "", r"double the backslash (\\), or use single quotes"),
    ("hexdecimal number", "an escape such as \\x41 or \\u0041 has too few digits", ""),
    ("alphabetic or numeric", "an anchor or alias without a name", "quote the text if the & or * belongs to it"),
    ("undefined tag handle", "the tag is not allowed here", "quote the text if the ! belongs to it"),
    ("comment or line break", "", "text of a block starts on the line below its | or >"),
    ("incompatible YAML document", "", "remove the %YAML line"),
    ("<document start>", "a document cannot start here", "separate documents by a line of ---"),
    (
        "'-' indicator",
        "a line between the items of a list is no item",
        "start it with a dash, or indent it as the list's key",
    ),
    ("did not find expected", "", "look at the indentation of this line and the one above"),
)


def syntax_problem(error: yaml.MarkedYAMLError, source: Source) -> Problem:
    """The problem that a syntax error of libyaml or PyYAML stands for, at the place that has to be changed."""
    mark, opened = error.problem_mark or error.context_mark, error.context_mark
    message = error.problem or error.context or "cannot be parsed"
    if mark is None:
        return Problem(message, source.name)
    place = _place(source, mark)
    line = place.text()
    before, char = line[: place.column - 1], line[place.column - 1 : place.column]
    if opened is not None:
        if "end of stream" in message:
            hint = "close it, or quote the text with the other kind"
            return Problem(
                f"the quote {_char(source, opened)} is never closed", place=_place(source, opened), hint=hint
            )
        if "expected ':'" in message:
            key = _place(source, opened)._replace(length=rest_of_line(source, opened))
            hint = "write `key: value`, or indent it as what it belongs to"
            return Problem("neither a key with a colon nor part of the text above", place=key, hint=hint)
        if "expected ',' or" in message:
            bracket = _char(source, opened)
            if not line.strip():
                return Problem(f"the {bracket} is never closed", place=_place(source, opened))
            notes = (("opened", str(_place(source, opened))),)
            hint = f"quote the text if the {bracket} belongs to it"
            return Problem(
                message.removeprefix("did not find ").removeprefix("expected ").split(", but")[0] + " is missing",
                place=place,
                notes=notes,
                hint=hint,
            )
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return Problem("a tab cannot indent YAML", place=place, hint="use spaces")
    if "mapping values are not allowed" in message:
        return Problem("a key cannot stand here", place=place, hint=_key_hint(place, before))
    if "expected key" in message and before.rstrip()[-1:] in ('"', "'"):
        hint = "quote the whole value, and escape the quotes inside"
        return Problem("text follows a closing quote", place=place, hint=hint)
    if "expected key" in message and before.strip():
        hint = "look for a quote or bracket too many, or quote the whole value"
        return Problem(f'"{char}" cannot stand here', place=place, hint=hint)
    if "expected key" in message:
        if char == "-":
            return Problem(
                "a list item stands where a key is due", place=place, hint="put the list under a key of its own"
            )
        if char == ":":
            return Problem("a key is missing before the colon", place=place, hint='quote an empty key: ""')
        hint = "indent it exactly as the keys that it stands beside"
        return Problem("the indentation fits no line above", place=place, hint=hint)
    for part, ours, hint in _MISTAKES:
        if part in message:
            if "{}" in ours and not char:
                return Problem("the document ends where a value is due", place=place)
            return Problem(ours.format(char) if ours else message, place=place, hint=hint)
    return Problem(message, place=place)


def _key_hint(place: Place, before: str) -> str:
    """Why the colon at a place makes no key."""
    if re.search(r":\s", before):
        return 'quote a value that has ": " in it'
    number, above = place.line - 1, ""
    while number > 0 and not above.strip():
        above = place._replace(line=number).text()
        number -= 1
    depth = len(before) - len(before.lstrip())
    if depth > len(above) - len(above.lstrip()):
        return "the line above already has a value: indent this line as that one, or remove the value"
    if re.match(r"\s*(- )?[\w.-]+:\S", above):
        return "the line above needs a space after its colon"
    return "the line above is no `key: value`"


def _char(source: Source, mark: Any) -> str:
    place = _place(source, mark)
    return place.text()[place.column - 1 : place.column]


def character_problem(error: Exception, source: Source) -> Problem:
    """The problem of a text that libyaml cannot even read: a character that YAML does not allow."""
    bad = _NOT_ALLOWED.search(source.text)
    if bad is None:
        return Problem(str(error).split("\n")[0], source.name)
    code = ord(bad.group())
    lines = _LINE_END.split(source.text[: bad.start()])
    place = Place(source, len(lines), len(lines[-1]) + 1)
    if 0xD800 <= code <= 0xDFFF:
        return Problem(
            f"U+{code:04X} is half of a character: the text is no valid Unicode", place=place, hint="save it as UTF-8"
        )
    escape = f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    hint = f'write it as an escape in double quotes: "{escape}"'
    return Problem(f"the character U+{code:04X} is not allowed in YAML text", place=place, hint=hint)


def tag_problem(tag: str, place: Place) -> Problem:
    """The problem of a tag that is not allowed where it stands."""
    short = tag.replace("tag:yaml.org,2002:", "!!")
    hint = "quote the text if the ! belongs to it" if tag.startswith("!") else "remove the tag"
    place = place._replace(length=max(place.length, len(short)))
    return Problem(f"the tag {short} is not allowed here", place=place, hint=hint)


def rest_of_line(source: Source, mark: Any) -> int:
    """How long the line goes on from a mark, without spaces at its end; at least 1."""
    end = _LINE_END.search(source.text, mark.index)
    return max(1, len(source.text[mark.index : end.start() if end else None].rstrip()))


def _place(source: Source, mark: Any) -> Place:
    return Place(source, mark.line + 1, mark.column + 1)
