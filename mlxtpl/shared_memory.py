"""The /dev/shm of a training container: which volume is mounted there."""

from __future__ import annotations

from mlxtpl.manifest import Part

PATH = "/dev/shm"  # noqa: S108 - the path in the container


def mounted(template: Part, container: Part) -> Part | None:
    """The volume at /dev/shm; None when there is none, or the mount names one that the pod does not have."""
    names = [
        each.text("name")
        for each in container.items("volumeMounts")
        if str(each.value.get("mountPath")).rstrip("/") == PATH
    ]
    return next((each for each in template.items("spec", "volumes") if each.text("name") in names[-1:]), None)
