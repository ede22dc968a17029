"""The backoffLimit of a PyTorchJob has nothing to count.

## Why   it is compared with the restarts of containers. With restartPolicy Never the first pod that fails ends the job;
         with ExitCode a pod is made anew, and its containers never restart
## Bad   runPolicy: {backoffLimit: 6} with restartPolicy: Never
## Good  runPolicy: {backoffLimit: 6} with restartPolicy: OnFailure, or no backoffLimit
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject

ID = "backoff-never-counts"
LEVEL = "info"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/controller.v1/common/job.go and pkg/core/job.go at v1.9.4; issue 2045 of kubeflow/trainer.

    A limit of 0 ends the job at the first failed pod, whatever the policy.
    """
    for part in subject.parts("PyTorchJob"):
        found = [each.value.get("restartPolicy") for each in part.items("spec", "pytorchReplicaSpecs")]
        if (
            part.integer("spec", "runPolicy", "backoffLimit")
            and found
            and all(x in ("Never", "ExitCode") for x in found)
        ):
            policies = " and ".join(dict.fromkeys(found))
            message = f"has no effect with restartPolicy {policies}"
            yield part.finding(message, "spec", "runPolicy", "backoffLimit")
