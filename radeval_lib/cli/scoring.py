"""``radbook score``: metrics over a file of pairs."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from radeval_lib.cli.common import EXIT_BAD_INPUT, metric_settings, one_line_errors, settings_option
from radeval_lib.paths import display_path
from radeval_lib.registry import METRICS

if TYPE_CHECKING:
    from radeval_lib.metrics.scored_file import ScoredFile


@click.command()
@click.option(
    "--metric",
    "metrics",
    required=True,
    multiple=True,
    help=f"May be repeated: {', '.join(METRICS)}. `all`: every metric whose models are on this machine.",
)
@settings_option
@click.option(
    "--input",
    "input_path",
    required=True,
    type=click.Path(path_type=Path),
    help="CSV, TSV, JSON lines (.jsonl) or Parquet.",
)
@click.option("--output", "output_path", required=True, type=click.Path(path_type=Path), help="Likewise.")
@click.option(
    "--explain", is_flag=True, help="Also write OUTPUT.explained.jsonl: each error, and where it is."
)
@click.option(
    "--report",
    "report_path",
    type=click.Path(path_type=Path),
    help="Also write a page (HTML) that shows scores, and errors marked in the texts.",
)
@click.option(
    "--no-texts", is_flag=True, help="Repeat no words of the texts in explanations and on the page."
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Processes that score. Default: as many as cores may be used; one for a short file or a GPU.",
)
@one_line_errors
def score(
    metrics: tuple[str, ...],
    given: tuple[str, ...],
    input_path: Path,
    output_path: Path,
    explain: bool,
    report_path: Path | None,
    no_texts: bool,
    workers: int | None,
) -> None:
    """Score the candidates of a file against its references.

    The file has a column `reference`, and `candidate` or, for each system, `candidate:SYSTEM`. The output has
    its rows with a column named after each metric (METRIC:SYSTEM). A column `group` divides the means that
    are printed at the end; columns `age` and `indication` decide how much errors weigh for the judge by
    rules. OUTPUT.about.json says metrics, settings, models and versions. If it is interrupted, the same
    command goes on where it stopped. A metric that was named and could not score is reported, and the exit
    status is then 2; the others' scores are written all the same.
    """
    # oneDNN keeps what it made for a thousand shapes of arrays; with 32 the peak is a tenth lower.
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "32")
    from radeval_lib.metrics import score_files

    try:
        scored = score_files.score_file(
            metric_settings(given, metrics),
            input_path,
            output_path,
            explain=explain,
            report=report_path,
            texts=not no_texts,
            workers=workers,
            progress=_progress(),
        )
    except KeyboardInterrupt:
        click.echo("Stopped: the same command goes on where this one was.", err=True)
        raise
    _print_summary(scored, output_path)
    if set(metrics) & set(scored.chosen.left_out):
        sys.exit(EXIT_BAD_INPUT)


def _progress() -> Callable[[int, int], None]:
    """A function that shows how many rows are done, and the time left, on one line of standard error."""
    # The speed is that of the last calls: rows kept from an interrupted run pass at another one.
    recent = deque([(time.monotonic(), 0)], maxlen=20)

    def progress(done: int, rows: int) -> None:
        started, before = recent[0]
        recent.append((time.monotonic(), done))
        left = timedelta(seconds=round((recent[-1][0] - started) * (rows - done) / (done - before)))
        # Ends in a carriage return, so that the next line overwrites this one.
        click.echo(f"{done:,} rows scored of {rows:,}, {left} left \r", nl=False, err=True)

    return progress


def _print_summary(scored: ScoredFile, output_path: Path) -> None:
    """Print what was scored and how, means, cautions and metrics that were left out, on standard error."""
    from radeval_lib.metrics.cautions import RELIABLE

    again = f", {scored.kept:,} of them kept from an interrupted run" if scored.kept else ""
    click.echo(
        f"{scored.rows:,} rows scored with {', '.join(scored.chosen.metrics)}{again}: "
        f"{display_path(output_path)}",
        err=True,
    )
    for column in scored.means.get("all", {}):
        parts = (f"{part} {means[column]:.4g}" for part, means in scored.means.items())
        metric = scored.chosen.metrics[column.partition(":")[0]]
        direction = "" if metric.higher_is_better else " (lower is better)"
        click.echo(f"Mean {column}{direction}: {', '.join(parts)}", err=True)
    for signature in scored.signatures.values():
        click.echo(f"Signature: {signature}", err=True)
    if scored.coverage is not None:
        doubt = "; do not rely on what they find" if scored.coverage < RELIABLE else ""
        click.echo(f"The rules could read {scored.coverage:.0%} of what a pair says{doubt}.", err=True)
    if scored.damaged:
        click.echo("Note: some of what was kept was damaged, and was scored again.", err=True)
    for caution in scored.cautions:
        click.echo(f"Caution: {caution}.", err=True)
    for name, what in scored.chosen.stand_ins.items():
        click.echo(f"Warning: {name}: {what}.", err=True)
    for name, why in scored.chosen.left_out.items():
        click.echo(f"Left out: {name}: {why}", err=True)
