"""Images with CUDA, and whether a node's NVIDIA driver runs them; the facts are in gpu_images.yaml."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from mlxtpl import yamlio
from mlxtpl.resources import plain

_NGC_TAG = re.compile(r"(?:.*[-_.])?([0-9]{2}\.[0-9]{2}-py3)(?:[-_.].*)?")
_IN_TAG = re.compile(r"(?:^|[-_.])(?:cuda-?([0-9]{2}\.[0-9](?:\.[0-9])?)|cu([0-9]{2})([0-9]))(?![0-9])")
_CUDA_TAG = re.compile(r"([0-9]{2}\.[0-9](?:\.[0-9])?)(?:-.*)?")
_ANY = 10**6


class Image(NamedTuple):
    """What is known of an image: its CUDA, the tag of NVIDIA's PyTorch image that says so (or ""), and where it runs."""

    cuda: str
    tag: str = ""
    compat: tuple[str, ...] = ()


@lru_cache(1)
def _facts() -> Any:
    node = yamlio.load_one(yamlio.read_source(Path(__file__).with_name("gpu_images.yaml")))
    assert node is not None
    return plain(node)


def images() -> dict[str, dict[str, Any]]:
    """Tag → {cuda, pytorch, python, compat} of NVIDIA's PyTorch images, oldest first; what is not known is left out."""
    return dict(_facts()["images"])


def image_of(reference: str) -> Image | None:
    """What an image reference says of its CUDA; None when it says nothing.

    >>> image_of("nvcr.io/nvidia/pytorch:24.05-py3").cuda, image_of("example.com/mnist:v2-23.03-py3").cuda
    ('12.4.1', '12.1.0')
    >>> [image_of(f"x/y:{tag}") and image_of(f"x/y:{tag}").cuda for tag in ("2.3.0-cuda12.1-cudnn8", "cu118", "latest")]
    ['12.1', '11.8', None]
    """
    name, _, tag = reference.partition("@")[0].rpartition(":")
    if not name or "/" in tag:
        return None
    match = _NGC_TAG.fullmatch(tag)
    row = images().get(match[1]) if match else None
    if match and row:
        return Image(row["cuda"], match[1], tuple(row.get("compat", ())))
    match = _IN_TAG.search(tag)
    if match:
        return Image(match[1] or f"{match[2]}.{match[3]}")
    match = _CUDA_TAG.fullmatch(tag)
    return Image(match[1]) if match and name.endswith("nvidia/cuda") else None


def verdict(image: Image, driver: str) -> str:
    """native, minor-version, forward-compat or fails; unknown when it depends on an image's compatibility libraries, of
    which no source says what they run on; "" when nothing is known of this CUDA.

    Source: the CUDA Compatibility guide. Driver of the toolkit or newer: everything works. Else the least driver of the
    major version: it runs, without compiling PTX of the newer toolkit. Else a data-centre GPU with a driver of a listed
    branch: the image's compatibility libraries. Else CUDA fails to start.

    >>> verdict(Image("12.4.1", compat=("470.57",)), "550.90"), verdict(Image("12.4.1"), "535.129")
    ('native', 'minor-version')
    >>> verdict(Image("12.4.1", compat=("470.57",)), "470.141"), verdict(Image("12.4.1"), "470.141")
    ('forward-compat', 'unknown')
    """
    have = _version(driver, _ANY)
    least = minimum(image.cuda)
    if not least:
        return ""
    toolkit = _toolkit(image.cuda)
    if toolkit and have >= _version(toolkit):
        return "native"
    if have >= _version(least):
        return "minor-version"
    branches = [_version(each) for each in image.compat]
    if any(have[0] == branch[0] and have[:2] >= branch[:2] for branch in branches):
        return "forward-compat"
    return "fails" if image.compat else "unknown"


def minimum(cuda: str) -> str:
    """The least driver that runs a CUDA version on any GPU; empty when that is not known."""
    return str(_facts()["minor_version_compat"].get(cuda.partition(".")[0], ""))


def _toolkit(cuda: str) -> str:
    """The driver of the toolkit: of this patch or the nearest lower one, else of the next toolkit, which does as well."""
    drivers = {_version(each): str(driver) for each, driver in _facts()["toolkit_driver"].items()}
    wanted = _version(cuda)
    lower = [each for each in drivers if each[:2] == wanted[:2] and each <= wanted]
    higher = [each for each in drivers if each > wanted]
    return drivers[max(lower) if lower else min(higher)] if lower or higher else ""


def _version(version: str, missing: int = 0) -> tuple[int, ...]:
    """A version's three numbers; a driver that leaves some out stands for the newest of its branch."""
    parts = [int(each) for each in version.split(".") if each.isdecimal()]
    return tuple([*parts, missing, missing, missing][:3])
