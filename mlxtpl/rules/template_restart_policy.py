"""A pod template of a PyTorchJob has a restartPolicy.

## Why   the operator overwrites it with the restartPolicy of the replica (OnFailure, when that has none) and warns:
         event SetPodTemplateRestartPolicy
## Bad   Worker: {template: {spec: {restartPolicy: Never}}}
## Good  Worker: {restartPolicy: Never, template: …}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Edit, Finding, Subject

ID = "template-restart-policy"
LEVEL = "warning"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/core/pod.go and pkg/controller.v1/pytorch/pytorchjob_controller.go at v1.9.4."""
    for replica in subject.replicas():
        path, own = (*replica.path, "template", "spec", "restartPolicy"), replica.text("restartPolicy")
        if replica.text("template", "spec", "restartPolicy"):
            message = f"is overwritten by that of the replica, {own or 'OnFailure by default'}"
            # Without a policy of the replica this one is what was meant, but not what runs.
            edits = (Edit("remove", path),) if own else ()
            yield replica.finding(message, *path[len(replica.path) :], hint="write it beside replicas", edits=edits)
