"""A PyTorchJob that fails again and again is restarted for ever.

## Why   without backoffLimit the operator counts nothing (a Job has 6 by default), and restartPolicy OnFailure, which is
         the default, restarts a container that crashes at its start day and night: the state stays Running, and the
         GPUs are taken
## Bad   restartPolicy: OnFailure and no runPolicy.backoffLimit
## Good  runPolicy: {backoffLimit: 6}; it is the sum of the restarts of all pods
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject

ID = "endless-restarts"
LEVEL = "warning"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/core/job.go at v1.9.4; issues 1589 and 2045 of kubeflow/trainer."""
    for part in subject.parts("PyTorchJob"):
        policy = part.at("spec", "runPolicy", "backoffLimit")
        replicas = part.items("spec", "pytorchReplicaSpecs") if policy.value is None else []
        found = [each.value.get("restartPolicy") or "OnFailure" for each in replicas]
        counted = next((each for each in found if each in ("OnFailure", "Always")), None)
        if counted:
            message = f"must be set, or restartPolicy {counted} restarts a failing job for ever"
            more = "; Always restarts what ended well, too" if counted == "Always" else ""
            yield policy.finding(message, hint=f"backoffLimit: 6 counts the restarts of all pods together{more}")
        elif "ExitCode" in found:
            # A backoffLimit would not count these: the pod is made anew, and its container never restarts.
            message = "restarts for ever a pod that ends with 128 or more"
            replica = replicas[found.index("ExitCode")]
            yield replica.finding(message, "restartPolicy", hint="OnFailure with a backoffLimit ends")
