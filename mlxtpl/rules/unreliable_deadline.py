"""The activeDeadlineSeconds of a PyTorchJob may end it late, or never.

## Why   the operator looks at the clock only when something else happens to the job: one that runs quietly, or hangs,
         goes on (kubeflow/trainer issue 3358)
## Bad   runPolicy: {activeDeadlineSeconds: 7200}
## Good  command: [timeout, 2h, torchrun], besides it or instead of it
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject, launch, training_container

ID = "unreliable-deadline"
LEVEL = "info"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/controller.v1/common/job.go at v1.9.4 (its queue never comes back by itself)."""
    for part in subject.parts("PyTorchJob"):
        containers = [training_container(each.at("template")) for each in part.items("spec", "pytorchReplicaSpecs")]
        safe = containers and all(each and "timeout" in " ".join(launch(each)).split() for each in containers)
        if part.integer("spec", "runPolicy", "activeDeadlineSeconds") is not None and not safe:
            message = "may end the job late or never: nothing wakes the operator when the time is over"
            hint = "start the command with timeout, such as timeout 2h torchrun …"
            yield part.finding(message, "spec", "runPolicy", "activeDeadlineSeconds", hint=hint)
