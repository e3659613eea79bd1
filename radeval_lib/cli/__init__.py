"""The command ``radbook``: its subcommands, the options they share, and how errors are printed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from radeval_lib import __version__
from radeval_lib.errors import RadevalError, to_file_error
from radeval_lib.paths import DEFAULT_PROFILE

EXIT_BAD_INPUT = 2  # click exits with the same status if an option is wrong

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
"""A mapping from command to ``MODULE:FUNCTION``. Only the module of the command that runs is imported."""


profile_option = click.option(
    "--profile", default=DEFAULT_PROFILE, show_default=True, help="Profile from data_manifests/profiles."
)
data_root_option = click.option(
    "--data-root",
    envvar="RADEVAL_DATA_ROOT",
    default="",
    help="Folder of data files; by default, RADEVAL_DATA_ROOT or, if that is not set, the clone's `data`.",
)
FILE = click.Path(path_type=Path)

# The optional dependencies (pip extras) that each command needs beyond a bare installation. A command that is
# not listed needs ``models`` and ``book``.
_EXTRAS = {"data": "hub", "labs": "labs,models", "models": "models"}


def print_errors_in_one_line(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls ``command`` and, on some errors, prints one line and exits with status 2.

    These errors are a RadevalError, an operating-system error (except a pipe closed by its reader) and a
    missing package. The line is written to standard error.
    """

    @wraps(command)
    def run_with_one_line_errors(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except RadevalError as error:
            error_to_print: RadevalError = error
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] == "radeval_lib":
                raise
            problem = f"this command needs the package {error.name}, which is not installed"
            context = click.get_current_context(silent=True)
            command_name = context.command_path.split()[1:2] if context else []
            extras = next((_EXTRAS[name] for name in command_name if name in _EXTRAS), "models,book")
            remedy = f"Run in a clone of the repository: pip install '.[{extras}]'"
            error_to_print = RadevalError(problem, remedy=remedy)
        except BrokenPipeError:  # the reader has closed the output; click exits quietly
            raise
        except OSError as error:
            error_to_print = to_file_error(error)
        click.echo(f"radbook: {error_to_print}", err=True)
        sys.exit(EXIT_BAD_INPUT)

    return run_with_one_line_errors


class _Commands(click.Group):
    """The command group ``radbook``, which imports a command's module when the command is looked up."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names of the commands in alphabetical order."""
        return sorted(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Import and return the command with this name; None if there is none."""
        if name not in COMMANDS:
            return None
        module, _, function_name = COMMANDS[name].partition(":")
        command: click.Command = getattr(import_module(f"{__name__}.{module}"), function_name)
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="radbook")
def main() -> None:
    """Score radiology reports, compare systems, and rebuild the study on metrics for such reports.

    The study is a set of notebooks that recompute tables and figures of five papers; `build` runs them and
    renders the results as a book. To score your own reports, start with `radbook score --help`.
    """
