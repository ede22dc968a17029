"""The reference of values keys, made from the schemas: text, Markdown, JSON and a JSON Schema for editors."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mlxtpl import package as packages
from mlxtpl import schema
from mlxtpl.package import Package
from mlxtpl.values import Values


def load(path: Path | None, layers: Sequence[Path] = ()) -> Package:
    """The package whose keys are listed; the built-in one for None.

    Raises:
        PackageError: it cannot be loaded.
    """
    loaded = packages.load_package(path or packages.data_path("templates"), str(path or "templates"))
    return packages.assemble(loaded, tuple(packages.load_layer(each) for each in layers))


def merged_values(values: Values) -> dict[str, Any]:
    """The merged and typed values, absent keys left out."""
    written = {key: values.tree.get(key) for key in values.nodes.items}
    return {key: _without_absent(value) for key, value in written.items() if value is not None}


def _without_absent(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_absent(each) for key, each in value.items() if each is not None}
    return [_without_absent(each) for each in value] if isinstance(value, list) else value


def key_list(package: Package) -> list[dict[str, Any]]:
    """Every key in the order of the layers: `{key, type, default, required, layer, doc, example}`."""
    rows = []
    owner = {key: layer.name for layer in package.layers for key in layer.keys}
    for path, rules in schema.all_keys(package.keys):
        meta = rules.get("meta", {})
        rows.append(
            {
                "key": ".".join(path).replace(".[]", "[]"),
                "type": _type(rules),
                "default": _default(package, path, meta),
                "required": bool(rules.get("required")),
                "layer": owner.get(path[0], "-"),
                "doc": " ".join(str(meta.get("doc", "")).split()),
                "example": None if meta.get("example") is None else _spelled(meta["example"]),
            }
        )
    return rows


def text(package: Package, width: int) -> str:
    """The keys for a terminal of `width` columns."""
    lines = []
    for row in key_list(package):
        depth = row["key"].count(".")
        head = f"{'  ' * depth}{row['key'].rpartition('.')[2]}: {row['type']}"
        lines.append(head + ("  (required)" if row["required"] else f"  = {row['default']}" if row["default"] else ""))
        if row["doc"]:
            indent = "  " * depth + "    "
            lines += textwrap.wrap(row["doc"], max(40, width), initial_indent=indent, subsequent_indent=indent)
    return "\n".join(lines) + "\n"


def markdown(package: Package) -> str:
    """The keys as a Markdown page."""
    lines = [
        "<!-- made by `make docs` from the layers' schema.yaml; do not edit -->",
        "# Values keys",
        "",
        "| key | type | default | meaning |",
        "|---|---|---|---|",
    ]
    for row in key_list(package):
        default = "**required**" if row["required"] else f"`{row['default']}`" if row["default"] else ""
        doc = row["doc"] + (f" Such as `{row['example']}`." if row["example"] else "")
        cells = [f"`{row['key']}`", row["type"], default, doc]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _type(rules: schema.Rules) -> str:
    words = {"dict": "map", "duration": "duration", "boolean": "bool", "integer": "int"}
    types = schema.types_of(rules)
    named = []
    for each in types:
        word = words.get(each, each)
        inner = rules.get("valuesrules") if each == "dict" else schema.item_rules(rules) if each == "list" else None
        if inner and schema.types_of(inner) and not schema.key_rules(rules):
            word += f" of {_type(inner)}"
        named.append(word)
    if "allowed" in rules:
        return " or ".join(str(each) for each in rules["allowed"])
    return " or ".join(named) or "any"


def _default(package: Package, path: tuple[Any, ...], meta: schema.Rules) -> str:
    if "default" in meta:
        return str(meta["default"])
    for layer in package.layers:
        node, whole = schema.locate(layer.defaults, path)
        if whole and node is not None and path[0] in layer.keys and layer.defaults is not None:
            if path == (layer.name,):
                return "off"
            return _spelled(packages.plain(node))
    return "off" if len(path) == 1 and any(layer.name == path[0] for layer in package.layers) else ""


def _spelled(value: Any) -> str:
    if isinstance(value, str):
        return value
    import json

    return json.dumps(value, ensure_ascii=False)


# --- JSON Schema -------------------------------------------------------------------------------

_JSON_TYPES = {"dict": "object", "list": "array", "boolean": "boolean", "integer": "integer", "number": "number"}


def json_schema(package: Package) -> dict[str, Any]:
    """A JSON Schema (2020-12) of a values file, for completion and hover in editors.

    A key that `extends` may bring is not required here: an editor sees one file only. null is allowed everywhere,
    since it removes; text accepts any scalar, since mlxtpl keeps its spelling.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"values of the package {package.name}",
        "type": "object",
        "additionalProperties": False,
        "properties": {key: _json_rules(package, (key,), rules) for key, rules in package.keys.items()},
    }


def _json_rules(package: Package, path: tuple[str, ...], rules: schema.Rules) -> dict[str, Any]:
    meta = rules.get("meta", {})
    result: dict[str, Any] = {}
    if meta.get("doc"):
        result["description"] = " ".join(str(meta["doc"]).split())
    default = _default(package, path, meta)
    if default:
        result["description"] = f"{result.get('description', '')} Default: {default}.".strip()
    if meta.get("example") is not None:
        result["examples"] = [meta["example"]]
    choices = [_json_type(package, path, each, rules) for each in schema.types_of(rules)]
    if not choices:
        return result
    choices.append({"type": "null"})
    return {**result, **(choices[0] if len(choices) == 1 else {"anyOf": choices})}


def _json_type(package: Package, path: tuple[str, ...], kind: str, rules: schema.Rules) -> dict[str, Any]:
    if kind == "string":
        if "allowed" in rules or "allowedText" in rules:
            return {"enum": list(rules.get("allowed") or rules["allowedText"])}
        plain: dict[str, Any] = {"type": ["string", "number", "boolean"]}
        if "regex" in rules:
            plain["pattern"] = f"^(?:{rules['regex']})$"
        return plain
    if kind == "duration":
        return {"type": ["integer", "string"], "pattern": "^[0-9]+[smhdw]?$", "minimum": rules.get("min", 0)}
    if kind == "boolean":
        return {"const": True} if rules.get("onlyTrue") else {"type": "boolean"}
    result: dict[str, Any] = {"type": _JSON_TYPES[kind]}
    if kind in ("integer", "number"):
        result |= {name: rules[rule] for rule, name in (("min", "minimum"), ("max", "maximum")) if rule in rules}
    if kind == "list":
        inner = schema.item_rules(rules)
        if inner:
            result["items"] = _json_rules(package, (*path, "[]"), inner)
    if kind == "dict":
        keys = schema.key_rules(rules)
        if keys:
            result["properties"] = {k: _json_rules(package, (*path, k), inner) for k, inner in keys.items()}
            result["additionalProperties"] = False
        if "valuesrules" in rules:
            result["additionalProperties"] = _json_rules(package, (*path, "<name>"), rules["valuesrules"])
        if "keysrules" in rules and "regex" in rules["keysrules"]:
            result["propertyNames"] = {"pattern": f"^(?:{rules['keysrules']['regex']})$"}
    return result
