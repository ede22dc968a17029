"""PyTorchJob → what a TrainJob of Kubeflow Trainer v2 can carry of it, and what it loses.

Source: pkg/apis/trainer/v1alpha1/trainjob_types.go, pkg/runtime/framework/plugins/torch and the runtime
torch-distributed of kubeflow/trainer v2.3.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from mlxtpl import training_operator
from mlxtpl.manifest import Manifest, Object, Part, Subject, object_id

_RUNTIME = "torch-distributed"  # the runtime that Trainer v2 installs; its container is called node
_NODE = "node"
# Variables that the webhook of the torch runtime refuses.
_RESERVED = ("PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT")
_POD = (
    "serviceAccountName volumes imagePullSecrets securityContext nodeSelector affinity tolerations schedulingGates "
    "terminationGracePeriodSeconds"
).split()
_TRAINER = ("image", "command", "args", "env")
_CONTAINER = ("volumeMounts", "securityContext")
_IN_THE_RUNTIME = "is a matter of the training runtime, which the platform's administrators write"
# field of the job → why a TrainJob has none of it
_LOST = {
    ("runPolicy", "ttlSecondsAfterFinished"): _IN_THE_RUNTIME,
    ("runPolicy", "backoffLimit"): _IN_THE_RUNTIME,
    ("runPolicy", "cleanPodPolicy"): "JobSet deletes what is still running when a job ends",
    ("runPolicy", "schedulingPolicy"): _IN_THE_RUNTIME + " (podGroupPolicy)",
    ("elasticPolicy", "rdzvBackend"): "the torch runtime has a static rendezvous at its first node",
    ("elasticPolicy", "rdzvId"): "the torch runtime has a static rendezvous at its first node",
    ("elasticPolicy", "rdzvHost"): "the torch runtime has a static rendezvous at its first node",
    ("elasticPolicy", "rdzvPort"): "the torch runtime has a static rendezvous at its first node",
    ("elasticPolicy", "rdzvConf"): "the torch runtime has a static rendezvous at its first node",
    ("elasticPolicy", "maxRestarts"): "torchrun's --max-restarts can stand in the command",
    ("elasticPolicy", "metrics"): "a TrainJob does not scale",
    ("elasticPolicy", "standalone"): "a TrainJob has no such field",
}


class Report(NamedTuple):
    """What becomes of one PyTorchJob.

    Attributes:
        carried: (its field, where it goes).
        lost: (its field, why).
        manifest: the TrainJob with all that is carried.
    """

    id: str
    carried: tuple[tuple[str, str], ...]
    lost: tuple[tuple[str, str], ...]
    manifest: Object


def reports(manifest: Manifest) -> list[Report]:
    """A report for each PyTorchJob of a manifest."""
    return [_report(part) for part in Subject(manifest).parts("PyTorchJob")]


def _report(part: Part) -> Report:
    replicas = part.at("spec", "pytorchReplicaSpecs")
    role = "Worker" if replicas.map("Worker") else "Master"
    template = replicas.at(role, "template")
    container = next((each for each in template.items("spec", "containers") if each.text("name") == "pytorch"), None)
    carried: list[tuple[str, str]] = []
    trainer: dict[str, Any] = {"numNodes": training_operator.pods(part) or 1}
    carried.append((f"spec.pytorchReplicaSpecs.{role}.replicas", f"spec.trainer.numNodes: {trainer['numNodes']}"))
    _, processes = training_operator.nproc_per_node(part)
    if str(processes).isdecimal():
        trainer["numProcPerNode"] = int(processes)
        carried.append(("nproc per node", f"spec.trainer.numProcPerNode: {processes}"))
    base = f"spec.pytorchReplicaSpecs.{role}.template"
    patch_container: dict[str, Any] = {}
    if container is not None:
        for key in _TRAINER:
            if key in container.value:
                trainer[key] = container.value[key]
                carried.append((f"{base}.spec.containers[pytorch].{key}", f"spec.trainer.{key}"))
        if container is not None and "env" in trainer:
            trainer["env"] = [each.value for each in container.items("env") if each.text("name") not in _RESERVED]
        if container.map("resources"):
            trainer["resourcesPerNode"] = container.map("resources")
            carried.append((f"{base}.spec.containers[pytorch].resources", "spec.trainer.resourcesPerNode"))
        patch_container = {key: container.value[key] for key in _CONTAINER if key in container.value}
        carried += [
            (f"{base}.spec.containers[pytorch].{key}", f"spec.runtimePatches …{key}") for key in patch_container
        ]
    pod = {key: value for key, value in template.map("spec").items() if key in _POD}
    carried += [(f"{base}.spec.{key}", f"spec.runtimePatches …{key}") for key in pod]
    if patch_container:
        pod["containers"] = [{"name": _NODE, **patch_container}]
    metadata = {key: value for key, value in template.map("metadata").items() if key in ("labels", "annotations")}
    carried += [(f"{base}.metadata.{key}", f"spec.runtimePatches …{key}") for key in metadata]
    spec: dict[str, Any] = {"runtimeRef": {"name": _RUNTIME}, "trainer": trainer}
    for key in ("suspend", "activeDeadlineSeconds"):
        value = part.map("spec", "runPolicy").get(key)
        if value is not None:
            spec[key] = value
            carried.append((f"spec.runPolicy.{key}", f"spec.{key}"))
    patch = {key: value for key, value in (("metadata", metadata), ("spec", pod)) if value}
    if patch:
        job = {"name": _NODE, "template": {"spec": {"template": patch}}}
        template_patch = {"template": {"spec": {"replicatedJobs": [job]}}}
        spec["runtimePatches"] = [{"manager": "mlxtpl", "trainingRuntimeSpec": template_patch}]
    own = {k: v for k, v in part.map("metadata").items() if k in ("name", "namespace", "labels", "annotations")}
    made = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": own, "spec": spec}
    return Report(object_id(part.obj), tuple(carried), tuple(_lost(part, template, container)), made)


def _lost(part: Part, template: Part, container: Part | None) -> Iterator[tuple[str, str]]:
    replicas = part.at("spec", "pytorchReplicaSpecs")
    low, high = training_operator.node_range(part) or (1, 1)
    if low != high:
        yield "spec.elasticPolicy", f"a TrainJob has a fixed number of nodes, not {low} to {high}"
    for (parent, key), why in _LOST.items():
        value = part.map("spec", parent).get(key)
        if value is not None and (key, value) not in (("rdzvBackend", "c10d"), ("cleanPodPolicy", "Running")):
            yield f"spec.{parent}.{key}", why
    if len(replicas.map()) > 1:
        yield "spec.pytorchReplicaSpecs", "Master and Worker become nodes of one kind, called node-0-0, node-0-1 …"
        if replicas.at("Master", "template").value != replicas.at("Worker", "template").value:
            yield "spec.pytorchReplicaSpecs.Master.template", "is unlike that of the Workers"
    for each in replicas.items():
        if each.text("restartPolicy"):
            yield f"spec.pytorchReplicaSpecs.{each.path[-1]}.restartPolicy", _IN_THE_RUNTIME
    if part.text("spec", "runPolicy", "managedBy"):
        yield "spec.runPolicy.managedBy", "has other values in a TrainJob"
    base = f"spec.pytorchReplicaSpecs.{template.path[-2]}.template.spec"
    for key in template.map("spec"):
        if key not in (*_POD, "containers", "initContainers"):
            yield f"{base}.{key}", _IN_THE_RUNTIME
    for field in ("initContainers", "containers"):
        for each in template.items("spec", field):
            if container is None or each.path != container.path:
                yield f"{base}.{field}[{each.text('name')}]", "a TrainJob adds no container to those of its runtime"
    for key in container.value if container is not None else ():
        if key not in (*_TRAINER, *_CONTAINER, "name", "resources"):
            yield f"{base}.containers[pytorch].{key}", _IN_THE_RUNTIME
    for entry in container.items("env") if container is not None else ():
        if entry.text("name") in _RESERVED:
            yield f"{base}.containers[pytorch].env[{entry.text('name')}]", "is reserved: the webhook refuses it"


def as_text(found: list[Report], dump: Any) -> str:
    """For a person: what is lost, what is carried, and the manifest when nothing is lost."""
    lines = []
    for each in found:
        verdict = "a TrainJob can carry all of it" if not each.lost else f"a TrainJob loses {len(each.lost)} fields"
        lines.append(f"# {each.id}: {verdict}")
        lines += [f"#   lost     {field}: {why}" for field, why in each.lost]
        lines += [f"#   carried  {field} -> {where}" for field, where in each.carried]
        if not each.lost:
            lines.append(dump([each.manifest]).rstrip("\n"))
    return "\n".join(lines) + "\n"
