"""``radbook``: build the book, run a notebook, list exhibits and models, score files and compare systems."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from radeval_lib import __version__
from radeval_lib.errors import RadevalError, of_system
from radeval_lib.paths import DEFAULT_PROFILE

EXIT_BAD_INPUT = 2  # as click's for a wrong option

COMMANDS = {
    "build": "building:build",
    "render": "building:render",
    "serve": "building:serve",
    "run": "building:run",
    "release": "building:release",
    "exhibits": "building:exhibits",
    "score": "scoring:score",
    "compare": "scoring:compare",
    "metric-card": "scoring:metric_card",
    "data": "data_files:data_group",
    "models": "data_files:models_group",
    "labs": "labs:labs_group",
    "record": "building:record",
}
"""Module and name of each command; a command loads its own module alone."""


profile_option = click.option(
    "--profile", default=DEFAULT_PROFILE, show_default=True, help="Settings of the run."
)
data_root_option = click.option(
    "--data-root",
    envvar="RADEVAL_DATA_ROOT",
    default="",
    help="Folder of data files that you obtained (environment: RADEVAL_DATA_ROOT).",
)
FILE = click.Path(path_type=Path)

# By command, the extras that a bare installation lacks; all other commands need those of the book.
_EXTRAS = {"data": "hub", "labs": "labs,models", "models": "models"}


def one_line_errors(command: Callable[..., Any]) -> Callable[..., Any]:
    """Report a RadevalError or an operating-system error in one line on stderr and exit with status 2."""

    @wraps(command)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except RadevalError as error:
            refusal: RadevalError = error
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] == "radeval_lib":
                raise
            problem = f"the package {error.name} is not installed, which this command needs"
            context = click.get_current_context(silent=True)
            group = context.command_path.split()[1:2] if context else []
            extras = next((_EXTRAS[name] for name in group if name in _EXTRAS), "models,book")
            remedy = f"Run in a clone of the repository: pip install '.[{extras}]'"
            refusal = RadevalError(problem, remedy=remedy)
        except BrokenPipeError:  # who reads our output has seen enough; click ends quietly
            raise
        except OSError as error:
            refusal = of_system(error)
        click.echo(f"radbook: {refusal}", err=True)
        sys.exit(EXIT_BAD_INPUT)

    return guarded


class _Commands(click.Group):
    def list_commands(self, context: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name].partition(":")
        command: click.Command = getattr(import_module(f"{__name__}.{module}"), attribute)
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="radbook")
def main() -> None:
    """Rebuild the study: run its notebooks, render its book, look at its exhibits and data."""
