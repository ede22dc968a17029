"""A replica of a PyTorchJob has no container named pytorch, or a container has no image.

## Why   the operator's webhook refuses it: must have at least one container with name pytorch
## Bad   containers: [{name: main, image: …}]
## Good  containers: [{name: pytorch, image: …}]
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Edit, Finding, Subject

ID = "missing-training-container"
LEVEL = "error"


def check(subject: Subject) -> Iterator[Finding]:
    """Look into each pod template (webhook: pkg/webhooks/pytorch/pytorchjob_webhook.go, v1.9.4)."""
    for template in subject.templates():
        containers = template.items("spec", "containers")
        names = [each.text("name") for each in containers]
        if not containers:
            yield template.finding("must have a container, found none", "spec", "containers")
        elif template.obj["kind"] == "PyTorchJob" and "pytorch" not in names:
            # Which of several is meant is not known.
            only = (Edit("set", (*containers[0].path, "name"), "pytorch"),) if len(containers) == 1 else ()
            message = f"must have a container named pytorch, found {', '.join(names)}"
            hint = "rename the training container"
            yield containers[0].finding(message, "name", hint=hint, edits=only)
        for container in containers:
            if not container.value.get("image"):
                yield container.finding("must have an image", "image")
