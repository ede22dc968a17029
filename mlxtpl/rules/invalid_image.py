"""The reference of an image is none.

## Why   the kubelet cannot even try to pull it: InvalidImageName; the pod waits for ever
## Bad   image: "nvcr.io/nvidia/pytorch: 24.05-py3", image: https://nvcr.io/…, image: nvcr.io/NVIDIA/PyTorch:24.05-py3
## Good  image: nvcr.io/nvidia/pytorch:24.05-py3
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject

ID = "invalid-image"
LEVEL = "error"
_PATH = re.compile(r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*")
_REGISTRY = re.compile(r"[A-Za-z0-9.-]+(:[0-9]+)?|\[[0-9a-fA-F:]+\](:[0-9]+)?")
_TAG = re.compile(r"\w[\w.-]{0,127}", re.ASCII)


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the grammar in github.com/distribution/reference."""
    for container in subject.containers():
        image = container.text("image")
        # What is still to be filled in is told by placeholder.
        if image and not any(char in image for char in "{}<>$") and not _is_reference(image):
            yield container.finding(f'must be an image such as registry/name:tag, found "{image}"', "image")


def _is_reference(image: str) -> bool:
    name, _, digest = image.partition("@")
    head, slash, rest = name.partition("/")
    has_registry = slash and ("." in head or ":" in head or head == "localhost" or head.lower() != head)
    registry, path = (head, rest) if has_registry else ("", name)
    path, colon, tag = path.partition(":")
    good = all(_PATH.fullmatch(each) for each in path.split("/")) and (not registry or _REGISTRY.fullmatch(registry))
    return bool(good) and (not colon or _TAG.fullmatch(tag) is not None) and (not digest or ":" in digest)
