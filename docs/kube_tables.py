"""Write mlxtpl/schemas/kubernetes.json.gz from the schemas in the package kubernetes-validate.

The file is one JSON document:

    kinds        "batch/v1 Job" → the name of its definition
    definitions  name → [[minor version, definition], ...]; each counts from its version up to the next one's, and null
                 ends it

A definition is {"fields": {name: type}, "required": [names], "lists": {name: merge keys or "set"}}. A type is string,
int32, int64, number, boolean, quantity, int-or-string, map (any map), any, the name of a definition, `list of TYPE` or
`map of TYPE`. The status of an object and managedFields are `any`: nobody writes them. The only enums of the source are
apiVersion and kind, which the kinds say.

With --check nothing is written, and the exit code is 1 when the file is not what it should be.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import re
import sys
from pathlib import Path

TABLES = Path(__file__).parent.parent / "mlxtpl/schemas/kubernetes.json.gz"
SPECIAL = {"api.resource.Quantity": "quantity", "util.intstr.IntOrString": "int-or-string"}
# What the schemas call required because a Go type has no omitempty there, though Kubernetes takes an object without it:
# the zero value is a value like others, or defaults.go sets it. What a later version requires no more is left out too.
OPTIONAL = {
    ("apiextensions.v1.CustomResourceDefinitionVersion", "served"),
    ("apiextensions.v1.CustomResourceDefinitionVersion", "storage"),
    ("core.v1.HTTPHeader", "value"),
    ("core.v1.ISCSIPersistentVolumeSource", "lun"),
    ("core.v1.ISCSIVolumeSource", "lun"),
    ("core.v1.LimitRangeSpec", "limits"),
    ("core.v1.Sysctl", "value"),
    ("scheduling.v1.PriorityClass", "value"),
    ("storage.v1.TokenRequest", "audience"),
}


def main() -> int:
    """Write or check the tables."""
    spec = importlib.util.find_spec("kubernetes_validate")
    if spec is None or spec.origin is None:
        print("the tables are made from kubernetes-validate: pip install kubernetes-validate", file=sys.stderr)
        return 1
    text = json.dumps(
        tables(Path(spec.origin).parent / "kubernetes-json-schema"), sort_keys=True, separators=(",", ":")
    )
    # What zlib makes of the same text depends on its version.
    if TABLES.exists() and gzip.decompress(TABLES.read_bytes()).decode() == text:
        return 0
    if "--check" in sys.argv:
        print(f"not in sync: {TABLES.name}; run docs/kube_tables.py", file=sys.stderr)
        return 1
    TABLES.parent.mkdir(exist_ok=True)
    TABLES.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    return 0


def tables(root: Path) -> dict:
    """All versions in one document."""
    kinds, versions = {}, {}
    for path in root.glob("v*-strict/_definitions.json"):
        source = {short(name): each for name, each in json.loads(path.read_text(encoding="utf-8"))["$defs"].items()}
        of_kinds = {kind_of(each): name for name, each in source.items() if kind_of(each)}
        kinds.update(of_kinds)
        versions[int(path.parent.name.split(".")[1])] = reachable(source, of_kinds.values())
    required: dict[str, set[str]] = {}
    history: dict[str, list] = {}
    for minor in sorted(versions, reverse=True):
        for name, each in versions[minor].items():
            required[name] = required.get(name, set(each["required"])) & set(each["required"])
            each["required"] = sorted(field for field in required[name] if (name, field) not in OPTIONAL)
    for minor in sorted(versions):
        for name in history.keys() | versions[minor].keys():
            each = versions[minor].get(name)
            each = each and {key: value for key, value in each.items() if value}
            if history.setdefault(name, [[0, None]])[-1][1] != each:
                history[name].append([minor, each])
    return {"kinds": kinds, "definitions": {name: each[1:] for name, each in history.items()}}


def short(name: str) -> str:
    """`core.v1.Pod` of `io.k8s.api.core.v1.Pod`."""
    return re.sub(r"^io\.k8s\.(api\.|.*\.pkg\.(apis\.)?)", "", name)


def kind_of(definition: dict) -> str:
    """`batch/v1 Job`; empty for what is no kind of object, or an option of all groups."""
    found = definition.get("x-kubernetes-group-version-kind", ())
    if len(found) != 1 or found[0]["kind"].endswith("List"):
        return ""
    each = found[0]
    return f"{each['group']}/{each['version']} {each['kind']}".removeprefix("/")


def reachable(source: dict, roots) -> dict:
    """The definitions that these use, in our words."""
    found: dict[str, dict] = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        of_kind = bool(kind_of(source[name]))
        fields, lists = {}, {}
        for key, each in source[name].get("properties", {}).items():
            unseen = (key == "status" and of_kind) or key == "managedFields"
            fields[key] = "any" if unseen else type_of(each, source)
            if each.get("x-kubernetes-list-type") == "map":
                lists[key] = each["x-kubernetes-list-map-keys"]
            elif each.get("x-kubernetes-list-type") == "set":
                lists[key] = "set"
        found[name] = {"fields": fields, "required": source[name].get("required", []), "lists": lists}
        waiting += {each.rpartition(" ")[2] for each in fields.values()} & source.keys()
    return found


def type_of(schema: dict, source: dict) -> str:
    """The type in our words."""
    if "$ref" in schema:
        name = short(schema["$ref"].rpartition("/")[2])
        return SPECIAL.get(name) or (name if "properties" in source[name] else type_of(source[name], source))
    kinds = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", [])
    (kind,) = [each for each in kinds if each != "null"] or ["any"]
    if kind == "array":
        return f"list of {type_of(schema['items'], source)}"
    if kind == "object":
        return (
            f"map of {type_of(schema['additionalProperties'], source)}" if "additionalProperties" in schema else "map"
        )
    return schema["format"] if kind == "integer" else kind


if __name__ == "__main__":
    sys.exit(main())
