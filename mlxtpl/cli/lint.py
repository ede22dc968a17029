"""`mlxtpl lint PATH…`: what the cluster, the operator and the platform would say, before they do."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from mlxtpl.cli.options import further_files, read_path, render_arguments, values_options
from mlxtpl.cli.output import PROGRESS_FROM, coloured_problem, write

_OLDEST_DRIVER = 300
_FORMATS = ("text", "json", "sarif", "github")


@click.command("lint")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@values_options
@click.option("--driver", metavar="VERSION", default="", help="The NVIDIA driver of the nodes, such as 535.129.")
@click.option("--kubernetes-version", "version", metavar="X.Y", help="The schema to check with.")
@click.option("--format", "form", type=click.Choice(_FORMATS), default="text", help="The form of the output.")
@click.option(
    "--level",
    type=click.Choice(["error", "warning", "info"]),
    default="warning",
    show_default=True,
    help="The lowest level that makes the exit code 1.",
)
@click.option("--fix", is_flag=True, help="Mend what has one right answer, in manifests that were written by hand.")
@click.option("--dry-run", is_flag=True, help="With --fix: show the changes as a diff, write nothing.")
def command(paths: tuple[str, ...], form: str, level: str, *, fix: bool, dry_run: bool, **options: Any) -> int:
    """Check values files, kustomization directories and manifests, whoever wrote them.

    A PATH is a file, a directory of any of these (searched in depth), or - for standard input. A finding is told at the
    line that the user wrote.

    A comment `# mlxtpl: ignore[rule-id] reason` on or above a line waives a rule there, above all content in the whole file;
    `until 2026-12-31` before the reason is its last day. In a values file: lint: {ignore: {rule-id: {reason: …}}}.
    """
    import datetime as dt

    from mlxtpl import documents, kube_schema, lint, reports

    if dry_run and not fix:
        raise click.UsageError("--dry-run goes with --fix")
    if fix and "-" in paths:
        raise click.UsageError("--fix mends files, not standard input")
    version = options["version"] or kube_schema.DEFAULT
    if version not in kube_schema.VERSIONS:
        raise click.UsageError(f"--kubernetes-version knows {kube_schema.VERSIONS[0]} to {kube_schema.VERSIONS[-1]}")
    _check_driver(options["driver"])
    how = lint.Options(
        dt.datetime.now(tz=dt.timezone.utc).astimezone().date().isoformat(),
        options["driver"],
        version,
        further_files(options),
        render_arguments(options),
    )
    inputs = list(documents.expand(paths))
    if fix:
        linted, repairs = _fixed(inputs, how, dry_run=dry_run)
    else:
        shown = len(inputs) > PROGRESS_FROM and sys.stderr.isatty()
        jobs = lint.lint(inputs, read_path, how)
        with click.progressbar(jobs, len(inputs), file=sys.stderr) if shown else contextlib.nullcontext(jobs) as bar:
            linted, repairs = list(bar), ""
    found = [each for one in linted for each in one.found]
    if dry_run:
        write(repairs)
    elif form == "text":
        write(_text(found))
    else:
        write({"json": reports.as_json, "sarif": reports.sarif, "github": reports.github}[form](found))
    print(_summary(linted, found), file=sys.stderr)
    levels = ("error", "warning", "info")
    return int(any(levels.index(each.problem.level) <= levels.index(level) for each in found))


def _text(found: Sequence[Any]) -> str:
    """The problems as a person reads them; what is only worth knowing takes one line, at the end."""
    told = [f"{coloured_problem(each.problem)}\n\n" for each in found if each.problem.level != "info"]
    for each in found:
        problem = each.problem
        if problem.level == "info":
            at = str(problem.place or each.file)
            message = f"{problem.where}: {problem.message}" if problem.where != each.file else problem.message
            told.append(f"info: {at}: {message} [{each.rule}]\n")
    return "".join(told)


def _check_driver(driver: str) -> None:
    if driver and not all(part.isascii() and part.isdigit() for part in driver.split(".")):
        raise click.UsageError(f'--driver wants a version such as 535.129.03, found "{driver}"')
    if driver and int(driver.split(".", maxsplit=1)[0]) < _OLDEST_DRIVER:
        raise click.UsageError(
            f"--driver {driver} looks like a CUDA version; nvidia-smi prints the driver's, such as 535.129"
        )


def _fixed(inputs: Sequence[Any], how: Any, *, dry_run: bool) -> tuple[list[Any], str]:
    """Repair files one by one; what is no hand-written manifest is only linted."""
    from mlxtpl import lint, outputs, repairs
    from mlxtpl.errors import MlxtplError

    linted: list[Any] = []
    diffs, count, files = "", 0, 0
    for each in inputs:
        if each.kind != "file":
            linted += lint.lint([each], read_path, how)
            continue
        try:
            before = read_path(each.path)
        except MlxtplError:
            linted += lint.lint([each], read_path, how)
            continue
        after, made, result = repairs.repaired(before, partial(lint.lint_source, options=how, named=each.named))
        linted.append(result)
        if not made:
            continue
        count, files = count + len(made), files + 1
        if dry_run:
            diffs += repairs.diff(before, after)
        else:
            mark = "\ufeff" if Path(each.path).read_bytes().startswith(b"\xef\xbb\xbf") else ""
            outputs.write_file(Path(each.path).parent, Path(each.path).name, mark + after.text, manifest=False)
            for line in made:
                print(f"fixed: {each.path}: {line}", file=sys.stderr)
    word = "would be mended" if dry_run else "mended"
    if count:
        print(f"{count} {word} in {files} file{'s' if files > 1 else ''}", file=sys.stderr)
    return linted, diffs


def _summary(linted: Sequence[Any], found: Sequence[Any]) -> str:
    """`2 errors, 1 warning in 3 objects of 2 files (1 waived, 1 fixable)`."""
    counts = Counter(each.problem.level for each in found)
    objects, waived = sum(each.objects for each in linted), sum(each.waived for each in linted)
    fixable = sum(bool(each.edits) for each in found)
    told = ", ".join(
        f"{counts[level]} {level if level == 'info' or counts[level] == 1 else level + 's'}"
        for level in ("error", "warning", "info")
        if counts[level]
    )
    more = ", ".join([f"{waived} waived"] * bool(waived) + [f"{fixable} fixable with --fix"] * bool(fixable))
    where = f"in {objects} object{'' if objects == 1 else 's'} of {len(linted)} path{'' if len(linted) == 1 else 's'}"
    return f"{told or 'no problems'} {where}{f' ({more})' if more else ''}"
