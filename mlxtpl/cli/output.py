"""How results and problems reach the terminal: stdout all or nothing, stderr everything else."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TextIO

from mlxtpl.errors import MlxtplError, OutputError, Problem, format_problem

PROGRESS_FROM = 50  # files, from which on a progress bar is worth its line
_RED, _YELLOW, _BLUE, _BOLD, _RESET = "\033[31m", "\033[33m", "\033[34m", "\033[1m", "\033[0m"


def is_coloured(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal that may be coloured."""
    return stream is not None and stream.isatty() and not os.environ.get("NO_COLOR")


def show_error(error: MlxtplError) -> None:
    """Print every problem of an error to stderr, coloured on a terminal."""
    coloured = is_coloured(sys.stderr)
    texts = [format_problem(problem, error.stage) for problem in error.problems]
    if coloured:
        texts = [_colour(text) for text in texts]
    print("\n\n".join(texts), file=sys.stderr)
    if len(texts) > 1:
        print(f"\n{len(texts)} problems", file=sys.stderr)


def coloured_problem(problem: Problem) -> str:
    """A problem as text for stdout, coloured on a terminal."""
    text = format_problem(problem)
    return _colour(text) if is_coloured(sys.stdout) else text


def show_warnings(problems: Sequence[Problem]) -> None:
    """Print warnings to stderr."""
    for problem in problems:
        text = format_problem(problem, "lint")
        print(_colour(text) if is_coloured(sys.stderr) else text, file=sys.stderr)


def write(text: str) -> None:
    """Write a result to stdout, as UTF-8 whatever the locale says."""
    if sys.stdout is None:  # the shell closed it
        raise OutputError(Problem("cannot write to standard output: it is closed"))
    sys.stdout.flush()
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(text)
    else:
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError as error:
            char = ord(text[error.start])
            raise OutputError(Problem(f"the result has a lone surrogate (U+{char:04X}), which is no UTF-8")) from None
        try:
            stream.write(data)
            stream.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            # What is left in the buffer would fail again when the interpreter ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            reason = (error.strerror or str(error)).lower()
            raise OutputError(Problem(f"cannot write to standard output: {reason}")) from None


def _colour(text: str) -> str:
    lines = text.split("\n")
    level, _, rest = lines[0].partition(":")
    lines[0] = f"{_BOLD}{_RED if level == 'error' else _YELLOW}{level}{_RESET}{_BOLD}:{rest}{_RESET}"
    for number, line in enumerate(lines[1:], 1):
        bare = line.strip()
        if set(bare.split("|")[-1].strip()) == {"^"}:
            lines[number] = line.replace("^", f"{_RED}^", 1) + _RESET
        elif bare.startswith(("-->", "hint:")):
            word = bare.split(" ")[0]
            lines[number] = line.replace(word, f"{_BLUE}{word}{_RESET}", 1)
    return "\n".join(lines)
