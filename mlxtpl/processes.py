"""One function over many items, on all cores, results in order."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")
# Below this the second core gains less than its start costs (see benchmarks/).
_WORTH = 200
_MOST = 8


def ordered(function: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
    """`function(item)` for each item, in order; what it returns must be picklable.

    For many items forked processes take every n-th item each and write their results into a pipe. A process whose
    parent is gone finds its pipe broken and ends; one that is ahead waits until the parent has read.

    Raises:
        Exception: whatever the function raises.
    """
    count = min(_cores(), _MOST) if len(items) >= _WORTH else 1
    if count < 2:
        yield from map(function, items)
        return
    sys.stdout.flush()
    sys.stderr.flush()
    readers: list[IO[bytes]] = []
    children: list[int] = []
    try:
        for first in range(count):
            source, target = os.pipe()
            readers.append(os.fdopen(source, "rb"))
            child = os.fork()
            if child == 0:
                _work(function, items[first::count], target, readers)
            os.close(target)
            children.append(child)
        for number in range(len(items)):
            try:
                failed, result = pickle.load(readers[number % count])  # noqa: S301 - our own process wrote it
            except EOFError:
                raise ChildProcessError("a rendering process was killed") from None
            if failed:
                raise result
            yield result
    finally:
        for reader in readers:
            reader.close()
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGTERM)
        for child in children:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)


def _work(function: Callable[[T], Any], items: Sequence[T], target: int, readers: Sequence[IO[bytes]]) -> None:
    """What a child does; it never returns."""
    code = 0
    try:
        for reader in readers:
            reader.close()  # else the pipe would not break with the parent
        with os.fdopen(target, "wb") as pipe:
            for item in items:
                try:
                    message = pickle.dumps((False, function(item)))
                except Exception as error:  # noqa: BLE001 - the parent raises it
                    message = pickle.dumps((True, error))
                pipe.write(message)
                pipe.flush()
    except BaseException:  # noqa: BLE001 - ^C, or the parent is gone
        code = 1
    finally:
        os._exit(code)


def _cores() -> int:
    if not hasattr(os, "fork"):
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
