"""Waivers: `# mlxtpl: ignore[rule-id] reason` in a file, `lint.ignore` in values."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from mlxtpl import schema, yamlio
from mlxtpl.errors import Place, Problem, Source

UNUSED, EXPIRED = "unused-waiver", "expired-waiver"
_COMMENT = re.compile(r"(?:^|(?<=\s))#\s*mlxtpl:\s*ignore\[([^\]]*)\]\s*(.*)")
_LIKE_ONE = re.compile(r"(?:^|(?<=\s))#\s*mlxtpl:?\s*(?:ignore|disable|noqa|waive)\b.*", re.IGNORECASE)
_UNTIL = re.compile(r"until ([0-9]{4}-[0-9]{2}-[0-9]{2})[\s:,]*(.*)")


class Waiver(NamedTuple):
    """One rule that is waived, somewhere.

    Attributes:
        until: the last day on which it holds, as YYYY-MM-DD; empty for ever.
        line: the line that it is for; 0 for the whole file or manifest.
    """

    rule: str
    reason: str
    until: str
    place: Place
    line: int = 0


def in_comments(source: Source) -> list[Waiver]:
    """The waivers in the comments of a file.

    A comment at the end of a line is for that line, one on a line of its own for the next line with content, and one
    above all content for the file.
    """
    if "mlxtpl" not in source.text:
        return []
    found: list[Waiver] = []
    waiting: list[Waiver] = []
    started = False
    for number, line in enumerate(source.text.split("\n"), 1):
        bare = line.strip().removeprefix("\ufeff")
        alone = bare.startswith("#")
        match = _COMMENT.search(line)
        if match is None and (other := _LIKE_ONE.search(line)) is not None:
            place = Place(source, number, other.start() + 1, len(other.group().rstrip()))
            found.append(Waiver("", "", "", place, number))
        if match is not None:
            reason = match[2].strip()
            dated = _UNTIL.match(reason)
            until, reason = (dated[1], dated[2]) if dated else ("", reason)
            for rule in re.split(r"[,\s]+", match[1].strip()):
                place = Place(source, number, match.start() + 1, len(match.group().rstrip()))
                waiver = Waiver(rule, reason, until, place, number)
                if not alone:
                    found.append(waiver)
                elif started:
                    waiting.append(waiver)
                else:
                    found.append(waiver._replace(line=0))
        if bare and not alone and bare != "---" and not bare.startswith("%"):
            started = True
            found += [each._replace(line=number) for each in waiting]
            waiting = []
    return found + waiting


def in_values(tree: Mapping[str, Any], root: yamlio.Node) -> list[Waiver]:
    """The waivers of `lint.ignore`."""
    ignored = ((tree.get("lint") or {}).get("ignore")) or {}
    found = []
    for rule, given in ignored.items():
        place = schema.key_place(root, ("lint", "ignore", rule))
        if place is not None:
            reason, until = ((given or {}).get(key) or "" for key in ("reason", "until"))
            found.append(Waiver(rule, str(reason), str(until), place))
    return found


def waives(waiver: Waiver, rule: str, place: Place | None) -> bool:
    """Whether a waiver of a file is for a problem, which stands at a place of that file or at none."""
    return waiver.rule == rule and (waiver.line == 0 or (place is not None and place.line == waiver.line))


def expired(waiver: Waiver, today: str) -> bool:
    """Whether its last day is over."""
    return bool(waiver.until) and waiver.until < today


def faults(waivers: Iterable[Waiver], used: Iterable[Waiver], today: str, known: Iterable[str]) -> Iterator[Problem]:
    """What is wrong with waivers: no such rule, nothing to waive, over.

    Args:
        used: those that waived a problem, or would have were they not over.
        known: the ids of the rules that ran.
    """
    ids, hits = list(known), set(used)
    for each in waivers:
        where = f"ignore[{each.rule}]"
        if not each.rule:
            yield _fault(UNUSED, "is no waiver", "comment", each.place, "write # mlxtpl: ignore[rule-id] reason")
        elif each.rule not in ids:
            near = difflib.get_close_matches(each.rule, ids, 1)
            hint = f"did you mean {near[0]}?" if near else "`mlxtpl rules` lists them"
            yield _fault(UNUSED, "there is no such rule", where, each.place, hint)
        elif each not in hits:
            yield _fault(UNUSED, "waives nothing", where, each.place, "remove it")
        elif expired(each, today):
            hint = "mend what it waived, or give it a new date"
            yield _fault(EXPIRED, f"is over since {each.until}", where, each.place, hint)


def _fault(rule: str, message: str, where: str, place: Place, hint: str) -> Problem:
    return Problem(message, where, place, (("rule", rule),), hint, "warning")
