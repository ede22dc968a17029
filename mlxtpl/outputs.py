"""Rendered files in a directory: replaced atomically and only when they differ, or compared with what is there."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from mlxtpl.errors import OutputError, Problem

# Ends in .tmp, so that `kubectl apply -f DIR` never takes what a killed run left.
_TEMPORARY = ".mlxtpl-"
_LEFT = re.compile(r"\.mlxtpl-([0-9]+)-[0-9a-f]{16}\.tmp")
# A values file never has this; what does not is somebody's own.
_MANIFEST = re.compile(rb"^apiVersion:", re.MULTILINE)


def write_file(directory: Path, name: str, text: str, *, manifest: bool = True) -> bool:
    """Replace one file of a directory by a rename, so that a reader sees the old text or the new one.

    Args:
        manifest: only a manifest is replaced, never what somebody else may have put there.

    Returns:
        whether the file was written; False when it had this very text, and its time stamp stays.

    Raises:
        OutputError: the disk is full, the directory is read-only, the old file is no manifest …; it is still there.
    """
    data = text.encode("utf-8")
    target = directory / name
    try:
        if target.is_symlink():
            target = target.resolve()
        short = hashlib.sha256(os.fsencode(name)).hexdigest()[:16]
        temporary = target.parent / f"{_TEMPORARY}{os.getpid()}-{short}.tmp"
        with contextlib.suppress(FileNotFoundError):
            old = target.read_bytes()
            if old == data:
                return False
            if manifest and old.strip() and not _MANIFEST.search(old):
                hint = "choose a directory for rendered files alone"
                raise OutputError(Problem("is no rendered manifest and is left as it is", str(target), hint=hint))
        try:
            with temporary.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            with contextlib.suppress(FileNotFoundError):
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            temporary.replace(target)
        finally:
            # After the rename there is nothing to remove; after an error or ^C there may be.
            temporary.unlink(missing_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OutputError(Problem(f"cannot write the file: {reason}", str(target))) from None
    return True


def make_directory(directory: Path) -> None:
    """Make the directory of the output, and remove what a killed run left in it.

    Raises:
        OutputError: it cannot be made.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for left in directory.glob(f"{_TEMPORARY}*.tmp"):
            match = _LEFT.fullmatch(left.name)
            if match and not _alive(match[1]) and left.is_file():
                left.unlink(missing_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OutputError(Problem(f"cannot make the directory: {reason}", str(directory))) from None


def differences(directory: Path, wanted: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Compare a directory with what would be written there.

    Yields:
        (file name, `missing`, `differs` or `no longer made`, a unified diff) for each difference, by name.

    Raises:
        OutputError: a file cannot be read.
    """
    import difflib  # a cold start has no use for it

    if directory.exists() and not directory.is_dir():
        raise OutputError(Problem("is no directory", str(directory)))
    there = {path.name for path in directory.glob("*.yaml") if path.name[0] != "."} if directory.is_dir() else set()
    for name in sorted(there | set(wanted)):
        path = directory / name
        try:
            old = path.read_bytes().decode("utf-8", "replace") if path.exists() else ""
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise OutputError(Problem(f"cannot read the file: {reason}", str(path))) from None
        new = wanted.get(name, "")
        if name not in wanted:
            yield name, "no longer made", ""
        elif old != new or not path.exists():
            shown = str(path).encode("utf-8", "backslashreplace").decode()
            lines = difflib.unified_diff(
                old.splitlines(keepends=True), new.splitlines(keepends=True), shown, f"{shown} (rendered)"
            )
            yield name, "differs" if path.exists() else "missing", "".join(lines)


def _alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ValueError, OverflowError, ProcessLookupError):
        return False
    except OSError:
        return True
    return True
