"""How a container starts torchrun: its options, in a command or a shell's script, and the processes that come of them."""

from __future__ import annotations

import re
from functools import lru_cache

from mlxtpl.manifest import Part, launch

_SHELL = re.compile(r"(.*/)?(ba|da|z|k|a)?sh")
_LAUNCHER = re.compile(r"(.*/)?torchrun|torch\.distributed\.(run|launch)")
_SWITCHES = ("standalone", "m", "module", "no-python", "run-path", "use-env")
_FROM_THE_JOB = (None, "$PET_NPROC_PER_NODE", "${PET_NPROC_PER_NODE}", "$(PET_NPROC_PER_NODE)")


def processes(container: Part) -> tuple[Part, int] | None:
    """(where it is written, how many processes torchrun starts in a pod); None when no number is written."""
    flags = {each.get("nproc-per-node") for each in launches(container)}
    if flags <= set(_FROM_THE_JOB):
        return of_job(container)
    flag = flags.pop()
    if flags or flag is None or not _is_count(flag):
        return None
    return flag_place(container, "nproc.per.node"), int(flag)


def of_job(container: Part) -> tuple[Part, int] | None:
    """(where it is written, how many processes per node a PyTorchJob asks for)."""
    spec = container._replace(path=("spec",), value=container.obj.get("spec"))
    if container.obj.get("kind") != "PyTorchJob":
        return None
    if spec.map().get("nprocPerNode") is not None:
        text = spec.text("nprocPerNode")
        return (spec.at("nprocPerNode"), int(text)) if _is_count(text) else None
    count = spec.integer("elasticPolicy", "nProcPerNode")
    return None if count is None else (spec.at("elasticPolicy", "nProcPerNode"), count)


def launches(container: Part) -> list[dict[str, str]]:
    """The options, without their dashes, of each torchrun that a container's command plainly starts."""
    return _launches(tuple(launch(container)))


@lru_cache(64)  # ten rules ask for the same container
def _launches(given: tuple[str, ...]) -> list[dict[str, str]]:
    commands, script = [list(given)], _script(given)
    if script:
        parts = re.split(r"[;&|()\n]+", re.sub(r"\\\r?\n", " ", script))
        commands = [[word.strip("\"'") for word in re.sub(r"(^|\s)#.*", "", each).split()] for each in parts]
    found = []
    for words in commands:
        at = next((number for number, word in enumerate(words) if _LAUNCHER.fullmatch(word)), None)
        if at is not None and words[0] not in ("echo", "printf"):
            found.append(_options(words[at + 1 :]))
    return found


def shell_script(container: Part) -> str:
    """The script that a shell runs with -c; empty when there is none."""
    return _script(tuple(launch(container)))


@lru_cache(64)
def _script(words: tuple[str, ...]) -> str:
    for number, word in enumerate(words):
        for at in range(number + 1, len(words) - 1) if _SHELL.fullmatch(word) else ():
            if re.fullmatch(r"-[a-zA-Z]*c", words[at]):
                return words[at + 1]
            if words[at][:1] not in ("-", "+") and not re.fullmatch(r"[-+][a-z]*o", words[at - 1]):
                break
    return ""


def flag_place(container: Part, flag: str) -> Part:
    """The word of the command that a flag, as a regular expression, is in."""
    for field in ("command", "args"):
        words = container.at(field).value
        for number, word in enumerate(words if isinstance(words, list) else []):
            if re.search(f"--?{flag}", str(word)):
                return container.at(field, number)
    return container.at("command")


def _options(words: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            break  # the training script: what follows are its own arguments
        name, equals, value = word.partition("=")
        name = name.lstrip("-").replace("_", "-")
        found[name] = value.strip("\"'") if equals or name in _SWITCHES else next(rest, "")
    return found


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 9
