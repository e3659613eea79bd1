"""``radbook score``: metrics over a file of pairs."""

from __future__ import annotations

from pathlib import Path

import click

from radeval_lib.cli.common import one_line_errors
from radeval_lib.errors import ParameterError
from radeval_lib.paths import display_path


def _settings(given: tuple[str, ...], metrics: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """``--set metric.name=value`` options as a mapping from name to value for each metric."""
    settings: dict[str, dict[str, str]] = {name: {} for name in metrics}
    for text in given:
        name, sign, value = text.partition("=")
        owner, dot, key = name.partition(".")
        if not sign or not dot or not key:
            raise ParameterError(f"{text!r} is no setting", "--set", f"Write {metrics[0]}.NAME=VALUE.")
        if owner not in settings:
            raise ParameterError(
                f"{text!r} is a setting of {owner!r}", "--set", f"Metrics asked for: {', '.join(metrics)}."
            )
        settings[owner][key] = value
    return settings


@click.command()
@click.option("--metric", "metrics", required=True, multiple=True, help="Name of a metric; may be repeated.")
@click.option("--set", "given", multiple=True, metavar="METRIC.NAME=VALUE", help="A setting of a metric.")
@click.option(
    "--input", "input_path", required=True, type=click.Path(path_type=Path), help="CSV or JSON lines."
)
@click.option("--output", "output_path", required=True, type=click.Path(path_type=Path), help="Likewise.")
@one_line_errors
def score(metrics: tuple[str, ...], given: tuple[str, ...], input_path: Path, output_path: Path) -> None:
    """Score the columns `reference` and `candidate` of a file.

    The output has the file's rows with a column named after each metric; OUTPUT.about.json says metrics,
    settings, models and versions. If it is interrupted, the same command goes on where it stopped.
    """
    from radeval_lib.metrics import files

    def progress(done: int) -> None:
        click.echo(f"{done:,} pairs scored\r", nl=False, err=True)  # whatever comes next stands in its place

    try:
        scored = files.score_file(_settings(given, metrics), input_path, output_path, progress=progress)
    except KeyboardInterrupt:
        click.echo("Stopped: the same command goes on where this one was.", err=True)
        raise
    again = f", {scored.kept:,} of them kept from an interrupted run" if scored.kept else ""
    click.echo(
        f"{scored.rows:,} pairs scored with {', '.join(metrics)}{again}: {display_path(output_path)}",
        err=True,
    )
    if scored.damaged:
        click.echo("Note: some of what was kept was damaged, and was scored anew.", err=True)
    for what, remark in scored.remarks.items():
        click.echo(f"Note: {what}: {remark}.", err=True)
