"""`mlxtpl rules [ID]`: what lint looks for."""

from __future__ import annotations

import json

import click

from mlxtpl.cli.output import write


@click.command("rules")
@click.argument("rule_id", metavar="[ID]", required=False)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="The form of the output.")
def command(rule_id: str | None, form: str) -> int:
    """List the rules, or explain one: what it finds, why that is a fault, what to write instead."""
    import difflib

    from mlxtpl.lint import documented

    rules = documented()
    if rule_id is not None and rule_id not in rules:
        near = difflib.get_close_matches(rule_id, rules, 1)
        raise click.UsageError(f'there is no rule "{rule_id}".' + (f" Did you mean {near[0]}?" if near else ""))
    chosen = rules if rule_id is None else {rule_id: rules[rule_id]}
    if form == "json":
        rows = [{"id": each, "level": level, "doc": text} for each, (level, text) in chosen.items()]
        write(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
    elif rule_id is not None:
        level, text = rules[rule_id]
        write(f"{rule_id} ({level})\n\n{text}\n")
    else:
        width = max(len(each) for each in rules)
        lines = [f"{each:{width}}  {level:7}  {text.partition(chr(10))[0]}\n" for each, (level, text) in rules.items()]
        write("".join(lines))
    return 0
