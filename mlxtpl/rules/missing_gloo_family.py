"""A distributed job does not say that its sockets are IPv4.

## Why   the platform has no IPv6: at scale the tries that fail first use up file descriptors, and the training stops. (No
         released gloo or PyTorch reads the variable; the platform asks for it. NCCL reads NCCL_SOCKET_FAMILY.)
## Bad   a PyTorchJob with several pods without the variable
## Good  env: [{name: GLOO_SOCKET_FAMILY, value: AF_INET}]
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl import infiniband
from mlxtpl.manifest import Edit, Finding, Subject

ID = "missing-gloo-family"
LEVEL = "warning"
_NAME = "GLOO_SOCKET_FAMILY"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the platform's guide, "IPv6 사용 불가"; searched for in gloo 70dc360, torch 2.1.2 and 2.14.1: not read."""
    for template, container in subject.training("PyTorchJob"):
        if infiniband.pods(template) > 1 and not container.env(_NAME) and not container.at("envFrom").value:
            edits = (Edit("append", (*container.path, "env"), {"name": _NAME, "value": "AF_INET"}),)
            yield container.finding("must be AF_INET, as the platform asks", "env", _NAME, edits=edits)
