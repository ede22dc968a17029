"""The command line: parse, call one library function, print. The only place that prints and exits."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

import click

from mlxtpl import __version__
from mlxtpl.cli.output import show_error
from mlxtpl.errors import MlxtplError

# name → module of the same name in mlxtpl.cli, its one-line help here so that --help imports none of them.
COMMANDS = {
    "new": "Start a training project: code, Dockerfile, values, manifests, tests, CI.",
    "render": "Render values files to a manifest.",
    "lint": "Check values files, overlays and manifests against the cluster's rules, offline.",
    "rules": "List the rules of lint, or explain one.",
    "import": "Turn hand-written Jobs and PyTorchJobs into values files.",
    "explain": "Show where each field of a manifest came from.",
    "diff": "Compare two manifests field by field, or one with a git revision.",
    "export": "Write a Component that teaches plain kustomize the merge keys of PyTorchJobs.",
    "values": "Show all values keys, or the merged values of a file.",
}


_KEYWORDS = ("import",)  # of Python: the module has an underscore


class _Commands(click.Group):
    """Imports a command's module when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = f"{cmd_name}_" if cmd_name in _KEYWORDS else cmd_name
        command: click.Command = importlib.import_module(f"mlxtpl.cli.{module}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, 1)
            if near:
                raise click.UsageError(f"{error.message} Did you mean {near[0]}?", ctx) from None
            raise


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="mlxtpl %(version)s")
def cli() -> None:
    """Kubernetes training jobs from layered templates and validated values."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the one boundary that turns errors into messages and exit codes.

    Returns:
        0 fine; 1 the input is wrong; 2 usage; 3 a bug of ours; 130 interrupted.
    """
    try:
        code = cli.main(args=None if argv is None else list(argv), prog_name="mlxtpl", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except MlxtplError as error:
        show_error(error)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return 130
    except BrokenPipeError:
        # The reader (`| head`) has seen enough; keep the interpreter from complaining when it flushes again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        # A directory that may not be listed, a disk that is full.
        where = f": {error.filename}" if error.filename else ""
        print(f"error: {(error.strerror or str(error)).lower()}{where}", file=sys.stderr)
        return 1
    except Exception:  # noqa: BLE001 - the one boundary
        import traceback

        traceback.print_exc()
        print("this is a bug of mlxtpl: please report it with the lines above", file=sys.stderr)
        return 3
    return code if isinstance(code, int) else 0
