"""`mlxtpl new DIR`: a new training project."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from mlxtpl.cli.options import read_path


@click.command("new")
@click.argument("directory", metavar="DIR")
@click.option("-d", "--data", metavar="NAME=VALUE", multiple=True, help="The answer to a question; repeatable.")
@click.option("--data-file", metavar="FILE", help="A YAML file with answers; --data goes over it.")
@click.option("-l", "--defaults", is_flag=True, help="Ask nothing: the defaults answer what was not answered.")
@click.option("--source", metavar="URL", help="The git repository that `copier update` gets later versions from.")
@click.option("--questions", is_flag=True, help="List the questions with their defaults, write nothing.")
def command(directory: str, data: tuple[str, ...], data_file: str | None, source: str | None, **flags: bool) -> int:
    """Start a training project in DIR: code that trains, Dockerfile, values, rendered manifests, tests and CI.

    The same as `copier copy` of mlxtpl's repository.
    """
    from mlxtpl import scaffold, yamlio
    from mlxtpl.errors import Problem, ScaffoldError
    from mlxtpl.package import data_path
    from mlxtpl.resources import plain

    if flags["questions"]:
        for name, question in scaffold.questions(data_path("copier.yml").parent).items():
            if question.get("when") is not False:
                print(f"{name}: {question['help']} [{question.get('default', 'required')}]")
        return 0
    answers = {}
    if data_file is not None:
        node = yamlio.load_one(read_path(data_file))
        if not isinstance(node, yamlio.Mapping):
            raise ScaffoldError(Problem("must be a map of answers", data_file))
        answers.update({name: each for name, each in plain(node).items() if name[:1] != "_"})
    for each in data:
        name, equals, value = each.partition("=")
        if not equals:
            raise click.UsageError(f'--data "{each}": must be NAME=VALUE')
        answers[name] = value
    target = Path(directory)
    scaffold.new_project(target, answers, defaults=flags["defaults"], source=source or scaffold.SOURCE)
    print(f"{directory}: a new project; its README.md says how to go on", file=sys.stderr)
    return 0
