"""configMapGenerator and secretGenerator: literals, files and env files → an object whose name ends in its hash."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from mlxtpl.errors import OverlayError, Place, Problem
from mlxtpl.kustomization import Kustomization
from mlxtpl.resources import Resource, read_bytes_beside

# Digits and letters that no rude word is made of: pkg/util/hash of Kubernetes.
_HASH_LETTERS = str.maketrans("013ae", "ghkmt")
_BASE64_LINE = 70


def generate(kustomization: Kustomization) -> list[Resource]:
    """The objects of both generators.

    Raises:
        OverlayError: a source cannot be read, or a key is there twice.
    """
    found = []
    for field, kind in (("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")):
        for number, entry in enumerate(kustomization.fields.get(field, [])):
            found.append(_generated(kustomization, field, number, entry, kind))
    return found


def _generated(kustomization: Kustomization, field: str, number: int, entry: Mapping[str, Any], kind: str) -> Resource:
    data: dict[str, bytes] = {}

    def add(key: str, value: bytes, *path: Any) -> None:
        if key in data:
            raise kustomization.problem(f'the key "{key}" is there twice', field, number, *path)
        if not re.fullmatch(r"[-._a-zA-Z0-9]{1,253}", key):
            raise kustomization.problem(f'"{key}" is no key (letters, digits, "-", "_" and ".")', field, number, *path)
        data[key] = value

    for n, literal in enumerate(entry.get("literals", [])):
        key, sign, value = literal.partition("=")
        if not sign or not key:
            raise kustomization.problem(f'must be key=value, found "{literal}"', field, number, "literals", n)
        add(key, _unquoted(value).encode(), "literals", n)
    for n, written in enumerate(entry.get("files", [])):
        key, sign, path = written.partition("=")
        if not sign:
            key, path = PurePosixPath(written).name, written
        add(key, _read(kustomization, path, field, number, "files", n), "files", n)
    envs = [*entry.get("envs", []), *([entry["env"]] if "env" in entry else [])]
    for n, path in enumerate(envs):
        place = ("envs", n) if n < len(entry.get("envs", [])) else ("env",)
        for key, value in _env_lines(
            _read(kustomization, path, field, number, *place), path, kustomization.place(field)
        ):
            add(key, value.encode(), *place)
    options = {**kustomization.fields.get("generatorOptions", {}), **entry.get("options", {})}
    for key in ("labels", "annotations"):
        both = {
            **kustomization.fields.get("generatorOptions", {}).get(key, {}),
            **entry.get("options", {}).get(key, {}),
        }
        if both:
            options[key] = both
    resource = Resource(_object(entry, kind, data, options), kustomization.place(field, number))
    resource.behavior = entry.get("behavior", "create")
    resource.hashed = not options.get("disableNameSuffixHash", False)
    return resource


def _object(
    entry: Mapping[str, Any], kind: str, data: Mapping[str, bytes], options: Mapping[str, Any]
) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": entry["name"]}
    if entry.get("namespace"):
        metadata["namespace"] = entry["namespace"]
    metadata |= {key: dict(options[key]) for key in ("labels", "annotations") if options.get(key)}
    obj: dict[str, Any] = {"apiVersion": "v1", "kind": kind, "metadata": metadata}
    if kind == "Secret":
        obj["type"] = entry.get("type") or "Opaque"
        obj["data"] = {key: _wrapped(value) for key, value in data.items()}
    else:
        for key, value in data.items():
            try:
                obj.setdefault("data", {})[key] = value.decode("utf-8")
            except UnicodeDecodeError:
                obj.setdefault("binaryData", {})[key] = _wrapped(value)
    if options.get("immutable"):
        obj["immutable"] = True
    return obj


def _wrapped(value: bytes) -> str:
    text = base64.b64encode(value).decode()
    if len(text) <= _BASE64_LINE:
        return text
    return "".join(f"{text[at : at + _BASE64_LINE]}\n" for at in range(0, len(text), _BASE64_LINE))


def _unquoted(value: str) -> str:
    quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value


def _read(kustomization: Kustomization, path: str, field: str, number: int, *place: Any) -> bytes:
    return read_bytes_beside(kustomization.root, path, kustomization.place(field, number, *place))


def _env_lines(content: bytes, name: str, place: Place | None) -> list[tuple[str, str]]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise OverlayError(Problem(f"{name} is no UTF-8 text", "", place)) from None
    found = []
    for written in text.splitlines():
        line = written.lstrip(" \t")
        if not line or line.startswith("#"):
            continue
        key, sign, value = line.partition("=")
        if not sign:
            # kustomize would look the variable up in its own environment; a render reads none.
            hint = "write KEY=value"
            raise OverlayError(Problem(f'{name}: the line "{line[:60]}" has no value', "", place, hint=hint))
        found.append((key, value))
    return found


def merged(old: Resource, new: Resource) -> None:
    """Merge a generated object of behavior merge or replace into the one that is there."""
    for key in ("labels", "annotations"):
        both = {**(old.metadata().get(key) or {}), **(new.metadata().get(key) or {})}
        if both:
            old.metadata()[key] = both
    kept = old.obj if new.behavior == "merge" else {}
    for key in ("data", "binaryData"):
        both = {**(kept.get(key) or {}), **(new.obj.get(key) or {})}
        other = "binaryData" if key == "data" else "data"
        both = {name: value for name, value in both.items() if name in (new.obj.get(key) or {}) or
                name not in (new.obj.get(other) or {})}  # fmt: skip
        if both:
            old.obj[key] = both
        else:
            old.obj.pop(key, None)
    for key in ("type", "immutable"):
        if key in new.obj and (key != "type" or new.obj[key] != "Opaque"):
            old.obj[key] = new.obj[key]
    old.hashed = old.hashed and new.hashed


def content_hash(obj: Mapping[str, Any]) -> str:
    """The ten characters that kustomize and kubectl append to a generated name.

    >>> content_hash({"kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"A": "1", "B": "q", "C": "<&>"}})
    '5227c8b6bk'
    """
    # The name is left out (but not its key), so that a prefix changes no hash.
    content: dict[str, Any] = {"data": obj.get("data", ""), "kind": obj["kind"], "name": ""}
    if obj["kind"] == "Secret":
        content["type"] = obj.get("type", "")
    for key in ("binaryData", "stringData"):
        if obj.get(key):
            content[key] = obj[key]
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for char in "<>&\u2028\u2029":  # as Go's encoder does
        text = text.replace(char, f"\\u{ord(char):04x}")
    return hashlib.sha256(text.encode()).hexdigest()[:10].translate(_HASH_LETTERS)
