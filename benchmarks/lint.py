"""The speed of `mlxtpl lint` beside kubernetes-validate's own command, on Jobs that both find nothing wrong with."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from pathlib import Path

from bench import MLXTPL, Row, Run, run

ROOT = Path(__file__).parent.parent
VALIDATE = str(Path(sys.executable).with_name("kubernetes-validate"))


def manifests(folder: Path, count: int) -> Path:
    """A directory of manifests: the rendered values/single.yaml, each with a name of its own."""
    import subprocess

    target = folder / f"manifests-{count}"
    target.mkdir()
    command = [MLXTPL, "render", str(ROOT / "values/single.yaml")]
    text = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    for number in range(count):
        own = text.replace("name: mnist\n", f"name: mnist-{number}\n")
        (target / f"job{number}.yaml").write_text(own, encoding="utf-8")
    return target


def measure(scale: float, folder: Path, say: Callable[[str], None]) -> list[Row]:
    """Rows for the table of bench.py."""
    thousand, ten = int(1000 * scale), int(10_000 * scale)
    small, large = manifests(folder, thousand), manifests(folder, ten)
    say(f"lint of {thousand} and {ten} manifests")

    def lint(target: Path) -> Run:
        return run([MLXTPL, "lint", "--kubernetes-version", "1.32", str(target)])

    one = small / "job0.yaml"
    validate = [VALIDATE, "-k", "1.32", "--strict", str(one)]
    single, theirs, smalls, larges = [], [], [], []
    for _ in range(3):
        smalls.append(lint(small))
        theirs += [run(validate) for _ in range(3)]
        single.append(lint(one))
        larges.append(lint(large))
    each = statistics.median(run.seconds for run in smalls) / thousand
    their = statistics.median(run.seconds for run in theirs)
    cold = statistics.median(run.seconds for run in single)
    most, least = max(run.memory for run in larges), max(run.memory for run in smalls)
    other = "`kubernetes-validate` on one"
    return [
        Row(f"`lint` of {thousand:,} manifests, for each", each, their, other, "≤ 1/5", their / each >= 5),
        Row("`lint` of one manifest", cold, their, other, "", None),
        Row(
            f"peak memory of `lint`, {ten:,} manifests, MiB",
            most,
            least,
            f"{thousand:,} manifests, MiB",
            "flat",
            most <= least * 1.15,
        ),
    ]
