"""``radbook``: build the book, run a notebook, list what there is, score files and compare systems."""

from __future__ import annotations

from importlib import import_module

import click

from radeval_lib import __version__

COMMANDS = {
    "build": "building:build",
    "render": "building:render",
    "serve": "building:serve",
    "run": "building:run",
    "release": "building:release",
    "exhibits": "listing:exhibits",
    "score": "scoring:score",
    "compare": "comparing:compare",
    "metric-card": "metric_card:metric_card",
    "data": "data_files:data_group",
    "models": "models:models_group",
    "labs": "labs:labs_group",
    "record": "recording:record",
}
"""Module and name of each command; a command loads its own module alone."""


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
