"""What `kubectl get -o yaml` adds to an object, taken off again: what the server wrote, and its defaults."""

from __future__ import annotations

import copy
from typing import Any

from mlxtpl import kinds
from mlxtpl.manifest import Object

_METADATA = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "managedFields",
    "selfLink",
    "ownerReferences",
)
_ANNOTATIONS = (
    "kubectl.kubernetes.io/last-applied-configuration",
    "batch.kubernetes.io/job-tracking",
    "deployment.kubernetes.io/revision",
)
_LABELS = ("controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name")
# Defaults that the API server writes; source: SetDefaults_* in pkg/apis/core/v1 and pkg/apis/batch/v1, Kubernetes 1.32.
_JOB = {
    "completionMode": "NonIndexed",
    "completions": 1,
    "parallelism": 1,
    "suspend": False,
    "manualSelector": False,
    "podReplacementPolicy": "TerminatingOrFailed",
}
_POD = {
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "terminationGracePeriodSeconds": 30,
    "securityContext": {},
    "enableServiceLinks": True,
}
_CONTAINER: dict[str, Any] = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "resources": {},
}
_MODES = ("configMap", "secret", "projected", "downwardAPI")


def is_live(obj: Object) -> bool:
    """Whether an object was saved from a cluster."""
    metadata = obj.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    return any(key in metadata for key in ("uid", "resourceVersion", "managedFields")) or bool(obj.get("status"))


def cleaned(obj: Object) -> Object:
    """The object as somebody would have written it; one that was written by hand only without nulls."""
    obj = _without_nulls(copy.deepcopy(obj))
    if not is_live(obj):
        return obj
    obj.pop("status", None)
    metadata = obj.get("metadata", {})
    for key in _METADATA:
        metadata.pop(key, None)
    _drop(metadata, "annotations", _ANNOTATIONS)
    _drop(metadata, "labels", _LABELS)
    spec = obj.get("spec", {})
    if obj.get("kind") == "Job":
        spec.pop("selector", None)
        _defaults(spec, _JOB)
    for _, template in kinds.pod_templates(obj):
        template.get("metadata", {}).pop("creationTimestamp", None)
        _drop(template.get("metadata", {}), "labels", _LABELS)
        if not template.get("metadata", True):
            del template["metadata"]
        _pod(template.get("spec", {}))
    return obj


def _pod(spec: dict[str, Any]) -> None:
    _defaults(spec, _POD)
    if spec.get("serviceAccount") == spec.get("serviceAccountName"):
        spec.pop("serviceAccount", None)
    for field in ("initContainers", "containers"):
        for container in spec.get(field, []):
            _defaults(container, _CONTAINER)
            for port in container.get("ports", []):
                _defaults(port, {"protocol": "TCP"})
            for entry in container.get("env", []):
                reference = entry.get("valueFrom", {}).get("fieldRef", {})
                _defaults(reference, {"apiVersion": "v1"})
    for volume in spec.get("volumes", []):
        for source in _MODES:
            _defaults(volume.get(source) or {}, {"defaultMode": 420})
        _defaults(volume.get("hostPath") or {}, {"type": ""})


def _defaults(tree: dict[str, Any], defaults: dict[str, Any]) -> None:
    for key, value in defaults.items():
        if tree.get(key) == value:
            del tree[key]


def _drop(tree: dict[str, Any], field: str, keys: tuple[str, ...]) -> None:
    found = tree.get(field)
    if isinstance(found, dict):
        for key in keys:
            found.pop(key, None)
        if not found:
            del tree[field]


def _without_nulls(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _without_nulls(value) for key, value in tree.items() if value is not None}
    return [_without_nulls(each) for each in tree] if isinstance(tree, list) else tree
