"""The schema of Kubernetes and of the training operator: what of an object the API server does not take, offline.

The tables are made by docs/kube_tables.py, which says what stands in them; schemas/pytorchjob.yaml is written by hand.
"""

from __future__ import annotations

import difflib
import gzip
import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from mlxtpl import fields, kinds, yamlio
from mlxtpl.manifest import Edit, Fault, Finding, Manifest, Object
from mlxtpl.manifest import Path as Steps
from mlxtpl.resources import plain

VERSIONS = tuple(f"1.{minor}" for minor in range(25, 38))
DEFAULT = "1.32"
Definition = Mapping[str, Any]

_HERE = Path(__file__).parent
_WANTED = {
    "string": "text",
    "int32": "an integer",
    "int64": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "quantity": "a quantity",
    "int-or-string": "an integer or text",
}
_BITS = {"int32": 31, "int64": 63, "int-or-string": 31}
_ASSIGNMENT = re.compile(r"[\w./-]+=[^=\s]*")
_DIGITS = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)
# Maps that an object is built of: a key may belong there before they are written.
_FRAME = ("metadata", "spec", "template", "jobTemplate", "runPolicy", "elasticPolicy", "securityContext")
_LEGACY_GROUPS = ("extensions",)  # the first home of Deployment, Ingress and others


class _Level(NamedTuple):
    """A map on the way to a field: the name of its definition, where it is, and what stands there."""

    name: str
    path: Steps
    value: Mapping[str, Any]


class _Place(NamedTuple):
    """Where the walk is: in which object of the manifest, below which maps."""

    number: int
    obj: Object
    minor: int
    above: tuple[_Level, ...] = ()

    def fault(self, rule: str, message: str, path: Steps, **more: Any) -> Fault:
        """A fault of this object."""
        return Fault(rule, Finding(message, self.number, path, **more))


def faults(objects: Manifest, version: str = DEFAULT) -> tuple[Fault, ...]:
    """What the API server of a version of Kubernetes does not take, in the order of the objects.

    A null is as good as nothing; objects of kinds that are not in the tables are not judged.
    """
    found: list[Fault] = []
    for number, obj in enumerate(objects):
        place = _Place(number, obj, _minor(version))
        name = _named(obj, place.minor)
        found += _unknown_kind(place) if name is None else _walk(name, obj, (), place)
    return tuple(found)


def known(obj: Object, version: str = DEFAULT) -> bool:
    """Whether the tables have the apiVersion and kind of an object."""
    return _named(obj, _minor(version)) is not None


# --- tables ------------------------------------------------------------------------------------


@lru_cache(1)
def _tables() -> tuple[dict[str, str], dict[str, list[tuple[int, Definition | None]]]]:
    """(`batch/v1 Job` → name of its definition, name → [(first version, definition)])."""
    kubernetes = json.loads(gzip.decompress((_HERE / "schemas/kubernetes.json.gz").read_bytes()))
    source = yamlio.load_one(yamlio.read_source(_HERE / "schemas/pytorchjob.yaml"))
    assert source is not None
    operator = plain(source)
    always = {name: [(0, each)] for name, each in operator["definitions"].items()}
    return kubernetes["kinds"] | operator["kinds"], kubernetes["definitions"] | always


@lru_cache(4096)
def _definition(name: str, minor: int) -> Definition | None:
    """What a definition is in a version; None when it has none of that name."""
    found = None
    for since, each in _tables()[1].get(name, ()):
        if since <= minor:
            found = each
    return found


def _minor(version: str) -> int:
    return int(version.split(".")[1])


def _named(obj: Object, minor: int) -> str | None:
    """The name of the definition of an object."""
    name = _tables()[0].get(f"{obj.get('apiVersion')} {obj.get('kind')}")
    return name if name is not None and _definition(name, minor) is not None else None


# --- walk --------------------------------------------------------------------------------------


def _walk(wanted: str, value: Any, path: Steps, place: _Place) -> Iterator[Fault]:
    """The faults of a value that is not null."""
    if wanted in _WANTED:
        if not _fits(wanted, value):
            yield _wrong_type(wanted, value, path, place)
    elif wanted.startswith("list of "):
        if not isinstance(value, list):
            yield _wrong_type(wanted, value, path, place)
            return
        inner = wanted[8:]
        for number, each in enumerate(value):
            if each is not None:
                yield from _walk(inner, each, (*path, number), place)
            elif _definition(inner, place.minor) is not None:
                yield _wrong_type(inner, each, (*path, number), place)
    elif wanted == "any":
        return
    elif not isinstance(value, dict):
        yield _wrong_type(wanted, value, path, place)
    elif wanted.startswith("map of "):
        for key, each in value.items():
            if each is not None:
                yield from _walk(wanted[7:], each, (*path, key), place)
    elif wanted != "map":
        yield from _map(wanted, value, path, place)


def _map(name: str, value: Mapping[str, Any], path: Steps, place: _Place) -> Iterator[Fault]:
    definition = _definition(name, place.minor) or {}
    known_fields = definition.get("fields", {})
    inside = place._replace(above=(*place.above, _Level(name, path, value)))
    for key, each in value.items():
        wanted = known_fields.get(key)
        if wanted is None:
            yield _unknown_field(key, each, inside)
        elif each is not None and not (wanted == "string" and isinstance(each, str)):
            yield from _walk(wanted, each, (*path, key), inside)
    for key in definition.get("required", ()):
        if value.get(key) is None:
            yield place.fault("missing-field", "must be set", (*path, key))


def _fits(wanted: str, value: Any) -> bool:
    if isinstance(value, bool):
        return wanted == "boolean"
    if isinstance(value, str):
        return wanted in ("string", "quantity", "int-or-string")
    if wanted in _BITS:
        return _is_whole(value) and -(1 << _BITS[wanted]) <= value < 1 << _BITS[wanted]
    return wanted in ("number", "quantity") and isinstance(value, (int, float))


def _is_whole(value: Any) -> bool:
    # Go's YAML reader makes 2 of 2.0.
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


def _wrong_type(wanted: str, value: Any, path: Steps, place: _Place) -> Fault:
    what = _WANTED.get(wanted) or ("a list" if wanted.startswith("list of ") else "a map")
    hint = ""
    edits: tuple[Edit, ...] = ()
    if wanted == "string" and isinstance(value, (bool, int, float)):
        hint, edits = "quote it", (Edit("quote", path),)
    elif wanted in ("int32", "int64") and isinstance(value, str) and _DIGITS.fullmatch(value):
        number = int(value)
        hint, edits = "write it without quotes", (Edit("set", path, number),) if _fits(wanted, number) else ()
    elif wanted == "boolean" and value in ("true", "false"):
        hint, edits = "write it without quotes", (Edit("set", path, value == "true"),)
    elif wanted.startswith("map of ") and isinstance(value, str) and _ASSIGNMENT.fullmatch(value):
        hint = "write {}: {}".format(*value.split("=", 1))
    elif wanted in _BITS and not isinstance(value, bool) and _is_whole(value):
        what = f"an integer of {_BITS[wanted] + 1} bits"
    secret = place.obj.get("kind") == "Secret" and path[0] in ("data", "stringData")
    message = f"must be {what}, found {_found(value)}"
    return place.fault("wrong-type", message, path, hint=hint, edits=edits, secret=secret)


def _found(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= 60 else f'"{value[:57]}…"'
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, (int, float)):
        return f"the number {value}" if abs(value) < 1 << 64 else "a number beyond 64 bits"
    return "nothing" if value is None else "a list" if isinstance(value, list) else "a map"


# --- what was meant ----------------------------------------------------------------------------


def _unknown_field(key: str, value: Any, place: _Place) -> Fault:
    level = place.above[-1]
    path = (*level.path, key)
    known_fields = (_definition(level.name, place.minor) or {}).get("fields", {})
    message = f"is no field of {level.name.rpartition('.')[2]}"
    same = next((each for each in known_fields if _letters(each) == _letters(key)), None)
    version = next((each for each in VERSIONS if _has(level.name, key, _minor(each))), None)
    if same is not None:
        fits = value is None or not any(True for _ in _walk(known_fields[same], value, path, place))
        edits = (Edit("rename", path, same),) if fits and same not in level.value else ()
        return place.fault("unknown-field", message, path, hint=f"did you mean {same}?", key=True, edits=edits)
    if version is not None:
        hint = f"Kubernetes {version} has it"
        return place.fault("unknown-field", f"{message} in Kubernetes 1.{place.minor}", path, hint=hint, key=True)
    hint = (
        next((_belongs(each.path, place) for each in place.above[-2::-1] if _has(each.name, key, place.minor)), "")
        or _did_you_mean(key, known_fields, 0.85)
        or next((each for each in (_below(key, level, place) for level in place.above[::-1]) if each), "")
        or _did_you_mean(key, known_fields, 0.7)
    )
    return place.fault("unknown-field", message, path, hint=hint, key=True)


def _letters(key: str) -> str:
    return re.sub(r"[^a-z0-9]", "", key.lower())


def _has(name: str, key: str, minor: int) -> bool:
    return key in (_definition(name, minor) or {}).get("fields", {})


def _did_you_mean(key: str, known_fields: Mapping[str, str], likeness: float) -> str:
    near = difflib.get_close_matches(key, known_fields, 1, likeness)
    return f"did you mean {near[0]}?" if near else ""


def _below(key: str, top: _Level, place: _Place) -> str:
    """Where below a map a key belongs: the nearest map that has it, if it is the only one of the likeliest sort."""
    levels = [top]
    for depth in range(3):
        children = [each for level in levels for each in _children(level, place)]
        for sort in ("required", "written", "frame", "other"):
            if sort == "other" and (depth or top is not place.above[-1]):
                continue
            hits = [each for each in children if each.sort == sort and _has(each.level.name, key, place.minor)]
            if hits:
                item = "an item of " if hits[0].many else ""
                if item and top is not place.above[-1]:
                    return ""  # a list elsewhere is a guess
                return _belongs(hits[0].level.path, place, item) if len(hits) == 1 else ""
        levels = [each.level for each in children if each.sort != "other" and not each.many]
    return ""


class _Child(NamedTuple):
    """A map in a map: how likely it is meant, and whether it stands for the items of a list."""

    level: _Level
    sort: str
    many: bool


def _children(level: _Level, place: _Place) -> Iterator[_Child]:
    definition = _definition(level.name, place.minor) or {}
    for field, wanted in definition.get("fields", {}).items():
        name, is_list = wanted.removeprefix("list of "), wanted.startswith("list of ")
        inside = level.value.get(field)
        required = field in definition.get("required", ())
        sort = "required" if required else "written" if inside else "frame" if field in _FRAME else "other"
        if _definition(name, place.minor) is None or (is_list and sort == "other"):
            continue
        path: Steps = (*level.path, field)
        many = is_list
        if isinstance(inside, list) and len(inside) == 1:
            path, inside, many = (*path, 0), inside[0], False
        yield _Child(_Level(name, path, inside if isinstance(inside, dict) else {}), sort, many)


def _belongs(path: Steps, place: _Place, item: str = "") -> str:
    kind = kinds.find_kind(place.obj)
    where = fields.text(fields.keyed(place.obj, kind.lists if kind else {}, path))
    return f"it belongs to {item}{where or 'the top level'}"


def _unknown_kind(place: _Place) -> Iterator[Fault]:
    """A kind that exists, of an apiVersion that has none; or one that is misspelt."""
    api_version, kind = place.obj.get("apiVersion"), place.obj.get("kind")
    if not isinstance(api_version, str) or not isinstance(kind, str) or not api_version or not kind:
        return
    rows = [(*each.split(" "), name) for each, name in _tables()[0].items()]
    groups = {each.rpartition("/")[0] for each, _, _ in rows}
    not_known = place.fault("unknown-kind", f"is not known ({api_version}): this object was not checked", ("kind",))
    if api_version.rpartition("/")[0] not in (*groups, *_LEGACY_GROUPS):
        meant = difflib.get_close_matches(api_version, [each for each, of, _ in rows if of == kind], 1, 0.7)
        if meant:
            message, hint = f"is no apiVersion of {kind}, found {api_version}", f"did you mean {meant[0]}?"
            mend = (Edit("set", ("apiVersion",), meant[0]),)
            yield place.fault("removed-api-version", message, ("apiVersion",), hint=hint, edits=mend)
        else:
            yield not_known
        return
    now = [(each, of) for each, of, name in rows if _definition(name, place.minor) is not None]
    right = [each for each, of in now if of == kind]
    version = next((each for each in VERSIONS if known(place.obj, each)), None)
    spelt = {of for _, of in now if of.lower() in (kind.lower(), kind.lower().removesuffix("s"))}
    if right or version is not None:
        edits = (Edit("set", ("apiVersion",), right[0]),) if len(right) == 1 else ()
        hint = " or ".join(right) or f"Kubernetes {version} has it"
        where = "" if hint.startswith("kubeflow.org/") else f" in Kubernetes 1.{place.minor}"
        message = f"is no apiVersion of {kind}{where}, found {api_version}"
        yield place.fault("removed-api-version", message, ("apiVersion",), hint=hint, edits=edits)
    elif len(spelt) == 1:
        (near,) = spelt
        message = f"is no kind, found {kind}"
        edits = (Edit("set", ("kind",), near),)
        yield place.fault("removed-api-version", message, ("kind",), hint=f"did you mean {near}?", edits=edits)
    else:
        yield not_known
