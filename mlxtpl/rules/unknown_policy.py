"""A policy of a PyTorchJob has a value that the operator does not know.

## Why   any text is let in. With an unknown restartPolicy no pod is created (Unsupported value); with an unknown
         cleanPodPolicy, such as none, all pods are deleted at the end, and their logs with them. An unknown managedBy
         the operator's webhook refuses: spec.runPolicy.managedBy: Unsupported value
## Bad   runPolicy: {cleanPodPolicy: none}
## Good  runPolicy: {cleanPodPolicy: None}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Edit, Finding, Part, Subject

ID = "unknown-policy"
LEVEL = "error"
_CLEAN = ("None", "Running", "All")
_RESTART = ("OnFailure", "Never", "Always", "ExitCode")
_MANAGERS = ("kubeflow.org/training-operator", "kueue.x-k8s.io/multikueue")


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/controller.v1/common/job.go, pkg/core/pod.go and pkg/common/util/webhooks.go at v1.9.4."""
    for part in subject.parts("PyTorchJob"):
        policy = part.at("spec", "runPolicy")
        # An empty text stands for the default, but not of managedBy.
        yield from _known(policy, "cleanPodPolicy", (*_CLEAN, ""))
        yield from _known(policy, "managedBy", _MANAGERS)
        for replica in part.items("spec", "pytorchReplicaSpecs"):
            yield from _known(replica, "restartPolicy", (*_RESTART, ""))


def _known(parent: Part, name: str, values: tuple[str, ...]) -> Iterator[Finding]:
    value = parent.at(name).value
    if isinstance(value, str) and value not in values:
        right = next((each for each in values if each.lower() == value.lower()), None)
        edits = (Edit("set", (*parent.path, name), right),) if right else ()
        message = f'must be one of {", ".join(each for each in values if each)}, found "{value}"'
        yield parent.finding(message, name, edits=edits)
