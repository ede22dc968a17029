"""The image's CUDA is newer than what the driver of the nodes runs.

## Why   CUDA does not start: "CUDA driver version is insufficient for CUDA runtime version", error 35, 803 or 804. Told only
         when the driver is known (--driver, or lint.driver in values) and the image's tag says its CUDA
## Bad   image: nvcr.io/nvidia/pytorch:24.05-py3 (CUDA 12.4) on nodes with driver 460.106
## Good  image: nvcr.io/nvidia/pytorch:22.12-py3 (CUDA 11.8)
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl import gpu_images
from mlxtpl.manifest import TRAINING, Finding, Subject

ID = "image-newer-than-driver"
LEVEL = "error"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the platform's guide, "NVIDIA Driver와 호환되는 CUDA"; the CUDA Compatibility guide."""
    for container in subject.containers(*TRAINING) if subject.driver else ():
        image = gpu_images.image_of(container.text("image"))
        if image is not None and gpu_images.verdict(image, subject.driver) == "fails":
            said = f"{image.tag}, by its tag: " if image.tag else ""
            message = f"has CUDA {image.cuda} ({said}needs driver {gpu_images.minimum(image.cuda)} or newer)"
            message += f"; the nodes have {subject.driver}"
            yield container.finding(message, "image", hint=_hint(subject.driver))


def _hint(driver: str) -> str:
    """The newest of NVIDIA's images that the driver runs."""
    good = [
        tag
        for tag, row in gpu_images.images().items()
        if gpu_images.verdict(gpu_images.Image(row["cuda"]), driver) in ("native", "minor-version")
    ]
    return f"the newest of NVIDIA's images for this driver is {good[-1]}" if good else ""
