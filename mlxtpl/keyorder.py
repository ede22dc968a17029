"""The order in which Kubernetes manifests usually have their keys."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

# Where a field of one name appears in several types (`spec` of a Job and of a pod), one row orders them all.
_METADATA = "name generateName namespace labels annotations"
_CONTAINER = (
    "name image imagePullPolicy restartPolicy command args workingDir env envFrom ports resources resizePolicy "
    "securityContext startupProbe livenessProbe readinessProbe lifecycle volumeMounts volumeDevices"
)
_SPEC = (
    "suspend managedBy parallelism completions completionMode backoffLimit backoffLimitPerIndex maxFailedIndexes "
    "nprocPerNode elasticPolicy runPolicy pytorchReplicaSpecs podFailurePolicy successPolicy podReplacementPolicy "
    "schedulerName priorityClassName activeDeadlineSeconds ttlSecondsAfterFinished "
    "replicas restartPolicy terminationGracePeriodSeconds serviceAccountName hostNetwork dnsPolicy imagePullSecrets "
    "nodeSelector affinity tolerations securityContext selector template "
    "initContainers containers volumes"
)
ORDERS: Mapping[str, Mapping[str, int]] = {
    field: {key: rank for rank, key in enumerate(keys.split())}
    for field, keys in {
        "": "apiVersion kind metadata type immutable spec data stringData binaryData items",
        "items": "apiVersion kind metadata key path spec",
        "metadata": _METADATA,
        "spec": _SPEC,
        "Master": "replicas restartPolicy template",
        "Worker": "replicas restartPolicy template",
        "template": "metadata spec",
        "containers": _CONTAINER,
        "initContainers": _CONTAINER,
        "ephemeralContainers": _CONTAINER,
        "env": "name value valueFrom",
        "ports": "name containerPort hostPort protocol",
        "resources": "limits requests claims",
        "volumeMounts": "name mountPath subPath subPathExpr readOnly mountPropagation",
        "volumes": "name",
        "imagePullSecrets": "name",
        "persistentVolumeClaim": "claimName readOnly",
        "matchExpressions": "key operator values",
        "tolerations": "key operator value effect tolerationSeconds",
    }.items()
}
# String maps: the keys are the user's own, in the user's own order.
FREE = frozenset(
    ("labels", "annotations", "data", "stringData", "binaryData", "limits", "requests", "nodeSelector", "matchLabels")
)


@lru_cache(maxsize=1024)
def permutation(keys: tuple[Any, ...], field: str) -> list[int] | None:
    """The order in which the keys of a `field` are written, as indices; None when they stand so already."""
    ranks = ORDERS[field]
    order = sorted(range(len(keys)), key=lambda index: ranks.get(keys[index], len(ranks)))
    return None if order == list(range(len(keys))) else order
