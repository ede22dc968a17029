"""NVIDIA's images and drivers: the verdicts of the CUDA Compatibility guide's rules, worked out by hand."""

from __future__ import annotations

import pytest

from mlxtpl.gpu_images import image_of, images, verdict


@pytest.mark.parametrize(
    ("image", "driver", "wanted"),
    [
        # CUDA 12.1.0 came with 530.30.02; 12.x runs from 525.60.13 on.
        ("nvcr.io/nvidia/pytorch:23.03-py3", "535.129.03", "native"),
        ("nvcr.io/nvidia/pytorch:23.03-py3", "530.30.02", "native"),
        ("nvcr.io/nvidia/pytorch:23.03-py3", "530.30.01", "minor-version"),
        ("nvcr.io/nvidia/pytorch:23.03-py3", "525.60.13", "minor-version"),
        ("nvcr.io/nvidia/pytorch:23.03-py3", "525.60.12", "fails"),
        # CUDA 12.4.1 came with 550.54.15.
        ("nvcr.io/nvidia/pytorch:24.05-py3", "535.129", "minor-version"),
        ("nvcr.io/nvidia/pytorch:24.05-py3", "550", "native"),
        # CUDA 13 needs 580.65.06, unless the branch is listed.
        ("nvcr.io/nvidia/pytorch:26.09-py3", "535.129", "unknown"),
        ("nvcr.io/nvidia/pytorch:26.09-py3", "580.95.05", "minor-version"),
        # 12.3.2 is not in the toolkit table: that of 12.3.1 counts, 545.23.08.
        ("nvcr.io/nvidia/pytorch:24.01-py3", "545.23.08", "native"),
        # 11.6.0: 510.39.01; runs from 450.80.02; its compat list has 440.33 and 418.40.
        ("nvcr.io/nvidia/pytorch:22.01-py3", "440.64", "forward-compat"),
        ("nvcr.io/nvidia/pytorch:22.01-py3", "440.32", "fails"),
        ("nvcr.io/nvidia/pytorch:22.01-py3", "430.50", "fails"),
        ("pytorch/pytorch:2.3.0-cuda12.1-cudnn8-runtime", "525.85.12", "minor-version"),
        ("registry.example.com/train:2.1-cu118", "470.82", "minor-version"),
        ("nvidia/cuda:12.4.1-devel-ubuntu22.04", "550.54.15", "native"),
        # A driver without its last number may be any of that branch: 525.60.13, 530.30.02, 580.65.06, 450.80.02.
        ("nvcr.io/nvidia/pytorch:23.03-py3", "525.60", "minor-version"),
        ("nvcr.io/nvidia/pytorch:23.03-py3", "530.30", "native"),
        ("nvcr.io/nvidia/pytorch:25.09-py3", "580.65", "minor-version"),
        ("nvidia/cuda:11.8.0-base-ubuntu22.04", "450.80", "minor-version"),
        # 11.1 and 11.2 are older than the table: what runs 11.4.4 (470.82.01) in full runs them too.
        ("pytorch/pytorch:1.9.0-cuda11.1-cudnn8-runtime", "535.129.03", "native"),
        ("nvidia/cuda:11.2.2-base-ubuntu20.04", "470.82.01", "native"),
        ("example.com/old:cuda10.2", "440.33", ""),
    ],
)
def test_verdict(image: str, driver: str, wanted: str) -> None:
    """The strongest rule that holds."""
    found = image_of(image)
    assert found is not None
    assert verdict(found, driver) == wanted


@pytest.mark.parametrize(
    "image", ["example.com/mnist:1.0", "mnist", "localhost:5000/mnist", "x/y@sha256:aa", "x/y:23.13-py3", "x:12.1.0"]
)
def test_says_nothing(image: str) -> None:
    """A tag that is no NVIDIA tag says nothing of CUDA."""
    assert image_of(image) is None


def test_images() -> None:
    """Every image has its CUDA, and the newest one is last."""
    assert all(each["cuda"].count(".") == 2 for each in images().values())
    assert list(images())[-1] == "26.09-py3"
