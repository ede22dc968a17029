"""A PyTorchJob sets both spec.nprocPerNode and spec.elasticPolicy.nProcPerNode.

## Why   the operator's webhook refuses it: must not be used with spec.nprocPerNode
## Bad   nprocPerNode: "8" beside elasticPolicy: {nProcPerNode: 8}
## Good  one of the two
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.errors import Problem
from mlxtpl.manifest import Manifest, object_id

ID = "two-nproc-fields"
LEVEL = "error"


def check(manifest: Manifest) -> Iterator[Problem]:
    """Source: pkg/webhooks/pytorch/pytorchjob_webhook.go at v1.9.4."""
    for obj in manifest:
        spec = obj.get("spec")
        if obj.get("kind") != "PyTorchJob" or not isinstance(spec, dict):
            continue
        elastic = spec.get("elasticPolicy") or {}
        if spec.get("nprocPerNode") is not None and elastic.get("nProcPerNode") is not None:
            message = "must not be set beside spec.elasticPolicy.nProcPerNode"
            yield Problem(message, f"{object_id(obj)}: spec.nprocPerNode", hint="keep one of the two")
