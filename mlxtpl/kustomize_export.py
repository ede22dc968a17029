"""A kustomize Component that teaches plain kustomize what mlxtpl knows: merge keys, name references and labels of kinds.

With an OpenAPI document kustomize forgets its own, so the document has every kind that `kinds` knows, not only PyTorchJob.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mlxtpl import fieldspecs, kinds
from mlxtpl.kinds import Keyed, PrimitiveSet
from mlxtpl.yamldump import dump_tree

# How the API server lets a list item's alternatives exclude each other; kustomize reads it from the schema.
_TEXT = {"type": "string"}


def files() -> dict[str, str]:
    """The files of the Component by name."""
    component = {
        "apiVersion": "kustomize.config.k8s.io/v1alpha1",
        "kind": "Component",
        "openapi": {"path": "openapi.json"},
        "configurations": ["references.yaml"],
    }
    head = "# Written by `mlxtpl export kustomize`; list this directory under `components:`.\n"
    return {
        "kustomization.yaml": head + dump_tree(component),
        "openapi.json": json.dumps(openapi(), indent=1) + "\n",
        "references.yaml": head + dump_tree(configuration()),
    }


def openapi() -> dict[str, Any]:
    """An OpenAPI document (Swagger 2.0, as the API server's) with the merge keys of each kind."""
    definitions = {}
    for kind in kinds.KINDS.values():
        group, _, version = kind.api_version.rpartition("/")
        properties = _properties(kind.lists)
        properties |= {"apiVersion": _TEXT, "kind": _TEXT}
        properties.setdefault("metadata", {"type": "object"})
        definitions[f"{kind.api_version.replace('/', '.')}.{kind.kind}"] = {
            "type": "object",
            "properties": properties,
            "x-kubernetes-group-version-kind": [{"group": group, "version": version, "kind": kind.kind}],
        }
    return {"swagger": "2.0", "info": {"title": "mlxtpl", "version": "1"}, "paths": {}, "definitions": definitions}


def _properties(lists: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, how in lists.items():
        if isinstance(how, Keyed):
            found[name] = {
                "type": "array",
                "items": {"type": "object", "properties": _properties(how.items)},
                "x-kubernetes-patch-merge-key": how.keys[0],
                "x-kubernetes-patch-strategy": "merge",
            }
            if len(how.keys) > 1:
                found[name] |= {"x-kubernetes-list-map-keys": list(how.keys), "x-kubernetes-list-type": "map"}
        elif isinstance(how, PrimitiveSet):
            found[name] = {"type": "array", "items": _TEXT, "x-kubernetes-patch-strategy": "merge"}
        else:
            found[name] = {"type": "object", "properties": _properties(how)}
    return found


def configuration() -> dict[str, Any]:
    """Kustomize's transformer configuration: where a PyTorchJob names other objects and carries labels."""
    replicas = ("Master", "Worker")
    spec = "spec/pytorchReplicaSpecs/{}/template/spec"
    job = {"group": "kubeflow.org", "kind": "PyTorchJob"}

    def paths(path: str) -> list[dict[str, Any]]:
        clean = path.replace("[]", "")
        return [{"path": f"{spec.format(each)}/{clean}", **job} for each in replicas]

    references = [
        {"kind": kind, "version": "v1", "fieldSpecs": [each for path in wanted for each in paths(path)]}
        for kind, wanted in fieldspecs.POD_REFERENCES.items()
        if kind != "PriorityClass"
    ]
    templates = [f"spec/pytorchReplicaSpecs/{each}/template/metadata" for each in replicas]
    return {
        "nameReference": references,
        "commonLabels": [{"path": f"{each}/labels", "create": False, **job} for each in templates],
        "commonAnnotations": [{"path": f"{each}/annotations", "create": False, **job} for each in templates],
        "images": [{"path": f"{spec.format(each)}/{name}/image", **job} for each in replicas
                   for name in ("containers[]", "initContainers[]")],
    }  # fmt: skip
