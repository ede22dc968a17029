"""What we know of each kind: where its pod templates are, its training container, merge keys, fields that are text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Keyed(NamedTuple):
    """A list of maps that merges by key; `defaults` stands in for a key that an item leaves out."""

    keys: tuple[str, ...]
    items: Mapping[str, Any] = {}
    defaults: Mapping[str, Any] = {}
    switch: tuple[str, ...] = ()  # an item has one of these fields, or of all but these for "!…"


class PrimitiveSet(NamedTuple):
    """A list of texts that merges as a set."""


# A table says how the lists below a map merge: field → table of a map, Keyed, or PrimitiveSet. A list that is not in
# it is replaced whole. Source: the patchMergeKey and listMapKey tags of kubernetes/api v0.36 core/v1/types.go.
Lists = Mapping[str, Any]

CONTAINER: Lists = {
    "env": Keyed(("name",), switch=("value", "valueFrom")),
    "ports": Keyed(("containerPort", "protocol"), defaults={"protocol": "TCP"}),
    "volumeMounts": Keyed(("mountPath",)),
    "volumeDevices": Keyed(("devicePath",)),
    "resources": {"limits": {}, "requests": {}},
}
METADATA: Lists = {"finalizers": PrimitiveSet(), "ownerReferences": Keyed(("uid",))}
POD_SPEC: Lists = {
    "containers": Keyed(("name",), CONTAINER),
    "initContainers": Keyed(("name",), CONTAINER),
    "ephemeralContainers": Keyed(("name",), CONTAINER),
    "volumes": Keyed(("name",), switch=("!name",)),
    "imagePullSecrets": Keyed(("name",)),
    "hostAliases": Keyed(("ip",)),
    "topologySpreadConstraints": Keyed(("topologyKey", "whenUnsatisfiable")),
    "schedulingGates": Keyed(("name",)),
    "resourceClaims": Keyed(("name",)),
}
POD_TEMPLATE: Lists = {"metadata": METADATA, "spec": POD_SPEC}
_OBJECT: Lists = {"metadata": METADATA}


class Kind(NamedTuple):
    """One kind of object.

    Attributes:
        pod_templates: paths of its pod templates; `*` is any key, the empty path the object itself (a Pod).
        container: the name of its training container.
        omits: pod spec fields that the kind keeps beside the template.
        lists: how its lists merge.
    """

    api_version: str
    kind: str
    pod_templates: tuple[tuple[str, ...], ...] = ()
    container: str = "main"
    omits: tuple[str, ...] = ()
    lists: Lists = _OBJECT


def _workload(api_version: str, kind: str) -> Kind:
    lists = {"metadata": METADATA, "spec": {"template": POD_TEMPLATE}}
    return Kind(api_version, kind, (("spec", "template"),), lists=lists)


_REPLICA: Lists = {"template": POD_TEMPLATE}
_ROWS = (
    _workload("batch/v1", "Job"),
    Kind(
        "batch/v1",
        "CronJob",
        (("spec", "jobTemplate", "spec", "template"),),
        lists={
            "metadata": METADATA,
            "spec": {"jobTemplate": {"metadata": METADATA, "spec": {"template": POD_TEMPLATE}}},
        },
    ),
    Kind("v1", "Pod", ((),), lists=POD_TEMPLATE),
    Kind(
        "kubeflow.org/v1",
        "PyTorchJob",
        (("spec", "pytorchReplicaSpecs", "*", "template"),),
        container="pytorch",
        omits=("restartPolicy",),
        lists={"metadata": METADATA, "spec": {"pytorchReplicaSpecs": {"Master": _REPLICA, "Worker": _REPLICA}}},
    ),
    _workload("apps/v1", "Deployment"),
    _workload("apps/v1", "StatefulSet"),
    _workload("apps/v1", "DaemonSet"),
    _workload("apps/v1", "ReplicaSet"),
    _workload("v1", "ReplicationController"),
    Kind("v1", "PodTemplate", (("template",),), lists={"metadata": METADATA, "template": POD_TEMPLATE}),
    Kind(
        "v1",
        "Service",
        lists={"metadata": METADATA, "spec": {"ports": Keyed(("port", "protocol"), defaults={"protocol": "TCP"})}},
    ),
    Kind("v1", "ServiceAccount", lists={"metadata": METADATA, "secrets": Keyed(("name",))}),
    Kind("v1", "ConfigMap"),
    Kind("v1", "Secret"),
    Kind("v1", "PersistentVolumeClaim"),
)
KINDS: Mapping[tuple[str, str], Kind] = {(row.api_version, row.kind): row for row in _ROWS}


def find_kind(obj: Mapping[str, Any]) -> Kind | None:
    """The row of an object's kind; None for a kind that we do not know."""
    api_version, kind = obj.get("apiVersion"), obj.get("kind")
    return KINDS.get((api_version, kind)) if isinstance(api_version, str) and isinstance(kind, str) else None


def pod_templates(obj: Mapping[str, Any]) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    """(path, pod template) of each pod template that an object has."""
    kind = find_kind(obj)
    found: list[tuple[tuple[str, ...], Any]] = []
    for pattern in kind.pod_templates if kind else ():
        at: list[tuple[tuple[str, ...], Any]] = [((), obj)]
        for step in pattern:
            at = [
                ((*path, key), node[key])
                for path, node in at
                if isinstance(node, dict)
                for key in (node if step == "*" else (step,))
                if key in node
            ]
        found += at
    return [(path, node) for path, node in found if isinstance(node, dict)]


# --- text --------------------------------------------------------------------------------------

# Fields that are a string wherever they stand in a PodTemplateSpec, JobSpec, PyTorchJob or ObjectMeta (read from the
# OpenAPI schema of Kubernetes 1.32 and the CRD of the training operator 1.9.4). Int-or-string fields (port,
# maxSurge) and quantities (cpu, sizeLimit) are not here: Kubernetes takes numbers there.
_TEXT = frozenset(
    [
        "action",
        "apiGroup",
        "apiVersion",
        "architecture",
        "claimName",
        "className",
        "clusterName",
        "completionMode",
        "configMapName",
        "containerName",
        "content",
        "device",
        "devicePath",
        "dnsPolicy",
        "driver",
        "effect",
        "fieldPath",
        "fsType",
        "generateName",
        "group",
        "gmsaCredentialSpec",
        "host",
        "hostname",
        "image",
        "imagePullPolicy",
        "ip",
        "kind",
        "key",
        "keyring",
        "level",
        "localhostProfile",
        "managedBy",
        "managementState",
        "medium",
        "message",
        "monitor",
        "mountPath",
        "mountPropagation",
        "name",
        "namespace",
        "nodeName",
        "nodePublishSecretRef",
        "nprocPerNode",
        "operator",
        "os",
        "path",
        "pathPrefix",
        "pdName",
        "policy",
        "podReplacementPolicy",
        "pool",
        "preemptionPolicy",
        "prefix",
        "priorityClass",
        "priorityClassName",
        "procMount",
        "protocol",
        "queue",
        "rdzvBackend",
        "rdzvHost",
        "rdzvId",
        "reason",
        "reclaimPolicy",
        "recursiveReadOnly",
        "registry",
        "repository",
        "resourceName",
        "resource",
        "restartPolicy",
        "runAsUserName",
        "runtimeClassName",
        "scheme",
        "schedulerName",
        "secretName",
        "server",
        "service",
        "serviceAccount",
        "serviceAccountName",
        "share",
        "shareName",
        "signerName",
        "stopSignal",
        "storageClassName",
        "storagePolicyName",
        "subPath",
        "subPathExpr",
        "subdomain",
        "targetPortal",
        "terminationMessagePath",
        "terminationMessagePolicy",
        "topologyKey",
        "type",
        "uid",
        "user",
        "value",
        "volumeMode",
        "volumeName",
        "volumePath",
        "whenScaled",
        "whenUnsatisfiable",
        "workingDir",
        "cleanPodPolicy",
        "version",
    ]
)
_TEXT_LISTS = frozenset(
    [
        "command",
        "args",
        "add",
        "drop",
        "finalizers",
        "values",
        "nameservers",
        "searches",
        "hostnames",
        "accessModes",
        "mountOptions",
        "monitors",
        "portals",
        "matchLabelKeys",
        "mismatchLabelKeys",
        "namespaces",
        "audiences",
    ]
)
_TEXT_MAPS = frozenset(
    ["labels", "annotations", "nodeSelector", "matchLabels", "data", "stringData", "binaryData", "volumeAttributes"]
)


def string_field(path: tuple[str, ...]) -> bool:
    """Whether Kubernetes types a field as text.

    Args:
        path: field names from the object, pod template or container down, list indices left out.

    >>> string_field(("spec", "containers", "env", "value")), string_field(("metadata", "labels", "a"))
    (True, True)
    >>> string_field(("spec", "elasticPolicy", "nProcPerNode")), string_field(("containers", "ports", "containerPort"))
    (False, False)
    """
    if not path:
        return False
    if len(path) > 1 and path[-2] in _TEXT_MAPS:
        # A container, volume or port may be called `labels`; but then its parent is a list's field, not a map.
        return True
    if path[-1] == "values" and path[-2:-1] == ("onExitCodes",):
        return False
    return path[-1] in _TEXT or path[-1] in _TEXT_LISTS
