"""The domain filters of templates: argument maps, the torchrun launcher, content hashes.

Each takes and gives plain data and raises ValueError with a message for the person whose values reached it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

_PYTHON = re.compile(r"(.*/)?python(3(\.[0-9]+)?)?")


def flags(args: Any) -> list[str]:
    """Arguments as a list: a list stays, a map becomes command-line flags.

    >>> flags({"lr": "1e-4", "min-lr": "-1e-4", "amp": True, "resume": False, "seeds": ["1", "2"]})
    ['--lr', '1e-4', '--min-lr=-1e-4', '--amp', '--seeds', '1', '2']
    >>> flags({"-v": True, "trainer.max_steps=": "10", "note": "", "model": None})
    ['-v', 'trainer.max_steps=10', '--note=']
    >>> flags({"tags=": ["a", "b"], "skip": []})
    ['tags=a', 'tags=b']
    >>> flags({"seeds": ["1", None]})
    ['--seeds', '1']
    """
    if args is None:
        return []
    if not isinstance(args, Mapping):
        return list(args)
    words: list[str] = []
    for key, value in args.items():
        words += _flag(key, value)
    return words


def _flag(key: str, value: Any) -> list[str]:
    if value is None or value is False:
        return []
    if key.endswith("="):
        return [f"{key}{_word(each)}" for each in (value if isinstance(value, list) else [value]) if each is not None]
    name = key if key.startswith("-") else f"--{key}"
    if value is True:
        return [name]
    if isinstance(value, list):
        # The first word decides whether the parser would take the list for another flag.
        words = [_word(each) for each in value if each is not None]
        return [name, *words] if words else []
    word = _word(value)
    # argparse takes "-1e-4" for a flag, and an empty word is lost in many a shell script.
    return [f"{name}={word}"] if word == "" or word.startswith("-") else [name, word]


def _word(value: Any) -> str:
    return "true" if value is True else "false" if value is False else "" if value is None else str(value)


def torchrun(command: list[str] | None, args: Any = None) -> dict[str, list[str]]:
    """The command and arguments that start a python command through torchrun; any other stays as it is.

    torchrun reads the operator's PET_* variables by itself, so no flag is added.

    >>> torchrun(["python", "-u", "train.py"], {"lr": "1e-4"})
    {'command': ['torchrun'], 'args': ['train.py', '--lr', '1e-4']}
    >>> torchrun(["python3"], ["-m", "pkg.train"])
    {'command': ['torchrun'], 'args': ['-m', 'pkg.train']}
    >>> torchrun(["bash", "-c", "torchrun train.py"])
    {}

    Raises:
        ValueError: a python option that torchrun does not have, or no script at all.
    """
    if not command or not _PYTHON.fullmatch(command[0]):
        return {}
    words = command[1:] + flags(args)
    while words and words[0] == "-u":  # the operator sets PYTHONUNBUFFERED
        words = words[1:]
    if words[:2] == ["-m", "torch.distributed.run"] or words[:2] == ["-m", "torch.distributed.launch"]:
        return {}
    if not words or (words[0] == "-m" and len(words) < 2):
        raise ValueError("the command names no script for torchrun to start")
    if words[0].startswith("-") and words[0] != "-m":
        raise ValueError(
            f"torchrun has no python option {words[0]}; use the variable that stands for it "
            "(PYTHONOPTIMIZE, PYTHONWARNINGS, …), or distributed.launcher: none"
        )
    return {"command": ["torchrun"], "args": words}


def contenthash(value: Any) -> str:
    """Ten hexadecimal digits that change with the content.

    >>> contenthash({"a": "1"}) == contenthash({"a": "1"}) != contenthash({"a": "2"})
    True
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def mounts(volumes: Any, files: Any = None) -> list[dict[str, Any]]:
    """Every path at which the volumes and files of a values file are mounted, and the key that says so.

    >>> mounts({"a": {"mountPath": "/data/"}, "b": {"mounts": {"/x": True, "/y": None}}, "c": None}, {"/f": {}})
    ... # doctest: +NORMALIZE_WHITESPACE
    [{'path': '/data', 'at': ['volumes', 'a', 'mountPath']},
     {'path': '/x', 'at': ['volumes', 'b', 'mounts', '/x']},
     {'path': '/f', 'at': ['files', '/f']}]
    """
    found: list[tuple[str, list[str]]] = []
    for name, volume in (volumes or {}).items():
        if volume and volume.get("mountPath"):
            found.append((volume["mountPath"], ["volumes", name, "mountPath"]))
        paths = (volume or {}).get("mounts") or {}
        found += [(path, ["volumes", name, "mounts", path]) for path, mount in paths.items() if mount is not None]
    found += [(path, ["files", path]) for path in files or {}]
    return [{"path": path.rstrip("/") or "/", "at": at} for path, at in found]


FILTERS: dict[str, Callable[..., Any]] = {
    "contenthash": contenthash,
    "flags": flags,
    "mounts": mounts,
    "torchrun": torchrun,
}
