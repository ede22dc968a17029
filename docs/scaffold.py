"""Writes the generated parts of the scaffold, or with --check tells which are not as they would be written.

The manifests: every combination of the answers that change their structure is rendered, with a word of its own for each
answer; the texts are merged to one, each line under the condition under which it is there, and the words become
{{ answer }} again. The choices of base images come from the table of images, the version that a project pins from ours.
"""

from __future__ import annotations

import difflib
import itertools
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2

from mlxtpl import __version__, gpu_images, yamlio
from mlxtpl.pipeline import render
from mlxtpl.yamldump import dump

ROOT = Path(__file__).parent.parent
SCAFFOLD = ROOT / "scaffold"
BEGIN, END = "    # make scaffold writes these.\n", "    # The end of what make scaffold writes.\n"
# The first one of which Python 3.10 is known, for which the training program is written.
OLDEST_IMAGE = "23.07"
# Answers, each as a word or number that occurs nowhere else; what is derived from one stands for itself.
NODES, GPUS, SECONDS = 371, 13, 9071
WORDS = {
    "project_name": "sentinel-a",
    "project": "sentinel-b",
    "job": "sentinel-c",
    "zone": "sentinel-d",
    "infiniband_zone": "sentinel-e",
    "registry": "sentinel-f",
    "image": "sentinel-g",
    "pull_secret": "sentinel-h",
    "pvc": "sentinel-i",
    "mount_path": "/sentinel-j",
    "package": "sentinel_k",
}
NUMBERS = {
    str(GPUS * 8): "{{ gpus * 8 }}",
    f"{GPUS * 64}Gi": "{{ gpus * 64 }}Gi",
    str(NODES): "{{ nodes }}",
    str(GPUS): "{{ gpus }}",
    str(SECONDS * 60): "{{ ttl_seconds }}",
}
# What changes the structure, and how a template asks for it.
FLAGS = {
    "distributed": "distributed",
    "infiniband": "infiniband",
    "zone": "zone",
    "pull_secret": "pull_secret",
    "pvc": "pvc",
    "gpus": "gpus > 1",
}
ENDIF = "{% endif %}\n"
Combination = tuple[bool, ...]


def combinations() -> list[Combination]:
    """Every combination of the flags that the questions allow, once where two have the same structure."""
    every = (dict(zip(FLAGS, each, strict=True)) for each in itertools.product((False, True), repeat=len(FLAGS)))
    found = []
    for on in every:
        # Several nodes are of one zone, InfiniBand's or another; the number of GPUs on each changes a number alone.
        several = on["infiniband"] is not on["zone"] and on["gpus"]
        if several if on["distributed"] else not on["infiniband"]:
            found.append(tuple(on.values()))
    return found


def answers(combination: Combination) -> dict[str, Any]:
    """The answers of a combination of flags."""
    on = dict(zip(FLAGS, combination, strict=True))
    texts = {name: word for name, word in WORDS.items() if on.get(name, True)}
    absent = dict.fromkeys(("zone", "pull_secret", "pvc"), "")
    numbers = {"nodes": NODES, "gpus": GPUS if on["gpus"] else 1, "ttl": f"{SECONDS}m", "driver": ""}
    return {**absent, **texts, **numbers, "distributed": on["distributed"], "infiniband": on["infiniband"]}


def project(folder: Path, given: dict[str, Any]) -> None:
    """Write values and overlays of a project."""
    environment = jinja2.Environment(trim_blocks=True, keep_trailing_newline=True, undefined=jinja2.StrictUndefined)
    for source in [*SCAFFOLD.glob("values/*.jinja"), *SCAFFOLD.glob("overlays/*/*.jinja")]:
        target = folder / source.relative_to(SCAFFOLD).with_suffix("")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(environment.from_string(source.read_text(encoding="utf-8")).render(given), encoding="utf-8")


def manifest(folder: Path, name: str) -> list[str]:
    """The lines of the manifest of a values file."""
    path = folder / "values" / f"{name}.yaml"
    source = yamlio.read_source(path)._replace(directory=str(path.parent))
    return dump(render([source], linted=False)[0]).splitlines(keepends=True)


def merged(texts: dict[Combination, list[str]]) -> list[tuple[str, frozenset[Combination]]]:
    """One sequence of lines that holds each text in order; beside each line the combinations that have it."""
    lines: list[tuple[str, frozenset[Combination]]] = []
    for combination, text in sorted(texts.items(), key=lambda each: (each[0][0], sum(each[0])), reverse=True):
        matcher = difflib.SequenceMatcher(None, [line for line, _ in lines], text, autojunk=False)
        joined: list[tuple[str, frozenset[Combination]]] = []
        for op, first, last, start, stop in matcher.get_opcodes():
            also = {combination} if op == "equal" else set()
            joined += [(line, have | also) for line, have in lines[first:last]]
            if op != "equal":
                joined += [(line, frozenset({combination})) for line in text[start:stop]]
        lines = joined
    return lines


def condition(have: frozenset[Combination], among: frozenset[Combination], given: tuple[str, ...]) -> str:
    """The shortest condition that holds for these combinations among those, over flags that are not `given` yet.

    Raises:
        ValueError: there is none of up to three flags.
    """
    flags = [(number, text) for number, (name, text) in enumerate(FLAGS.items()) if name not in given]
    literals = [
        (number, wanted, text if wanted else negated(text)) for number, text in flags for wanted in (True, False)
    ]
    for count in (1, 2, 3):
        for chosen in itertools.combinations(literals, count):
            for how, word in ((all, " and "), (any, " or ")):
                if {each for each in among if how(each[n] is wanted for n, wanted, _ in chosen)} == have:
                    return word.join(text for _, _, text in chosen)
    raise ValueError("no condition of three flags")


def negated(text: str) -> str:
    """The opposite of a flag."""
    return text.replace(">", "<=") if ">" in text else f"not {text}"


def template(
    lines: list[tuple[str, frozenset[Combination]]], among: frozenset[Combination], given: tuple[str, ...]
) -> str:
    """The lines as a Jinja template: neighbours of one condition under one `if`."""
    text, before = "", among
    for have, group in itertools.groupby(lines, key=lambda each: each[1]):
        body = "".join(line for line, _ in group)
        if have == among:
            text += body
        elif have == among - before:
            text = f"{text.removesuffix(ENDIF)}{{% else %}}\n{body}{ENDIF}"
        else:
            text += f"{{% if {condition(have, among, given)} %}}\n{body}{ENDIF}"
        before = have if before != among - have else among
    return text


def answered(text: str) -> str:
    """The template with {{ answer }} for each word."""
    for name, word in WORDS.items():
        text = text.replace(word, f"{{{{ {name} }}}}")
    for number, answer in NUMBERS.items():
        text = re.sub(rf"(?<![\w.-]){number}(?![\w.])", answer, text)
    return text


def manifests() -> Iterator[tuple[Path, str]]:
    """(file, content) of the manifests' templates."""
    texts: dict[str, dict[Combination, list[str]]] = {"dev": {}, "prod": {}}
    for combination in combinations():
        with tempfile.TemporaryDirectory() as folder:
            project(Path(folder), answers(combination))
            for name, found in texts.items():
                found[combination] = manifest(Path(folder), name)
    for name, found in texts.items():
        halves = []
        for distributed in (True, False):
            half = {each: text for each, text in found.items() if each[0] is distributed}
            halves.append(template(merged(half), frozenset(half), ("distributed",)))
        same = name == "dev"  # one GPU, whatever the long job takes
        text = halves[1] if same else f"{{% if distributed %}}\n{halves[0]}{{% else %}}\n{halves[1]}{{% endif %}}\n"
        yield SCAFFOLD / "manifests" / f"{name}.yaml.jinja", answered(text)


def images() -> tuple[Path, str]:
    """copier.yml with the choices of base images, newest first."""
    lines = []
    for tag, row in reversed(gpu_images.images().items()):
        if tag < OLDEST_IMAGE:
            continue
        least = gpu_images.minimum(row["cuda"])
        numbers = [int(each) for each in least.split(".")]
        runs = [f"driver_numbers >= {numbers}"]
        for branch in row.get("compat", ()):
            first, second = (int(each) for each in branch.split("."))
            if first < numbers[0]:
                runs.append(f"{[first, second]} <= driver_numbers < {[first + 1]}")
        torch = ".".join(row["pytorch"].split(".")[:2])
        lines += [
            f'    "{tag[:5]}: CUDA {row["cuda"]}, PyTorch {torch}, driver {least} or newer":\n',
            f"      value: {tag}\n",
            f'      validator: "{{% if not ({" or ".join(runs)}) %}}needs driver {least}{{% endif %}}"\n',
        ]
    path = ROOT / "copier.yml"
    before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    return path, f"{before}{BEGIN}{''.join(lines)}{END}{rest.partition(END)[2]}"


def pin() -> tuple[Path, str]:
    """The requirements that pin our version."""
    path = SCAFFOLD / "requirements-dev.txt.jinja"
    return path, re.sub(r"(?m)^mlxtpl==.*$", f"mlxtpl=={__version__}", path.read_text(encoding="utf-8"))


def main() -> int:
    """Write, or with --check compare."""
    stale = []
    for path, text in (*manifests(), images(), pin()):
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(path)
            if "--check" not in sys.argv:
                path.write_text(text, encoding="utf-8")
    for path in stale:
        print(
            f"{path.relative_to(ROOT)}: {'is not as make scaffold writes it' if '--check' in sys.argv else 'written'}"
        )
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
