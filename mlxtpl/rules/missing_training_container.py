"""A replica of a PyTorchJob has no container named pytorch, or a container has no image.

## Why   the operator's webhook refuses it: must have at least one container with name pytorch; without containers:
         must be specified; without an image: must be required
## Bad   containers: [{name: main, image: …}]
## Good  containers: [{name: pytorch, image: …}]
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Edit, Finding, Part, Subject

ID = "missing-training-container"
LEVEL = "error"


def check(subject: Subject) -> Iterator[Finding]:
    """Look into each pod template (webhook: pkg/webhooks/pytorch/pytorchjob_webhook.go, v1.9.4)."""
    for replica in subject.replicas():
        if replica.at("template").value is None:
            yield replica.finding("must have a container, found none", "template", "spec", "containers")
    for template in subject.templates():
        containers = template.items("spec", "containers")
        if not containers and template.at("spec", "containers").value in (None, []):
            yield template.finding("must have a container, found none", "spec", "containers")
        elif containers and template.obj["kind"] == "PyTorchJob":
            yield from _named(containers)
        for container in (*template.items("spec", "initContainers"), *containers):
            if not container.value.get("image"):
                yield container.finding("must have an image", "image")


def _named(containers: list[Part]) -> Iterator[Finding]:
    names = [each.text("name") for each in containers]
    if "pytorch" not in names:
        # Which of several is meant is not known.
        only = (Edit("set", (*containers[0].path, "name"), "pytorch"),) if len(containers) == 1 else ()
        message = f"must have a container named pytorch, found {', '.join(names)}"
        yield containers[0].finding(message, "name", hint="rename the training container", edits=only)
