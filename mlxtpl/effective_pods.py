"""Manifest → the pods that the training operator or the Job controller will create of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from mlxtpl import training_operator
from mlxtpl.manifest import Manifest, Part, Subject, gpus, launch, object_id

_MOST_PODS = 1000  # that are listed one by one
_EXPANSION = re.compile(r"\$\$|\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)")
_LABEL = "training.kubeflow.org/"


class Variable(NamedTuple):
    """One variable of a container: `by` is who sets it (manifest, operator, controller); `known` whether the value is."""

    name: str
    value: str
    by: str
    known: bool = True


class Container(NamedTuple):
    """One container: its variables in order, and the words that start it after Kubernetes' expansion."""

    name: str
    image: str
    variables: tuple[Variable, ...]
    command: tuple[str, ...]
    gpus: int


class Pod(NamedTuple):
    """One pod; `service` is the name of its headless Service, empty when it gets none."""

    name: str
    service: str
    labels: Mapping[str, str]
    ports: Mapping[str, int]
    init_containers: tuple[str, ...]
    containers: tuple[Container, ...]

    @property
    def gpus(self) -> int:
        """The GPUs that it holds."""
        return sum(each.gpus for each in self.containers)


class Shape(NamedTuple):
    """The pods of a job at one size; `rendezvous` is where they meet, empty when they do not."""

    title: str
    pods: tuple[Pod, ...]
    rendezvous: str = ""

    @property
    def gpus(self) -> int:
        """The GPUs of all pods together."""
        return sum(each.gpus for each in self.pods)


class Effective(NamedTuple):
    """What becomes of one object.

    Attributes:
        shapes: one, or for an elastic range the smallest and the largest.
        restarts, success: what happens when a pod fails, and when the job counts as done.
        volumes: name → what it is, of all pod templates.
    """

    id: str
    shapes: tuple[Shape, ...]
    restarts: str
    success: str
    volumes: Mapping[str, str]


def effective_pods(manifest: Manifest) -> list[Effective]:
    """What becomes of each Job and PyTorchJob of a manifest; other objects are left out."""
    subject = Subject(manifest)
    found = []
    for part in subject.parts("Job", "PyTorchJob"):
        is_job = part.obj["kind"] == "Job"
        shapes = tuple(_of_job(part) if is_job else _of_pytorchjob(part))
        restarts = _job_restarts(part) if is_job else _restarts(part)
        success = _job_success(part) if is_job else _success(part)
        found.append(Effective(object_id(part.obj), shapes, restarts, success, _volumes(part, subject)))
    return found


# --- PyTorchJob --------------------------------------------------------------------------------


def _of_pytorchjob(part: Part) -> Iterator[Shape]:
    """Its pods; for an elastic range at both ends."""
    now = training_operator.workers(part) or 0
    low, high = training_operator.node_range(part) or (now, now)
    sizes = [now] if low == high else [low, high]
    for size, word in zip(sizes, ("",) if len(sizes) == 1 else ("smallest: ", "largest: "), strict=True):
        pods = tuple(_replicas(part, size))
        yield Shape(f"{word}{_count(len(pods), 'pod')}", pods, _rendezvous(part, size))


def _replicas(part: Part, size: int) -> Iterator[Pod]:
    """Source: createNewPod and CreateNewService in pkg/controller.v1/common."""
    name, specs = part.text("metadata", "name"), part.at("spec", "pytorchReplicaSpecs")
    for role in ("Master", "Worker"):
        if not isinstance(specs.at(role).value, dict):
            continue
        template = specs.at(role, "template")
        for index in range(1 if role == "Master" else min(size, _MOST_PODS)):
            pod = f"{name}-{role.lower()}-{index}"
            labels = {
                **_texts(template.map("metadata", "labels")),
                f"{_LABEL}job-name": name,
                f"{_LABEL}operator-name": "pytorchjob-controller",
                f"{_LABEL}replica-type": role.lower(),
                f"{_LABEL}replica-index": str(index),
            }
            if role == "Master" or (index == 0 and "Master" not in specs.map()):
                labels[f"{_LABEL}job-role"] = "master"
            variables = training_operator.variables(part, role, index, size)
            waits = ("init-pytorch",) if role == "Worker" and "Master" in specs.map() else ()
            containers = tuple(_container(each, variables, "operator") for each in template.items("spec", "containers"))
            yield Pod(pod, pod, labels, _ports(part, role, template), (*_init(template), *waits), containers)


def _ports(part: Part, role: str, template: Part) -> dict[str, int]:
    """The named ports of the container pytorch, which the Service gets too."""
    found = {}
    for container in template.items("spec", "containers"):
        if container.value.get("name") == "pytorch":
            for each in container.items("ports"):
                found[each.text("name")] = each.integer("containerPort") or 0
    return {**found, training_operator.PORT_NAME: training_operator.port(part, role)}


def _rendezvous(part: Part, size: int) -> str:
    variables = training_operator.variables(part, "Worker", 0, size)
    if "PET_RDZV_ENDPOINT" in variables:
        return variables["PET_RDZV_ENDPOINT"]
    return f"{variables['MASTER_ADDR']}:{variables['MASTER_PORT']}" if "MASTER_ADDR" in variables else ""


def _restarts(part: Part) -> str:
    """Source: ReconcileJobs and PastBackoffLimit in pkg/controller.v1/common/job.go; train_util.go."""
    policies = {each.text("restartPolicy") or "OnFailure" for each in part.items("spec", "pytorchReplicaSpecs")}
    limit = part.integer("spec", "runPolicy", "backoffLimit")
    told = []
    if policies & {"OnFailure", "Always"}:
        end = "for ever" if limit is None else f"until all pods together were restarted {_count(max(1, limit), 'time')}"
        told.append(f"a container that fails is restarted in its pod, {end}")
    if "Never" in policies:
        told.append("the first pod that fails ends the job")
    if "ExitCode" in policies:
        told.append("a pod that exits with 128 or more is made anew without limit, 1 to 127 ends the job")
    inner = part.integer("spec", "elasticPolicy", "maxRestarts")
    if inner:
        told.append(f"before that torchrun starts its processes again, {_count(inner, 'time')}")
    return "; ".join(told)


def _success(part: Part) -> str:
    """Source: UpdateJobStatus in pkg/controller.v1/pytorch/pytorchjob_controller.go."""
    if "Master" in part.map("spec", "pytorchReplicaSpecs"):
        return "done when the Master's pod has succeeded, whatever the Workers do"
    if part.at("spec", "elasticPolicy").value is not None:
        return "done as soon as one Worker has succeeded"
    return "done when all Workers have succeeded"


# --- Job ---------------------------------------------------------------------------------------


def _of_job(part: Part) -> Iterator[Shape]:
    """Its pods; their names end in five random characters, written as xxxxx.

    Source: pkg/controller/job of Kubernetes 1.32.
    """
    name, spec = part.text("metadata", "name") or f"{part.text('metadata', 'generateName')}…", part.at("spec")
    indexed = spec.text("completionMode") == "Indexed"
    wanted, at_once = spec.integer("completions"), spec.integer("parallelism")
    at_once = 1 if at_once is None else at_once
    count = at_once if wanted is None else min(at_once, wanted)
    template = spec.at("template")
    pods = []
    for index in range(min(count, _MOST_PODS)):
        labels = {**_texts(template.map("metadata", "labels")), "batch.kubernetes.io/job-name": name, "job-name": name}
        more = {"JOB_COMPLETION_INDEX": str(index)} if indexed else {}
        labels |= {"batch.kubernetes.io/job-completion-index": str(index)} if indexed else {}
        containers = tuple(_container(each, more, "controller") for each in template.items("spec", "containers"))
        pod = f"{name}-{index}-xxxxx" if indexed else f"{name}-xxxxx"
        pods.append(Pod(pod, "", labels, {}, _init(template), containers))
    title = _count(count, "pod")
    if wanted is not None and wanted > count:
        title += f" at a time, {wanted} in all"
    yield Shape("suspended: no pod until it is resumed" if spec.map().get("suspend") is True else title, tuple(pods))


def _job_restarts(part: Part) -> str:
    """Source: pkg/apis/batch/v1/defaults.go (6) and pkg/controller/job of Kubernetes 1.32."""
    spec = part.at("spec")
    limit = spec.integer("backoffLimit")
    if spec.integer("backoffLimitPerIndex") is not None:
        return f"an index that fails is tried again, {_count(spec.integer('backoffLimitPerIndex') or 0, 'time')}"
    times = _count(6 if limit is None else limit, "time")
    if spec.text("template", "spec", "restartPolicy") == "OnFailure":
        return f"a container that fails is restarted in its pod, {times} in all, after which the pod and its log are deleted"
    return f"a pod that fails stays, and a new one takes its place, {times} in all"


def _job_success(part: Part) -> str:
    wanted, at_once = part.integer("spec", "completions"), part.integer("spec", "parallelism")
    if part.text("spec", "completionMode") == "Indexed":
        return f"done when each of the {wanted} indexes has succeeded"
    if wanted is None and at_once is not None:
        return "done when one pod has succeeded and all have ended"
    return f"done when {_count(wanted or 1, 'pod')} {'has' if (wanted or 1) == 1 else 'have'} succeeded"


# --- containers --------------------------------------------------------------------------------


def _container(container: Part, more: Mapping[str, str], by: str) -> Container:
    """Source: third_party/forked/golang/expansion of Kubernetes: earlier variables, in a command all of them."""
    known: dict[str, str] = {}
    variables = []
    for entry in container.items("env"):
        name, source = entry.text("name"), entry.map("valueFrom")
        if source:
            variables.append(Variable(name, _source(source), "manifest", known=False))
            known.pop(name, None)
            continue
        value = entry.at("value").value
        known[name] = _expanded("" if value is None else str(value), known)
        variables.append(Variable(name, known[name], "manifest"))
    for name, value in more.items():
        known[name] = value
        variables.append(Variable(name, value, by))
    command = tuple(_expanded(word, known) for word in launch(container))
    return Container(container.text("name"), container.text("image"), tuple(variables), command, gpus(container))


def _expanded(text: str, known: Mapping[str, str]) -> str:
    return _EXPANSION.sub(lambda match: known.get(match[1], match[0]) if match[1] else "$", text)


def _source(source: Mapping[str, Any]) -> str:
    """What a valueFrom is, in words."""
    kind, given = next(iter(source.items()))
    given = given if isinstance(given, dict) else {}
    if "fieldPath" in given:
        return f"<{given['fieldPath']}>"
    if "resource" in given:
        return f"<{given['resource']}>"
    return f"<{kind.removesuffix('KeyRef')} {given.get('name')}/{given.get('key')}>"


def _init(template: Part) -> tuple[str, ...]:
    return tuple(each.text("name") for each in template.items("spec", "initContainers"))


def _volumes(part: Part, subject: Subject) -> dict[str, str]:
    found = {}
    for template in subject.templates(part.obj["kind"]):
        if template.number == part.number:
            for volume in template.items("spec", "volumes"):
                source = next((key for key in volume.value if key != "name"), "emptyDir")
                given = volume.map(source)
                name = next(
                    (str(given[key]) for key in ("claimName", "secretName", "name", "path", "medium") if key in given),
                    "",
                )
                found[volume.text("name")] = f"{source} {name}".strip()
    return found


def _texts(labels: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in labels.items()}


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
