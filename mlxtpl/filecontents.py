"""The values key `files`: {path: {from|text|json|yaml}} → the entries of a ConfigMap."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mlxtpl import schema, yamldump, yamlio
from mlxtpl.errors import MlxtplError, Problem, Source, ValuesError

MAX_FILES_BYTES = 1024 * 1024  # a ConfigMap holds no more (Kubernetes: MaxSecretSize, shared by ConfigMaps)


_FLOAT = re.compile(r"-?[0-9]+(\.[0-9]+([eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)")
_WHOLE = re.compile(r"-?[1-9][0-9]{18,300}")


def read(files: Mapping[str, Any], nodes: yamlio.Mapping, layers: Sequence[Source]) -> dict[str, Any]:
    """Each file as `{key, text}` or, for bytes that are no UTF-8 text, `{key, base64}`.

    The key in the ConfigMap is the path with every character that a key cannot have replaced by "_".

    Args:
        files: the typed values.
        nodes: the merged values, for places and the directories of `from`.
        layers: the defaults of the layers: theirs may come from strangers, and name files of their layer only.

    Raises:
        ValuesError: a file cannot be read, two paths give one key, or all are more than a ConfigMap holds.
    """
    read: dict[str, Any] = {}
    problems: list[Problem] = []
    keys: dict[str, str] = {}
    size = 0
    for path, entry in files.items():
        if entry is None:
            continue
        node, _ = schema.locate(nodes, ("files", path))
        place = None if node is None else node.place
        where = schema.dotted(("files", path))
        key = re.sub(r"[^-._a-zA-Z0-9]", "_", path.lstrip("/"))
        if key in ("", ".", "..") or len(key) > 253:
            problems.append(Problem("this path gives no valid key of a ConfigMap", where, place))
            continue
        if key in keys:
            problems.append(Problem(f'gives the same ConfigMap key "{key}" as {keys[key]}', where, place))
            continue
        keys[key] = path
        try:
            content = _content(entry, path, nodes, layers)
        except MlxtplError as error:
            problems += [each._replace(where=where) for each in error.problems]
            continue
        try:
            read[path] = {"key": key, "text": content.decode("utf-8"), "base64": None}
        except UnicodeDecodeError:
            read[path] = {"key": key, "text": None, "base64": base64.b64encode(content).decode()}
        size += len(content)
    if size > MAX_FILES_BYTES:
        hint = "put large files on a volume or into the image"
        problems.append(
            Problem(f"{size} bytes are more than a ConfigMap holds ({MAX_FILES_BYTES})", "files", hint=hint)
        )
    if problems:
        raise ValuesError(problems)
    return read


def _with_floats(node: yamlio.Node, value: Any) -> Any:
    """The typed value with `1.0` still a float, which Kubernetes' own parser would make an integer."""
    if isinstance(value, dict) and isinstance(node, yamlio.Mapping):
        return {key: _with_floats(node.items[key][1], each) for key, each in value.items()}
    if isinstance(value, list) and isinstance(node, yamlio.Sequence):
        return [_with_floats(one, each) for one, each in zip(node.items, value, strict=True)]
    if isinstance(value, (int, float)) and not isinstance(value, bool) and isinstance(node, yamlio.Scalar):
        if _FLOAT.fullmatch(node.text):
            return float(node.text)
        if isinstance(value, float) and _WHOLE.fullmatch(node.text):
            return int(node.text)  # beyond 64 bits
    return value


def _content(entry: Mapping[str, Any], path: str, nodes: yamlio.Mapping, layers: Sequence[Source]) -> bytes:
    if entry.get("text") is not None:
        return str(entry["text"]).encode("utf-8", "surrogatepass")
    for form in ("json", "yaml"):
        node, _ = schema.locate(nodes, ("files", path, form))
        if entry.get(form) is not None and node is not None:
            value = _with_floats(node, entry[form])
            text = (
                yamldump.dump_tree(value) if form == "yaml" else json.dumps(value, indent=2, ensure_ascii=False) + "\n"
            )
            return text.encode("utf-8", "surrogatepass")
    node, _ = schema.locate(nodes, ("files", path, "from"))
    assert isinstance(node, yamlio.Scalar)
    file = Path(node.source.directory, node.text)
    try:
        own = Path(node.source.directory).resolve()
        if any(node.source is each for each in layers) and own not in file.resolve().parents:
            raise ValuesError(Problem(f"{node.text} lies outside of the layer that names it", "", node.place))
        with file.open("rb") as stream:
            return stream.read(MAX_FILES_BYTES + 1)
    except (OSError, ValueError) as error:
        message = f"cannot read {file}: {(getattr(error, 'strerror', '') or str(error)).lower()}"
        hint = "a path is relative to the file that writes it"
        raise ValuesError(Problem(message, "", node.place, hint=hint)) from None
