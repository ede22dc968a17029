"""The image's CUDA is newer than the driver of the nodes, which runs it in a compatibility mode.

## Why   minor version compatibility: most things work, but nothing can compile PTX of the newer toolkit, and some features
         are missing. Forward compatibility: the image's own libraries are used, on data-centre GPUs only
## Bad   image: nvcr.io/nvidia/pytorch:24.05-py3 (toolkit driver 550) on nodes with driver 535.129
## Good  the same on nodes with driver 550.54.15
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl import gpu_images
from mlxtpl.manifest import TRAINING, Finding, Subject

ID = "driver-compat-mode"
LEVEL = "info"
_WORDS = {
    "minor-version": "in minor version compatibility: no PTX of the newer toolkit can be compiled",
    "forward-compat": "with the compatibility libraries of the image, on data-centre GPUs only",
}


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the CUDA Compatibility guide."""
    for container in subject.containers(*TRAINING) if subject.driver else ():
        image = gpu_images.image_of(container.text("image"))
        if image is None:
            continue
        found = gpu_images.verdict(image, subject.driver)
        words = _WORDS.get(found)
        if found == "unknown":
            message = (
                f"has CUDA {image.cuda}, which needs driver {gpu_images.minimum(image.cuda)} or newer, or compatibility"
            )
            yield container.finding(f"{message} libraries for driver {subject.driver} in the image", "image")
        if words:
            yield container.finding(f"has CUDA {image.cuda}, which driver {subject.driver} runs {words}", "image")
