"""A container sets an environment variable twice.

## Why   Kubernetes takes both, and the last one counts: what the first one says has no effect. Newer servers warn: hides
         previous definition. In a PyTorchJob it is refused; duplicate-list-key tells that
## Bad   env: [{name: NCCL_DEBUG, value: INFO}, {name: NCCL_DEBUG, value: WARN}]
## Good  env: [{name: NCCL_DEBUG, value: WARN}]
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject

ID = "duplicate-env"
LEVEL = "warning"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/api/pod/warnings.go, Kubernetes v1.32."""
    for container in subject.containers():
        seen: dict[str, int] = {}
        for entry in container.items("env"):
            name = entry.text("name")
            # A value that builds on the earlier one is meant.
            if name in seen and container.obj["kind"] != "PyTorchJob" and f"$({name})" not in entry.text("value"):
                yield entry.finding(f"is set twice, and this one counts, not env[{seen[name]}]", "name")
            if name:
                seen[name] = entry.path[-1]
