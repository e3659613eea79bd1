"""``radbook compare``: systems on the same references."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from radeval_lib.cli import (
    EXIT_BAD_INPUT,
    FILE,
    input_option,
    metric_option,
    metric_settings,
    one_line_errors,
    settings_option,
)
from radeval_lib.errors import ParameterError
from radeval_lib.paths import display_path


def _named(given: tuple[str, ...], option: str, kind: str) -> dict[str, str]:
    """Return ``NAME=VALUE`` options as a mapping."""
    named: dict[str, str] = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not (name and sign and value):
            problem = f"{text!r} is not of the form NAME={kind.upper()}"
            raise ParameterError(problem, option, f"Write a name, an equals sign and a {kind}.")
        if name in named:
            raise ParameterError(f"two systems are called {name!r}", option, "Rename one.")
        named[name] = value
    return named


@click.command()
@input_option
@click.option(
    "--system",
    "systems",
    multiple=True,
    metavar="NAME=COLUMN",
    help="A system and its column of candidates; may be repeated. Default: every column `candidate:NAME`.",
)
@click.option(
    "--candidates",
    multiple=True,
    metavar="NAME=FILE",
    help="A system whose column `candidate` is in a file of its own; rows are joined by a column `id` that "
    "both files have, else by their order. May be repeated.",
)
@metric_option
@settings_option
@click.option("--output", "output_path", type=FILE, help="All of it as JSON.")
@click.option(
    "--all", "every", is_flag=True, help="Also print every pair of systems, and errors by category."
)
@click.option(
    "--floor", is_flag=True, help="Also score one text for all rows, and each row with another's reference."
)
@click.option(
    "--methods",
    "methods_path",
    type=FILE,
    help="Write a paragraph for a methods section, and its sources in BibTeX.",
)
@one_line_errors
def compare(
    input_path: Path,
    systems: tuple[str, ...],
    candidates: tuple[str, ...],
    metrics: tuple[str, ...],
    given: tuple[str, ...],
    output_path: Path | None,
    every: bool,
    floor: bool,
    methods_path: Path | None,
) -> None:
    """Compare systems on the same references.

    Prints the systems by metric with intervals, in significance clusters (randomization tests, Holm's
    correction over all pairs and metrics), a sentence for each metric, and cautions. A single system gets its
    values with intervals. A column `case` or `patient` keeps the rows of a case together. Scores that the
    file has in a column METRIC:NAME for every system are taken from there; METRIC may then be any name. A
    metric that was named and could not score is reported, and the exit status is then 2.
    """
    from radeval_lib import atomic
    from radeval_lib.metrics.compare import compare_files
    from radeval_lib.metrics.file_scoring import check_target

    files = _named(candidates, "--candidates", "file")
    for target in filter(None, (output_path, methods_path)):
        check_target(target, [input_path, *map(Path, files.values())])
    comparison = compare_files(
        input_path,
        _named(systems, "--system", "column") or None,
        candidates=files,
        metrics=metric_settings(given, metrics),
        floor=floor,
    )
    click.echo(comparison.text(every=every))
    as_json = json.dumps(comparison.as_dict(), indent=2, ensure_ascii=False)
    methods = f"{comparison.methods()}\n\n{comparison.references()}"
    for path, text in ((output_path, as_json), (methods_path, methods)):
        if path is not None:
            atomic.write_text(path, f"{text}\n")
            click.echo(f"Written: {display_path(path)}", err=True)
    if set(metrics) & set(comparison.left_out):
        sys.exit(EXIT_BAD_INPUT)
