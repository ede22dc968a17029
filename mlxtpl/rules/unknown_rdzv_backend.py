"""The rdzvBackend of an elasticPolicy is none that can work.

## Why   nobody checks it before the job runs; torchrun then knows no such backend and dies. `static` it knows, but
         Workers have a node rank only beside a Master: without one each of them takes itself for node 0
## Bad   elasticPolicy: {rdzvBackend: nccl}
## Good  elasticPolicy: {rdzvBackend: c10d}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Edit, Finding, Subject

ID = "unknown-rdzv-backend"
LEVEL = "warning"
_BACKENDS = ("c10d", "etcd", "etcd-v2")


def check(subject: Subject) -> Iterator[Finding]:
    """Source: torch/distributed/elastic/rendezvous/registry.py; pkg/controller.v1/pytorch/envvar.go at v1.9.4."""
    for part in subject.parts("PyTorchJob"):
        policy, master = part.at("spec", "elasticPolicy"), "Master" in part.map("spec", "pytorchReplicaSpecs")
        backend = policy.at("rdzvBackend").value
        if not isinstance(backend, str) or backend in _BACKENDS or (backend == "static" and master):
            continue
        path, right = (*policy.path, "rdzvBackend"), backend.lower()
        edits = (Edit("set", path, right),) if right in _BACKENDS else ()
        message = f'must be one of {", ".join(_BACKENDS)}, found "{backend}"'
        if backend == "static":
            message = "must not be static without a Master, as every Worker is node 0 then"
        yield policy.finding(message, "rdzvBackend", hint="c10d needs no server of its own", edits=edits)
