"""New training projects: the Copier template that ships with mlxtpl, copied into a directory."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mlxtpl import __version__
from mlxtpl.errors import Problem, ScaffoldError
from mlxtpl.package import data_path

# Where `copier update` finds later versions of the template, tagged v<version>.
SOURCE = "https://github.com/mlxtpl/mlxtpl.git"


def new_project(directory: Path, data: Mapping[str, Any], *, defaults: bool = False, source: str = SOURCE) -> None:
    """Write a new training project; questions without an answer are asked in the terminal.

    Args:
        directory: where to; it may be there, but empty.
        data: answers, by the names of copier.yml.
        defaults: do not ask: take the defaults of what `data` does not answer.
        source: the git URL that the answers file names, with the tag of this version, for `copier update`.

    Raises:
        ScaffoldError: the directory is not empty, an answer is no question's, or is not accepted, or one is missing.
        KeyboardInterrupt: the questions were broken off.
    """
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        hint = "choose another, or empty it; a project that is there is brought up to date by `copier update`"
        raise ScaffoldError(Problem("is there already and not empty", str(directory), hint=hint))
    from copier import run_copy
    from copier.errors import CopierError, InteractiveSessionError

    template = data_path("copier.yml").parent
    names = questions(template)
    unknown = [each for each in data if each not in names]
    if unknown:
        from mlxtpl import schema

        raise ScaffoldError(
            [Problem("no question has this name", each, hint=schema.nearest(each, names, ())) for each in unknown]
        )
    wrong = [each for name, value in data.items() if (each := _wrong_type(names[name], name, value))]
    if wrong:
        raise ScaffoldError(wrong)
    given = {**data, "source": source, "source_version": f"v{__version__}"}
    try:
        with warnings.catch_warnings(), _no_settings():
            warnings.simplefilter("ignore")  # Copier's, on the state of a checkout
            run_copy(str(template), directory, data=given, defaults=defaults, vcs_ref="HEAD", quiet=True)
    except InteractiveSessionError:
        raise ScaffoldError(_unanswered()) from None
    except (CopierError, ValueError) as error:
        if isinstance(error.__cause__, KeyboardInterrupt) or type(error).__name__ == "CopierAnswersInterrupt":
            raise KeyboardInterrupt from None
        raise ScaffoldError(_problem(str(error))) from None


def questions(template: Path) -> dict[str, Mapping[str, Any]]:
    """Name → question of the template's copier.yml, in the order in which they are asked."""
    import yaml

    loaded = yaml.safe_load((template / "copier.yml").read_text(encoding="utf-8"))
    return {name: each for name, each in loaded.items() if name[0] != "_"}


def _wrong_type(question: Mapping[str, Any], name: str, value: Any) -> Problem | None:
    """Copier's own message does not name the question."""
    text = str(value).strip().lower()
    if question["type"] == "int" and not text.isdecimal():
        return Problem(f'must be a whole number, not "{value}"', name)
    if question["type"] == "bool" and text not in ("true", "false", "yes", "no", "on", "off", "y", "n", "1", "0"):
        return Problem(f'must be true or false, not "{value}"', name)
    return None


def _problem(text: str) -> Problem:
    """Copier's words as a problem: `Validation error for question 'job': …`, `Question "project" is required`."""
    head, _, rest = text.partition(": ")
    if head.startswith("Validation error for question"):
        return Problem(f"is not accepted: {' '.join(rest.split())}", head.split("'")[1])
    if text.startswith("Question ") and text.endswith("is required"):
        name = text.split('"')[1]
        return Problem("must be answered", name, hint=f"--data {name}=…")
    return Problem(" ".join(text.split()), "copier.yml")


def _unanswered() -> Problem:
    hint = "answer with --data NAME=VALUE or --data-file FILE, and --defaults for the rest"
    return Problem("the questions need a terminal", hint=hint)


@contextlib.contextmanager
def _no_settings() -> Iterator[None]:
    """Copier without the settings file of the user: what a project is made of are its answers."""
    before = os.environ.get("COPIER_SETTINGS_PATH")
    os.environ["COPIER_SETTINGS_PATH"] = os.devnull
    try:
        yield
    finally:
        if before is None:
            del os.environ["COPIER_SETTINGS_PATH"]
        else:
            os.environ["COPIER_SETTINGS_PATH"] = before
