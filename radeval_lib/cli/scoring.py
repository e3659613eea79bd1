"""``radbook score``: a metric over a file of pairs."""

from __future__ import annotations

from pathlib import Path

import click

from radeval_lib.cli.common import one_line_errors
from radeval_lib.errors import ParameterError
from radeval_lib.paths import shown


def _settings(given: tuple[str, ...], metric: str) -> dict[str, str]:
    """``--set metric.name=value`` options as a mapping from name to value."""
    settings = {}
    for text in given:
        name, sign, value = text.partition("=")
        owner, dot, key = name.partition(".")
        if not sign or not dot or not key:
            raise ParameterError(f"{text!r} is no setting", "--set", f"Write {metric}.NAME=VALUE.")
        if owner != metric:
            raise ParameterError(f"{text!r} is a setting of {owner!r}, not of {metric!r}", "--set")
        settings[key] = value
    return settings


@click.command()
@click.option("--metric", required=True, help="Name of a metric.")
@click.option("--set", "given", multiple=True, metavar="METRIC.NAME=VALUE", help="A setting of the metric.")
@click.option(
    "--input", "input_path", required=True, type=click.Path(path_type=Path), help="CSV or JSON lines."
)
@click.option("--output", "output_path", required=True, type=click.Path(path_type=Path), help="Likewise.")
@one_line_errors
def score(metric: str, given: tuple[str, ...], input_path: Path, output_path: Path) -> None:
    """Score the columns `reference` and `candidate` of a file; adds a column named after the metric."""
    from radeval_lib.metrics import files

    def progress(done: int) -> None:
        click.echo(f"\r{done:,} pairs scored", nl=False, err=True)

    rows = files.score_file(metric, _settings(given, metric), input_path, output_path, progress=progress)
    click.echo(f"\n{rows:,} pairs scored with {metric}: {shown(output_path)}", err=True)
