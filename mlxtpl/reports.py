"""The problems of a lint in the forms that other programs read: JSON, SARIF 2.1.0, GitHub's workflow commands."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from mlxtpl import __version__
from mlxtpl.lint import Found, documented

_SARIF_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_GITHUB_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}


def as_json(found: Sequence[Found]) -> str:
    """A list of `{rule, level, message, object, file, line, column, hint, notes, fixable}`."""
    return json.dumps([_row(each) for each in found], indent=2, ensure_ascii=False) + "\n"


def _row(each: Found) -> dict[str, Any]:
    problem, place = each.problem, each.problem.place
    return {
        "rule": each.rule,
        "level": problem.level,
        "message": problem.message,
        "where": problem.where,
        "file": each.file,
        "line": None if place is None else place.line,
        "column": None if place is None else place.column,
        "hint": problem.hint,
        "notes": {label: text for label, text in problem.notes if label != "rule"},
        "fixable": bool(each.edits),
    }


def github(found: Sequence[Found]) -> str:
    """Workflow commands, which GitHub shows beside the lines of a pull request.

    Source: docs.github.com, "Workflow commands for GitHub Actions": what has to be escaped, and how.
    """
    lines = []
    for each in found:
        place = each.problem.place
        at = {"file": each.file}
        if place is not None:
            at |= {"line": str(place.line), "col": str(place.column), "endColumn": str(place.column + place.length)}
        at["title"] = each.rule
        properties = ",".join(f"{key}={_escaped(text, ':,')}" for key, text in at.items())
        lines.append(f"::{_GITHUB_LEVELS[each.problem.level]} {properties}::{_escaped(_sentence(each))}\n")
    return "".join(lines)


def _escaped(text: str, more: str = "") -> str:
    return "".join(f"%{ord(char):02X}" if char in f"%\r\n{more}" else char for char in text)


def _sentence(each: Found) -> str:
    problem = each.problem
    text = f"{problem.where}: {problem.message}" if problem.where else problem.message
    return f"{text} ({problem.hint})" if problem.hint else text


def sarif(found: Sequence[Found]) -> str:
    """A SARIF log with one run: its rules, and the problems as results."""
    rules_of = documented()
    ids = list(dict.fromkeys(each.rule for each in found))
    rules = [_sarif_rule(rule, rules_of) for rule in ids]
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "mlxtpl", "semanticVersion": __version__, "rules": rules}},
                "columnKind": "unicodeCodePoints",
                "results": [_sarif_result(each, ids) for each in found],
            }
        ],
    }
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _sarif_rule(rule: str, rules: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    level, text = rules[rule]
    head, _, rest = text.partition("\n")
    return {
        "id": rule,
        "shortDescription": {"text": head},
        "help": {"text": rest.strip() or head},
        "defaultConfiguration": {"level": _SARIF_LEVELS[level]},
    }


def _sarif_result(each: Found, ids: Sequence[str]) -> dict[str, Any]:
    place = each.problem.place
    location: dict[str, Any] = {"artifactLocation": {"uri": quote(PurePath(each.file).as_posix())}}
    if place is not None:
        end = place.column + max(1, place.length)
        location["region"] = {"startLine": place.line, "startColumn": place.column, "endColumn": end}
    return {
        "ruleId": each.rule,
        "ruleIndex": ids.index(each.rule),
        "level": _SARIF_LEVELS[each.problem.level],
        "message": {"text": _sentence(each)},
        "locations": [{"physicalLocation": location}],
    }
