"""A container's image has a tag that moves.

## Why   a restarted Worker may pull another image than its peers, and nobody can tell later what was trained with
## Bad   image: example.com/mnist:latest, image: example.com/mnist
## Good  image: example.com/mnist:1.4, or a digest
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import TRAINING, Finding, Subject

ID = "moving-tag"
LEVEL = "info"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: Kubernetes, "Images": without a tag it is latest."""
    for container in subject.containers(*TRAINING):
        image = container.text("image")
        tag = image.rpartition("/")[2].partition(":")[2]
        if image and "@" not in image and tag in ("", "latest"):
            found = "the tag latest moves" if tag else "without a tag it is latest, which moves"
            yield container.finding(found, "image", hint="a version, or a digest")
