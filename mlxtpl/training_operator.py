"""What the training operator makes of a PyTorchJob: how many pods, which range of nodes, which variables."""

from __future__ import annotations

from mlxtpl.manifest import Part

_WORKER = ("spec", "pytorchReplicaSpecs", "Worker")
_WITH_A_MASTER = (
    "MASTER_ADDR",
    "MASTER_PORT",
    "WORLD_SIZE",
    "RANK",
    "PET_MASTER_ADDR",
    "PET_MASTER_PORT",
    "PET_NODE_RANK",
)
_ELASTIC = ("PET_RDZV_ENDPOINT", "PET_RDZV_BACKEND")
_FIELDS = {
    "rdzvId": "PET_RDZV_ID",
    "rdzvConf": "PET_RDZV_CONF",
    "maxRestarts": "PET_MAX_RESTARTS",
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
    """The (minimum, maximum) of nodes that the operator makes of a PyTorchJob's elasticPolicy; None without one."""
    policy = part.at("spec", "elasticPolicy")
    if not isinstance(policy.value, dict):
        return None
    given = [policy.integer(each) for each in ("minReplicas", "maxReplicas") if policy.value.get(each) is not None]
    found = [each for each in (given or [workers(part)]) if each is not None]
    return (found[0], found[-1]) if len(found) == max(1, len(given)) else None


def pods(part: Part) -> int | None:
    """How many pods a PyTorchJob starts with; None when that cannot be said."""
    replicas = part.map("spec", "pytorchReplicaSpecs")
    counts = [1 if name == "Master" else workers(part) for name in replicas]
    known = [each for each in counts if each is not None and each > 0]
    return sum(known) if known and len(known) == len(counts) and set(replicas) <= {"Master", "Worker"} else None


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
