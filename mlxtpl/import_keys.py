"""A Job or PyTorchJob → the values keys that say the same; what they cannot say is left out, and found by comparing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlxtpl import infiniband, shared_memory, training_operator
from mlxtpl.errors import Problem, ValuesError
from mlxtpl.manifest import Object, Part, object_id, training_container

_POD_KEYS = (
    "tolerations affinity topologySpreadConstraints priorityClassName schedulerName serviceAccountName runtimeClassName "
    "terminationGracePeriodSeconds"
).split()
_SOURCES = "emptyDir nfs ephemeral csi projected downwardAPI image fc iscsi".split()
_NAMED = {"configMap": "name", "secret": "secretName", "hostPath": "path"}
_REFERENCES = {"secretKeyRef": "secret", "configMapKeyRef": "configMap"}
_FAMILY = ("GLOO_SOCKET_FAMILY", "NCCL_SOCKET_FAMILY")
_SHARED = "shared-memory"


def keys_of(obj: Object, *, exact: bool) -> dict[str, Any]:
    """The values keys of a job, in the order of the documentation.

    Args:
        exact: turn presets off that would add something.

    Raises:
        ValuesError: it has no training container, or no name.
    """
    job = Part(0, obj, (), obj)
    template = _template(job)
    container = None if template is None else training_container(template)
    if template is None or container is None:
        raise ValuesError(Problem("has no training container", object_id(obj)))
    metadata = job.at("metadata")
    name = metadata.text("name") or metadata.text("generateName").rstrip("-.")
    asked = _infiniband(job, container)
    values: dict[str, Any] = {"name": name, **_namespace(metadata.text("namespace"))}
    values["labels"] = metadata.map("labels")
    annotations = {k: v for k, v in metadata.map("annotations").items() if k != infiniband.ZONE or not asked}
    values["annotations"] = annotations
    values["podLabels"] = template.map("metadata", "labels")
    istio = {"sidecar.istio.io/inject": "false"}
    annotations = template.map("metadata", "annotations")
    values["podAnnotations"] = {key: value for key, value in annotations.items() if istio.get(key) != value}
    if exact and not istio.keys() & annotations.keys():
        values["podAnnotations"] = {**values["podAnnotations"], **dict.fromkeys(istio)}
    values |= _run(job, container)
    values |= asked
    zone = template.map("spec", "nodeSelector").get(infiniband.ZONE)
    values["zone"] = zone
    if asked.get("infiniband") and zone == job.map("metadata", "annotations").get(infiniband.ZONE):
        values["infiniband"] = True
    values |= container_keys(container)
    if asked and values.get("securityContext") == {"capabilities": {"add": ["IPC_LOCK"]}}:
        del values["securityContext"]
    values |= _volumes(template, container, values, exact=exact)
    values |= _pod(template)
    if job.obj["kind"] == "PyTorchJob":
        env = values.get("env") or {}
        both = all(env.get(each) == "AF_INET" for each in _FAMILY)
        if both and not any("$(" in str(each) for each in env.values()):
            values["env"] = {key: value for key, value in env.items() if key not in _FAMILY}
        elif exact:
            values["distributed"]["ipv4Only"] = False
    return {key: value for key, value in values.items() if value not in (None, {}, [], "")}


def _template(job: Part) -> Part | None:
    if job.obj["kind"] == "Job":
        return job.at("spec", "template")
    replicas = job.at("spec", "pytorchReplicaSpecs")
    role = next((each for each in ("Worker", "Master") if replicas.map(each)), None)
    return None if role is None else replicas.at(role, "template")


def _namespace(namespace: str) -> dict[str, str]:
    project = namespace.removeprefix("p-")
    return {"project": project} if project != namespace and project else {"namespace": namespace}


def _infiniband(job: Part, container: Part) -> dict[str, Any]:
    """InfiniBand is asked for by the zone of the job and IPC_LOCK together."""
    zone = job.map("metadata", "annotations").get(infiniband.ZONE)
    locks = "IPC_LOCK" in container.words("securityContext", "capabilities", "add")
    return {"infiniband": {"zone": zone}} if isinstance(zone, str) and locks else {}


def _run(job: Part, container: Part) -> dict[str, Any]:
    """How the job runs: its limits, retries, and how it spreads over nodes."""
    spec = job.at("spec")
    if job.obj["kind"] == "Job":
        return {
            "ttl": spec.integer("ttlSecondsAfterFinished"),
            "activeDeadline": spec.integer("activeDeadlineSeconds"),
            "backoffLimit": spec.integer("backoffLimit"),
            "suspend": spec.value.get("suspend"),
            "restartPolicy": spec.text("template", "spec", "restartPolicy"),
        }
    policy, elastic = spec.at("runPolicy"), spec.at("elasticPolicy")
    replicas = spec.at("pytorchReplicaSpecs")
    count = training_operator.workers(job) or 0
    has_master = "Master" in replicas.map()
    low, high = training_operator.node_range(job) or (count, count)
    distributed: dict[str, Any] = {"nodes": {"min": low, "max": high} if low != high else max(low, 1)}
    if has_master:
        distributed = {"nodes": 1 + count, "master": True}
    _, processes = training_operator.nproc_per_node(job)
    wanted = int(processes) if str(processes).isdecimal() else processes
    if wanted != container_keys(container).get("resources", {}).get("gpus") and (
        spec.value.get("nprocPerNode") or elastic.map().get("nProcPerNode")
    ):
        distributed["procsPerNode"] = wanted
    if not has_master:
        conf = {each.text("key"): each.text("value") for each in elastic.items("rdzvConf")}
        rdzv = {
            "id": elastic.text("rdzvId") if elastic.text("rdzvId") != job.text("metadata", "name") else None,
            "backend": elastic.text("rdzvBackend") if elastic.text("rdzvBackend") != "c10d" else None,
            "host": elastic.text("rdzvHost"),
            "port": elastic.integer("rdzvPort"),
            "conf": conf,
        }
        distributed["rdzv"] = {key: value for key, value in rdzv.items() if value not in (None, "", {})}
        distributed["maxRestarts"] = elastic.integer("maxRestarts") if elastic.integer("maxRestarts") != 3 else None
        distributed["metrics"] = elastic.map().get("metrics")
    command = container.words("command")
    if command[:1] and command[0].rpartition("/")[2].startswith("python"):
        distributed["launcher"] = "none"
    distributed["cleanPodPolicy"] = policy.text("cleanPodPolicy") if policy.text("cleanPodPolicy") != "None" else None
    distributed["schedulingPolicy"] = policy.map("schedulingPolicy")
    distributed["managedBy"] = policy.text("managedBy")
    restart = replicas.text("Worker" if count else "Master", "restartPolicy")
    return {
        "ttl": policy.integer("ttlSecondsAfterFinished"),
        "activeDeadline": policy.integer("activeDeadlineSeconds"),
        "backoffLimit": policy.integer("backoffLimit") if policy.integer("backoffLimit") != 6 else None,
        "suspend": policy.map().get("suspend"),
        "restartPolicy": restart if restart != "OnFailure" else None,
        "distributed": {key: value for key, value in distributed.items() if value not in (None, "", {}, [])},
    }


def container_keys(container: Part) -> dict[str, Any]:
    """The keys that a training container, init containers and sidecars have in common."""
    given = container.value
    names = [each.text("name") for each in container.items("env")]
    env = {each.text("name"): _env(each.value) for each in container.items("env")}
    sources = [_env_from(each.value) for each in container.items("envFrom")]
    return {
        "image": given.get("image"),
        "imagePullPolicy": given.get("imagePullPolicy") if given.get("imagePullPolicy") != "Always" else None,
        "command": given.get("command"),
        "args": given.get("args"),
        "workingDir": given.get("workingDir"),
        # A variable that has no key is left out of its place in a list that then has to be written as a whole.
        "env": env if len(set(names)) == len(names) and None not in env.values() else None,
        "envFrom": sources if None not in sources else None,
        "ports": _ports(container),
        "resources": _resources(container),
        "securityContext": given.get("securityContext"),
    }


def _env(entry: Mapping[str, Any]) -> Any:
    source = entry.get("valueFrom")
    if source is None:
        value = entry.get("value")
        return value if isinstance(value, str) else None
    if isinstance(source, dict) and len(source) == 1:
        ((kind, given),) = source.items()
        if kind in _REFERENCES and isinstance(given, dict):
            return {_REFERENCES[kind]: given}
        if kind == "fieldRef" and list(given) == ["fieldPath"]:
            return {"field": given["fieldPath"]}
        if kind == "resourceFieldRef" and list(given) == ["resource"]:
            return {"resource": given["resource"]}
    return None


def _env_from(source: Mapping[str, Any]) -> dict[str, Any] | None:
    for field, key in (("secretRef", "secret"), ("configMapRef", "configMap")):
        given = source.get(field)
        if isinstance(given, dict) and set(source) <= {field, "prefix"} and set(given) <= {"name", "optional"}:
            more = {"prefix": source.get("prefix"), "optional": given.get("optional")}
            return {key: given.get("name"), **{k: v for k, v in more.items() if v is not None}}
    return None


def _ports(container: Part) -> dict[str, int] | None:
    ports = container.items("ports")
    plain = all(set(each.value) == {"name", "containerPort"} for each in ports)
    return {each.text("name"): each.value["containerPort"] for each in ports} if ports and plain else None


def _resources(container: Part) -> dict[str, Any]:
    limits, requests = dict(container.map("resources", "limits")), container.map("resources", "requests")
    found: dict[str, Any] = {key: str(limits.pop(key)) for key in ("cpu", "memory") if key in limits}
    device = next((key for key in limits if key.endswith("/gpu")), None)
    if device is not None and str(limits[device]).isdecimal():
        found["gpus"] = int(str(limits.pop(device)))
        if device != "nvidia.com/gpu":
            found["gpuResource"] = device
    if limits:
        found["extra"] = {key: str(value) for key, value in limits.items()}
    if requests:
        found["requests"] = {key: str(value) for key, value in requests.items()}
    return found


def _volumes(template: Part, container: Part, values: Mapping[str, Any], *, exact: bool) -> dict[str, Any]:
    """Volumes with their mounts in the training container; /dev/shm apart."""
    found: dict[str, Any] = {}
    memory = shared_memory.mounted(template, container)
    preset = memory is not None and memory.text("name") == _SHARED and memory.map("emptyDir").get("medium") == "Memory"
    keys: dict[str, Any] = {}
    if preset and memory is not None:
        size = memory.map("emptyDir").get("sizeLimit")
        by_itself = "distributed" in values or (values.get("resources") or {}).get("gpus", 0) > 1
        keys["sharedMemory"] = str(size) if size is not None else None if by_itself else True
    elif memory is None and exact:
        keys["sharedMemory"] = False
    for volume in template.items("spec", "volumes"):
        name, source = volume.text("name"), _source(volume)
        if source is None or (preset and name == _SHARED) or name in (_SHARED, "files"):
            continue
        mounts = [each.value for each in container.items("volumeMounts") if each.text("name") == name]
        plain = all(set(each) <= {"name", "mountPath", "subPath", "readOnly"} for each in mounts)
        if plain:
            found[name] = {**source, **_mounts(mounts)}
    return {**keys, "volumes": found}


def _source(volume: Part) -> dict[str, Any] | None:
    sources = [key for key in volume.value if key != "name"]
    if len(sources) != 1:
        return None
    (kind,) = sources
    given = volume.value[kind]
    if kind == "persistentVolumeClaim":
        return {"pvc": given["claimName"]} if isinstance(given, dict) and list(given) == ["claimName"] else None
    if kind in _NAMED:
        short = isinstance(given, dict) and list(given) == [_NAMED[kind]]
        return {kind: given[_NAMED[kind]] if short else given}
    if kind == "emptyDir":
        return {kind: True if given == {} else given}
    return {kind: given} if kind in _SOURCES else None


def _mounts(mounts: list[dict[str, Any]]) -> dict[str, Any]:
    told = [{key: value for key, value in each.items() if key != "name"} for each in mounts]
    if len(told) < 2:
        return told[0] if told else {}
    return {"mounts": {each.pop("mountPath"): each or True for each in told}}


def _pod(template: Part) -> dict[str, Any]:
    spec = template.map("spec")
    found: dict[str, Any] = {key: spec.get(key) for key in _POD_KEYS}
    secrets = template.items("spec", "imagePullSecrets")
    found["imagePullSecrets"] = [each.text("name") for each in secrets]
    found["podSecurityContext"] = spec.get("securityContext")
    found["nodeSelector"] = {k: v for k, v in template.map("spec", "nodeSelector").items() if k != infiniband.ZONE}
    found["hostNetwork"] = spec.get("hostNetwork")
    inits = template.items("spec", "initContainers")
    found["initContainers"] = {
        each.text("name"): _side(each) for each in inits if each.value.get("restartPolicy") is None
    }
    found["sidecars"] = {
        each.text("name"): _side(each) for each in inits if each.value.get("restartPolicy") == "Always"
    }
    return found


def _side(container: Part) -> dict[str, Any]:
    keys = container_keys(container)
    keys.pop("ports")
    mounts = {}
    for each in container.items("volumeMounts"):
        more = {key: value for key, value in each.value.items() if key in ("subPath", "readOnly")}
        mounts[each.text("mountPath")] = {"volume": each.text("name"), **more} if more else each.text("name")
    keys["mounts"] = mounts
    return {key: value for key, value in keys.items() if value not in (None, {}, [], "")}
