"""A socket family is misspelt.

## Why   NCCL compares the value with AF_INET and AF_INET6 letter by letter and ignores any other without a word; the heading
         of the platform's guide says INET, its text AF_INET
## Bad   {name: GLOO_SOCKET_FAMILY, value: INET}
## Good  {name: GLOO_SOCKET_FAMILY, value: AF_INET}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import TRAINING, Edit, Finding, Subject

ID = "socket-family"
LEVEL = "warning"
_MEANT = {"inet": "AF_INET", "af_inet": "AF_INET", "ipv4": "AF_INET", "4": "AF_INET"}
_MEANT |= {f"{key.replace('4', '')}6": f"{value}6" for key, value in _MEANT.items()}


def check(subject: Subject) -> Iterator[Finding]:
    """Source: NVIDIA/nccl src/misc/socket.cc, envSocketFamily."""
    for container in subject.containers(*TRAINING):
        for entry in container.items("env"):
            value = entry.value.get("value")
            known = ("AF_INET", "AF_INET6")
            if (
                entry.text("name") not in ("GLOO_SOCKET_FAMILY", "NCCL_SOCKET_FAMILY")
                or value is None
                or value in known
            ):
                continue
            if not str(value).startswith("$("):
                right = _MEANT.get(str(value).lower())
                edits = (Edit("set", (*entry.path, "value"), right),) if right else ()
                yield entry.finding(f'must be AF_INET or AF_INET6, found "{value}"', "value", edits=edits)
