"""A container requests RDMA devices.

## Why   on the platform InfiniBand needs no RDMA resource, neither as a request nor as a limit: no node offers one of that
         name, and the pod stays Pending (Insufficient rdma/…)
## Bad   limits: {rdma/hca_shared_devices_a: "1"}
## Good  the zone annotation and IPC_LOCK alone
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlxtpl.manifest import TRAINING, Finding, Subject

ID = "rdma-resource"
LEVEL = "warning"
_RDMA = re.compile(r"(^|[./_-])(rdma|hca|infiniband|roce|efa)([/_-]|$)|/ib([_-]|$)", re.IGNORECASE)


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the platform's guide, "Infiniband 사용", note; names of the usual RDMA device plugins."""
    for container in subject.containers(*TRAINING):
        for field in ("limits", "requests"):
            for name in container.map("resources", field):
                if "/" in name and _RDMA.search(name):
                    message = "is not needed for InfiniBand on the platform, and no node may offer it"
                    yield container.finding(message, "resources", field, name, key=True, hint="remove it")
