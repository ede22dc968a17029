"""Compiled templates, kept between runs as Python keeps its own in __pycache__: compiling is half of a cold start.

They lie in ~/.cache/mlxtpl (or $XDG_CACHE_HOME), which must belong to the user alone, since what lies there is run.
Whatever goes wrong with the cache, the template is compiled again; the output never depends on it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket, BytecodeCache

from mlxtpl import __version__


class CompiledTemplates(BytecodeCache):
    """A cache of one environment's templates; use `open_cache`."""

    def __init__(self, directory: Path, owner: str) -> None:
        self._directory, self._owner = directory, owner

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """A file name for a template of this environment; the template's text is checked besides."""
        return hashlib.sha256(f"{self._owner}\0{name}".encode()).hexdigest()[:32]

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill the bucket, or leave it empty."""
        try:
            with (self._directory / bucket.key).open("rb") as file:
                bucket.load_bytecode(file)
        except Exception:  # noqa: BLE001 - missing, cut short, of another Python: compile again
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the bucket, when that is possible."""
        temporary = self._directory / f"{bucket.key}.{os.getpid()}"
        with contextlib.suppress(OSError):
            try:
                with temporary.open("wb") as file:
                    bucket.write_bytecode(file)
                temporary.replace(self._directory / bucket.key)
            finally:
                temporary.unlink(missing_ok=True)


def open_cache(root: Path) -> CompiledTemplates | None:
    """The cache for the templates below a root; None when there is no directory that only this user writes."""
    # What compiles is part of the name: this version, its sandbox as it is now, and Jinja's.
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
        if not base.is_absolute():
            return None
        compiler = Path(__file__).with_name("sandbox.py").stat().st_mtime_ns
        directory = base / "mlxtpl" / f"{__version__}-{compiler:x}-{jinja2.__version__}"
        if not directory.exists():
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            for old in directory.parent.iterdir():
                if old != directory:
                    shutil.rmtree(old, ignore_errors=True)
        status = directory.stat()
    except (OSError, ValueError, RuntimeError):
        return None
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o022):
        return None
    return CompiledTemplates(directory, str(root.resolve()))
