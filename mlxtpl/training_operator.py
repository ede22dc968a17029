"""What the training operator 1.9.4 makes of a PyTorchJob: its defaults, how many pods, which variables each gets."""

from __future__ import annotations

from typing import Any

from mlxtpl.manifest import Part

DEFAULT_PORT = 23456
PORT_NAME = "pytorchjob-port"
_REPLICAS = ("spec", "pytorchReplicaSpecs")
_WORKER = (*_REPLICAS, "Worker")
# The order in which the operator appends them.
_WITH_A_MASTER = (
    "MASTER_PORT",
    "PET_MASTER_PORT",
    "MASTER_ADDR",
    "PET_MASTER_ADDR",
    "WORLD_SIZE",
    "RANK",
    "PET_NODE_RANK",
)
_ELASTIC = ("PET_RDZV_ENDPOINT", "PET_RDZV_BACKEND")
_FIELDS = {
    "maxRestarts": "PET_MAX_RESTARTS",
    "rdzvId": "PET_RDZV_ID",
    "rdzvConf": "PET_RDZV_CONF",
    "standalone": "PET_STANDALONE",
}
_ALWAYS = ("PET_NNODES", "PET_NPROC_PER_NODE")
INJECTED = (*_ALWAYS, *_ELASTIC, *_FIELDS.values(), *_WITH_A_MASTER)


def workers(part: Part) -> int | None:
    """How many Workers a PyTorchJob starts with; None when it has none, or the number is no number."""
    if not isinstance(part.at(*_WORKER).value, dict):
        return None
    return 1 if part.at(*_WORKER, "replicas").value is None else part.integer(*_WORKER, "replicas")


def node_range(part: Part) -> tuple[int, int] | None:
    """The (minimum, maximum) of nodes that the operator makes of a PyTorchJob's elasticPolicy; None without one.

    Source: setElasticPolicy in pkg/apis/kubeflow.org/v1/pytorch_defaults.go.
    """
    policy = part.at("spec", "elasticPolicy")
    if not isinstance(policy.value, dict):
        return None
    given = [policy.integer(each) for each in ("minReplicas", "maxReplicas") if policy.value.get(each) is not None]
    found = [each for each in (given or [workers(part)]) if each is not None]
    return (found[0], found[-1]) if len(found) == max(1, len(given)) else None


def pods(part: Part) -> int | None:
    """How many pods a PyTorchJob starts with; None when that cannot be said."""
    replicas = part.map(*_REPLICAS)
    counts = [1 if name == "Master" else workers(part) for name in replicas]
    known = [each for each in counts if each is not None and each > 0]
    return sum(known) if known and len(known) == len(counts) and set(replicas) <= {"Master", "Worker"} else None


def nproc_per_node(part: Part) -> tuple[str, Any]:
    """(the field, what is in it) of the processes per node.

    Source: setDefaultNprocPerNode: spec.nprocPerNode becomes auto where neither field is written.
    """
    text, count = part.at("spec", "nprocPerNode").value, part.at("spec", "elasticPolicy", "nProcPerNode").value
    if text is None and count is not None:
        return "spec.elasticPolicy.nProcPerNode", count
    return "spec.nprocPerNode", "auto" if text is None else text


def port(part: Part, role: str) -> int:
    """The port of a replica type: that of the name pytorchjob-port in its container pytorch, else 23456.

    Source: getPortFromPyTorchJob in pkg/controller.v1/pytorch/envvar.go; setPyTorchDefaultPort.
    """
    for container in part.items(*_REPLICAS, role, "template", "spec", "containers"):
        if container.value.get("name") == "pytorch":
            for each in container.items("ports"):
                if each.value.get("name") == PORT_NAME:
                    return each.integer("containerPort") or DEFAULT_PORT
    return DEFAULT_PORT


def injected(container: Part) -> set[str]:
    """The variables that the operator appends to a container's env."""
    if container.obj.get("kind") != "PyTorchJob" or "initContainers" in container.path:
        return set()
    spec = container._replace(path=("spec",), value=container.obj.get("spec"))
    found = {"PYTHONUNBUFFERED", *_ALWAYS}
    if spec.map("pytorchReplicaSpecs").get("Master") is not None:
        found.update(_WITH_A_MASTER)
    policy = spec.at("elasticPolicy").value
    if isinstance(policy, dict):
        found.update(_ELASTIC)
        found.update(
            name for field, name in _FIELDS.items() if policy.get(field) is not None and policy[field] is not False
        )
    return found


def variables(part: Part, role: str, index: int, count: int) -> dict[str, str]:
    """The variables that the operator appends to the env of each container of a pod, in its order.

    Args:
        role: Master or Worker; `index` the pod's number in it.
        count: how many Workers there are.

    Source: setPodEnv in pkg/controller.v1/pytorch/envvar.go, and the generators in master.go and elastic.go.
    """
    name, policy = part.text("metadata", "name"), part.at("spec", "elasticPolicy")
    has_master = part.map(*_REPLICAS).get("Master") is not None
    field, processes = nproc_per_node(part)
    total = has_master + count
    found = {"PYTHONUNBUFFERED": "1"}
    if has_master:
        master, rank = f"{name}-master-0", str(index if role == "Master" else index + 1)
        number = str(port(part, "Master"))
        # auto, cpu and gpu count as one process.
        each = int(processes) if field == "spec.nprocPerNode" and str(processes).isdecimal() else 1
        values = (number, number, master, master, str(total * each), rank, rank)
        found |= dict(zip(_WITH_A_MASTER, values, strict=True))
    if field == "spec.nprocPerNode":
        found["PET_NPROC_PER_NODE"] = str(processes)
    if not isinstance(policy.value, dict):
        return {**found, "PET_NNODES": str(total)}
    low, high = node_range(part) or (count, count)
    host = policy.text("rdzvHost") or f"{name}-worker-0"
    found["PET_RDZV_ENDPOINT"] = f"{host}:{policy.integer('rdzvPort') or port(part, 'Worker')}"
    found["PET_RDZV_BACKEND"] = policy.text("rdzvBackend") or "c10d"
    found["PET_NNODES"] = f"{low}:{high}"
    if policy.integer("maxRestarts") is not None:
        found["PET_MAX_RESTARTS"] = str(policy.integer("maxRestarts"))
    if policy.value.get("nProcPerNode") is not None:
        found["PET_NPROC_PER_NODE"] = str(policy.value["nProcPerNode"])
    if policy.value.get("rdzvId") is not None:
        found["PET_RDZV_ID"] = policy.text("rdzvId")
    if policy.items("rdzvConf"):
        conf = (f"{each.text('key')}={each.text('value')}" for each in policy.items("rdzvConf"))
        found["PET_RDZV_CONF"] = ",".join(conf)
    if policy.value.get("standalone") is True:
        found["PET_STANDALONE"] = ""
    return found
