"""Write the generated pages: docs/values.md, docs/cli.md, docs/rules.md, docs/values-merging.md, values/schema.json.

With --check nothing is written, and the exit code is 1 when a page is not what it should be.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
import yaml

from mlxtpl import reference
from mlxtpl.cli import COMMANDS, cli
from mlxtpl.lint import documented

ROOT = Path(__file__).parent.parent


def commands() -> str:
    """The help of every command."""
    lines = ["<!-- made by `make docs`; do not edit -->", "# Commands", ""]
    main = click.Context(cli, info_name="mlxtpl", terminal_width=100)
    for name in (None, *COMMANDS):
        command = cli if name is None else cli.get_command(main, name)
        at = main if name is None else click.Context(command, info_name=name, parent=main, terminal_width=100)
        lines += [f"## {at.command_path}", "", "```", command.get_help(at), "```", ""]
    return "\n".join(lines)


def rules() -> str:
    """The docstring of every rule."""
    lines = ["<!-- made by `make docs` from mlxtpl/rules; do not edit -->", "# Rules", ""]
    lines += [
        "`mlxtpl lint` tells all of them, `mlxtpl render` the errors (it stops) and the warnings; see [lint.md](lint.md).",
        "",
    ]
    lines += ["| rule | level | what it finds |", "|---|---|---|"]
    rules = documented()
    lines += [
        f"| [{each}](#{each}) | {level} | {text.partition(chr(10))[0]} |" for each, (level, text) in rules.items()
    ]
    for each, (level, text) in rules.items():
        head, _, rest = text.partition("\n")
        lines += ["", f"## {each}", "", f"{level}: {head}"]
        if rest.strip():
            lines += ["", "```", rest.strip(), "```"]
    return "\n".join(lines) + "\n"


def merging() -> str:
    """The table of tests/merging.yaml."""
    cases = yaml.safe_load((ROOT / "tests/merging.yaml").read_text(encoding="utf-8"))
    lines = [
        "<!-- made by `make docs` from tests/merging.yaml; do not edit -->",
        "# How values merge",
        "",
        "`defaults of the layers < extends… < values files left to right < --set-json < --set < --set-string < --set-file`",
        "",
        "Maps merge deeply, scalars and lists are replaced, `null` removes, and a map never meets a list in silence.",
        "Paths in values resolve against the file that writes them. Each row below is a test.",
        "",
        "| case | files | options | result |",
        "|---|---|---|---|",
    ]
    for title, case in cases.items():
        files = "<br>".join(code(each) for each in case.get("files", []))
        sets = "<br>".join(code(f"--{option} '{text}'") for option, text in case.get("set", []))
        want = code(json.dumps(case["want"], ensure_ascii=False)) if "want" in case else f"error: {case['error']}"
        lines.append(f"| {title} | {files} | {sets} | {want} |")
    return "\n".join(lines) + "\n"


def code(text: str) -> str:
    """Text in backquotes, fit for a table's cell."""
    return "`" + str(text).replace("|", "\\|").replace("`", "'") + "`"


def main() -> int:
    """Write or check every page."""
    package = reference.load(None)
    pages = {
        "docs/values.md": reference.markdown(package),
        "docs/cli.md": commands(),
        "docs/rules.md": rules(),
        "docs/values-merging.md": merging(),
        "values/schema.json": json.dumps(reference.json_schema(package), indent=2, ensure_ascii=False) + "\n",
    }
    stale = []
    for name, text in pages.items():
        path = ROOT / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if "--check" not in sys.argv:
                path.write_text(text, encoding="utf-8")
    if stale and "--check" in sys.argv:
        print(f"not in sync: {', '.join(stale)}; run `make docs`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
