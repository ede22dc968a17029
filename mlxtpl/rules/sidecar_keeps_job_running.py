"""A Job has a second container beside the one that trains.

## Why   a Job's pod is done when all of its containers are: a container that runs for ever (a log shipper, a proxy) keeps
         the Job, and its GPUs, for ever
## Bad   containers: [{name: main, …}, {name: logs, …}]
## Good  initContainers: [{name: logs, restartPolicy: Always, …}], a native sidecar (Kubernetes 1.29)
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject, training_container

ID = "sidecar-keeps-job-running"
LEVEL = "warning"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: Kubernetes, "Sidecar Containers" and "Pod lifecycle"."""
    for template in subject.templates("Job", "CronJob"):
        training = training_container(template)
        for container in template.items("spec", "containers"):
            if training is not None and container.path != training.path:
                message = "must end by itself, or the Job never does"
                yield container.finding(message, "name", hint="sidecars: in a values file makes a native sidecar of it")
