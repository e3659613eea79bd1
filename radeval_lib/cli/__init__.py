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
from radeval_lib.errors import ParameterError, RadevalError, of_system
from radeval_lib.paths import DEFAULT_PROFILE
from radeval_lib.registry import METRICS

EXIT_BAD_INPUT = 2
"""The exit status of click, too, on a wrong option."""

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
metric_option = click.option(
    "--metric",
    "metrics",
    required=True,
    multiple=True,
    help=f"May be repeated: {', '.join(METRICS)}. `all`: every metric whose models are on this machine.",
)
settings_option = click.option(
    "--set", "given", multiple=True, metavar="METRIC.NAME=VALUE", help="A setting of a metric."
)
input_option = click.option(
    "--input", "input_path", required=True, type=FILE, help="CSV, TSV or JSON lines (.jsonl)."
)

_EXTRAS = {"data": "hub", "labs": "labs,models", "models": "models"}
"""By command, the extras that bring what a bare installation lacks; all others take what the book takes."""


def metric_settings(given: tuple[str, ...], metrics: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """Return ``--set metric.name=value`` options as a mapping from name to value for each metric.

    Raises
    ------
    ParameterError
        For an option of another form, or of a metric that was not asked for.
    """
    settings: dict[str, dict[str, str]] = {name: {} for name in metrics}
    for text in given:
        name, sign, value = text.partition("=")
        owner, dot, key = name.partition(".")
        if not sign or not dot or not key:
            raise ParameterError(f"{text!r} is not a setting", "--set", f"Write {metrics[0]}.NAME=VALUE.")
        if owner not in settings:
            raise ParameterError(
                f"{text!r} is a setting of {owner!r}", "--set", f"Use one of {', '.join(metrics)}."
            )
        settings[owner][key] = value
    return settings


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
            refusal = RadevalError(
                problem, remedy=f"Run in a clone of the repository: pip install '.[{extras}]'"
            )
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
