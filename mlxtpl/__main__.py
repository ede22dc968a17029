"""What the console script and `python -m mlxtpl` start: a process of one command, tuned to be short."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from pathlib import Path


def start() -> None:
    """Run the command line and end the process."""
    # The collector would walk what was just imported again and again; a command makes little garbage in cycles.
    gc.set_threshold(30_000)
    if sys.stderr is None:  # closed by the shell: print would then write messages to stdout
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for the whole process
    from mlxtpl.cli import main

    code = main()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        # What cannot be flushed now has been told by `main`.
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    # Taking the interpreter down takes a tenth of a cold start, and every file is closed already.
    os._exit(code)


if __name__ == "__main__":
    start()
