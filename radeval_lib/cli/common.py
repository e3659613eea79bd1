"""What the commands share: options that several of them have, and how an error is told."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from radeval_lib.errors import RadevalError, of_system
from radeval_lib.paths import DEFAULT_PROFILE

EXIT_BAD_INPUT = 2

profile_option = click.option(
    "--profile", default=DEFAULT_PROFILE, show_default=True, help="Settings of the run."
)
data_root_option = click.option(
    "--data-root",
    envvar="RADEVAL_DATA_ROOT",
    default="",
    help="Folder of data files that you obtained (environment: RADEVAL_DATA_ROOT).",
)


def one_line_errors(command: Callable[..., Any]) -> Callable[..., Any]:
    """Tell a RadevalError, or what the system refuses, as one line on stderr and leave with status 2."""

    @wraps(command)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except RadevalError as error:
            told: RadevalError = error
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] == "radeval_lib":
                raise
            what = f"the package {error.name} is not installed, which this command needs"
            remedy = "Run: pip install 'radeval-lib[models,book]'; to build the book takes the repository."
            told = RadevalError(what, remedy=remedy)
        except BrokenPipeError:  # who reads our output has seen enough; click ends quietly
            raise
        except OSError as error:
            told = of_system(error)
        click.echo(f"radbook: {told}", err=True)
        sys.exit(EXIT_BAD_INPUT)

    return guarded
