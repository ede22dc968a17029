"""Where kustomize's transformers write in an object: paths by kind, as data.

Source: kustomize v5.8, api/internal/konfig/builtinpluginconsts; the PyTorchJob rows are mlxtpl's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from mlxtpl.resources import Id


class FieldSpec(NamedTuple):
    """A path (`a/b[]/c`) in objects of a group, version and kind; empty is any. `create` makes what is missing."""

    path: str
    kind: str = ""
    group: str = ""
    version: str = ""
    create: bool = False

    def fits(self, wanted: Id) -> bool:
        """Whether the spec is for objects of this id."""
        pairs = ((self.group, wanted.group), (self.version, wanted.version), (self.kind, wanted.kind))
        return all(not mine or mine == theirs for mine, theirs in pairs)


_WORKLOADS = (("Deployment", ""), ("ReplicaSet", ""), ("DaemonSet", ""), ("StatefulSet", "apps"), ("Job", "batch"))
_REPLICAS = "spec/pytorchReplicaSpecs/*/template"
METADATA_LABELS = (FieldSpec("metadata/labels", create=True),)
TEMPLATE_LABELS = (
    FieldSpec("spec/template/metadata/labels", "ReplicationController", version="v1", create=True),
    *(FieldSpec("spec/template/metadata/labels", kind, group, create=True) for kind, group in _WORKLOADS),
    FieldSpec("spec/volumeClaimTemplates[]/metadata/labels", "StatefulSet", "apps", create=True),
    FieldSpec("spec/jobTemplate/metadata/labels", "CronJob", "batch", create=True),
    FieldSpec("spec/jobTemplate/spec/template/metadata/labels", "CronJob", "batch", create=True),
    FieldSpec(f"{_REPLICAS}/metadata/labels", "PyTorchJob", "kubeflow.org", create=True),
)
_SELECTORS = (
    FieldSpec("spec/selector", "Service", version="v1", create=True),
    FieldSpec("spec/selector", "ReplicationController", version="v1", create=True),
    *(FieldSpec("spec/selector/matchLabels", kind, group, create=True) for kind, group in _WORKLOADS if kind != "Job"),
    FieldSpec("spec/selector/matchLabels", "Job", "batch"),
    FieldSpec("spec/jobTemplate/spec/selector/matchLabels", "CronJob", "batch"),
    FieldSpec("spec/selector/matchLabels", "PodDisruptionBudget", "policy"),
    FieldSpec("spec/podSelector/matchLabels", "NetworkPolicy", "networking.k8s.io"),
    *(
        FieldSpec(f"spec/template/spec/{path}", kind, "apps")
        for kind in ("Deployment", "StatefulSet")
        for path in (
            "affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels",
            "affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels",
            "affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels",
            "affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels",
            "topologySpreadConstraints/labelSelector/matchLabels",
        )
    ),
)
COMMON_LABELS = (*METADATA_LABELS, *TEMPLATE_LABELS, *_SELECTORS)
COMMON_ANNOTATIONS = (
    FieldSpec("metadata/annotations", create=True),
    FieldSpec("spec/template/metadata/annotations", "ReplicationController", version="v1", create=True),
    *(FieldSpec("spec/template/metadata/annotations", kind, group, create=True) for kind, group in _WORKLOADS),
    FieldSpec("spec/jobTemplate/metadata/annotations", "CronJob", "batch", create=True),
    FieldSpec("spec/jobTemplate/spec/template/metadata/annotations", "CronJob", "batch", create=True),
    FieldSpec(f"{_REPLICAS}/metadata/annotations", "PyTorchJob", "kubeflow.org", create=True),
)
REPLICAS = (
    *(FieldSpec("spec/replicas", kind, create=True) for kind in
      ("Deployment", "ReplicationController", "ReplicaSet", "StatefulSet")),
    FieldSpec("spec/pytorchReplicaSpecs/Worker/replicas", "PyTorchJob", "kubeflow.org", create=True),
)  # fmt: skip

# Where names of other objects stand, below a pod spec.
_CONTAINERS = ("containers[]", "initContainers[]")
POD_REFERENCES: Mapping[str, tuple[str, ...]] = {
    "ConfigMap": (
        "volumes[]/configMap/name",
        "volumes[]/projected/sources[]/configMap/name",
        *(f"{each}/env[]/valueFrom/configMapKeyRef/name" for each in _CONTAINERS),
        *(f"{each}/envFrom[]/configMapRef/name" for each in _CONTAINERS),
    ),
    "Secret": (
        "volumes[]/secret/secretName",
        "volumes[]/projected/sources[]/secret/name",
        "imagePullSecrets[]/name",
        *(f"{each}/env[]/valueFrom/secretKeyRef/name" for each in _CONTAINERS),
        *(f"{each}/envFrom[]/secretRef/name" for each in _CONTAINERS),
    ),
    "PersistentVolumeClaim": ("volumes[]/persistentVolumeClaim/claimName",),
    "ServiceAccount": ("serviceAccountName", "serviceAccount"),
    "PriorityClass": ("priorityClassName",),
}
OBJECT_REFERENCES: Mapping[str, tuple[FieldSpec, ...]] = {
    "Secret": (
        FieldSpec("secrets[]/name", "ServiceAccount"),
        FieldSpec("imagePullSecrets[]/name", "ServiceAccount"),
    ),
    "PersistentVolume": (FieldSpec("spec/volumeName", "PersistentVolumeClaim"),),
    "StorageClass": (FieldSpec("spec/storageClassName", "PersistentVolumeClaim"),),
}


def visit(tree: Any, path: str, change: Callable[[Any], Any], *, create: Any = None) -> None:
    """Replace what stands at a path by what `change` makes of it; `create` stands in for what is missing.

    >>> tree = {"a": [{"b": 1}, {"b": 2}]}
    >>> visit(tree, "a[]/b", lambda value: value + 1)
    >>> tree
    {'a': [{'b': 2}, {'b': 3}]}
    """
    step, _, rest = path.partition("/")
    name = step.removesuffix("[]")
    if isinstance(tree, list):
        for each in tree:
            visit(each, path, change, create=create)
        return
    if not isinstance(tree, dict):
        return
    if name == "*":
        for each in tree.values():
            visit(each, rest, change, create=create)
        return
    if name not in tree or tree[name] is None:
        if create is None or step != name:
            return
        tree[name] = {} if rest else create
    if rest:
        visit(tree[name], rest, change, create=create)
    elif step == name:
        tree[name] = change(tree[name])
    else:
        tree[name] = [change(each) for each in tree[name]]


def fitting(specs: tuple[FieldSpec, ...], wanted: Id) -> Iterator[FieldSpec]:
    """The specs for objects of an id."""
    return (spec for spec in specs if spec.fits(wanted))
