"""The commands ``radbook score``, which scores a file of pairs, ``radbook compare``, which compares systems
on the same references, and ``radbook metric-card``, which tests a metric."""

from __future__ import annotations

import importlib
import json
import os
import shlex
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from radeval_lib.cli import EXIT_BAD_INPUT, FILE, data_root_option, print_errors_in_one_line
from radeval_lib.errors import ParameterError
from radeval_lib.paths import display_path
from radeval_lib.registry import METRICS

if TYPE_CHECKING:
    from radeval_lib.metric_cards.card import Tuned
    from radeval_lib.metric_cards.measurements import Half
    from radeval_lib.metrics.file_scoring import ScoredFile


_PROGRESS_INTERVAL = 0.2  # minimum number of seconds between two progress lines

metric_option = click.option(
    "--metric",
    "metrics",
    required=True,
    multiple=True,
    help=f"One of {', '.join(METRICS)}, or `all` that can run here without a download; may be repeated.",
)
settings_option = click.option(
    "--set", "assignments", multiple=True, metavar="METRIC.NAME=VALUE", help="Change a metric's setting."
)
input_option = click.option(
    "--input", "input_path", required=True, type=FILE, help="CSV, TSV or JSON lines (.jsonl)."
)


def parse_named_values(texts: tuple[str, ...], option: str, form: str) -> dict[str, str]:
    """Return a mapping from name to value, parsed from strings such as ``NAME=VALUE``.

    Parameters
    ----------
    texts : the values of one command-line option.
    option : the option, such as ``--system``, for error messages.
    form : the syntax of the values, for error messages.

    Raises
    ------
    ParameterError
        If a string lacks the name, the ``=`` or the value, or a name is given twice.
    """
    values: dict[str, str] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not (name and value):
            raise ParameterError(f"{text!r} is not of the form {form}", option, f"Write {form}.")
        if name in values:
            raise ParameterError(f"{name!r} is given twice", option, "Use each name once.")
        values[name] = value
    return values


def parse_metric_settings(
    assignments: tuple[str, ...], metrics: tuple[str, ...]
) -> dict[str, dict[str, str]]:
    """Return a mapping from metric to its settings, each a mapping from name to value.

    Parameters
    ----------
    assignments : values of ``--set``, each ``METRIC.NAME=VALUE``.
    metrics : one or more names of metrics. A metric without an assignment gets an empty dictionary.

    Raises
    ------
    ParameterError
        If an assignment is not of this form, names no setting or a metric that is not in ``metrics``, or has
        the metric and setting of another one.
    """
    settings: dict[str, dict[str, str]] = {name: {} for name in metrics}
    form = "METRIC.NAME=VALUE"
    for name, value in parse_named_values(assignments, "--set", form).items():
        metric, _, setting = name.partition(".")
        if metric not in settings or not setting:
            problem = f"{name!r} is not a setting of {' or '.join(metrics)}"
            raise ParameterError(problem, "--set", f"Write {form}, and add --metric METRIC.")
        settings[metric][setting] = value
    return settings


@click.command()
@metric_option
@settings_option
@input_option
@click.option("--output", "output_path", required=True, type=FILE, help="Scores: .csv, .tsv or .jsonl.")
@click.option(
    "--explain", is_flag=True, help="Also write each error and its place to OUTPUT.explained.jsonl."
)
@click.option(
    "--report",
    "report_path",
    type=FILE,
    help="Also write an HTML page with the scores, and with the errors marked in the texts.",
)
@click.option("--no-texts", is_flag=True, help="Leave words of the texts out of explanations and the page.")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Number of processes; by default, one per core for a large file, one if a metric runs a model.",
)
@print_errors_in_one_line
def score(
    metrics: tuple[str, ...],
    assignments: tuple[str, ...],
    input_path: Path,
    output_path: Path,
    explain: bool,
    report_path: Path | None,
    no_texts: bool,
    workers: int | None,
) -> None:
    """Score a file of reports against their references.

    The input has a column `reference` and a column `candidate` or, for several systems, one column
    `candidate:SYSTEM` each. The output repeats the input and adds a column METRIC, or METRIC:SYSTEM for each
    system.

    Optional columns of the input: with `group`, means are printed per group; `age` and `indication` change
    the weight of an error for the rule-based judge; `id` is repeated in explanations.

    OUTPUT.about.json records metrics, settings, models and versions. To resume an interrupted run, repeat the
    command. If a named metric cannot score, a note says so, the scores of the other metrics are still
    written, and the exit status is 2.
    """
    # By default, oneDNN caches primitives for 1024 array shapes; with 32, peak memory is a tenth lower.
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "32")
    from radeval_lib.metrics.file_scoring import score_file

    try:
        scored = score_file(
            parse_metric_settings(assignments, metrics),
            input_path,
            output_path,
            explain=explain,
            report=report_path,
            texts=not no_texts,
            workers=workers,
            progress=make_progress_printer("rows"),
        )
    except KeyboardInterrupt:
        click.echo("Stopped. Repeat the command to resume.", err=True)
        raise
    _print_summary(scored, output_path)
    if set(metrics) & set(scored.chosen.left_out):
        sys.exit(EXIT_BAD_INPUT)


def make_progress_printer(unit: str) -> Callable[[int, float], None]:
    """Return a function that prints how much has been scored and an estimate of the time left.

    The function takes ``done``, the number of units scored so far, and ``share``, the share of the work that
    is done (0 to 1). It overwrites one line on standard error, at most every 0.2 s and always when the work
    is done. It prints nothing on its first call, when there is no rate to estimate from. ``unit`` names the
    units, such as ``rows``.
    """
    start: tuple[float, float] | None = None
    last_printed = time.monotonic()

    def print_progress(done: int, share: float) -> None:
        nonlocal start, last_printed
        now = time.monotonic()
        start = start or (now, share)  # The first share is above 0 if a run is resumed.
        start_time, start_share = start
        if share > start_share and (share == 1 or now - last_printed > _PROGRESS_INTERVAL):
            last_printed = now
            time_left = timedelta(seconds=round((now - start_time) * (1 - share) / (share - start_share)))
            # The carriage return at the end lets the next line overwrite this one.
            click.echo(f"{done:,} {unit} scored, {time_left} left \r", nl=False, err=True)

    return print_progress


def _print_summary(scored: ScoredFile, output_path: Path) -> None:
    """Print to standard error the number of scored rows, the means and signatures, and all warnings.

    Warnings are the rules' coverage, cautions, and notes on metrics that could not score.
    """
    from radeval_lib.metrics.cautions import RELIABLE_SHARE
    from radeval_lib.metrics.scoring import list_notes

    metrics = scored.chosen.metrics
    suffix = f", {scored.kept_rows:,} of them kept from an interrupted run" if scored.kept_rows else ""
    lines = [f"{scored.rows:,} rows scored with {', '.join(metrics)}{suffix}: {display_path(output_path)}"]
    for column in scored.means.get("all", {}):
        parts = (f"{part} {means[column]:.4g}" for part, means in scored.means.items())
        direction = "" if metrics[column.partition(":")[0]].higher_is_better else " (lower is better)"
        lines.append(f"Mean {column}{direction}: {', '.join(parts)}")
    lines += [f"Signature: {signature}" for signature in scored.signatures.values()]
    if scored.coverage is not None:
        warning = "; do not rely on their scores" if scored.coverage < RELIABLE_SHARE else ""
        lines.append(f"The rules could read {scored.coverage:.0%} of what a pair says{warning}.")
    lines += [f"Caution: {caution}." for caution in scored.cautions]
    lines += [f"Note: {note}." for note in list_notes(scored.chosen)]
    click.echo("\n".join(lines), err=True)


@click.command()
@input_option
@click.option(
    "--system",
    "systems",
    multiple=True,
    metavar="NAME=COLUMN",
    help="A system and its column of candidates; may be repeated; by default, all columns `candidate:NAME`.",
)
@click.option(
    "--candidates",
    multiple=True,
    metavar="NAME=FILE",
    help="A system and the file with its column `candidate`; may be repeated. Rows are matched by the column "
    "`id` of --input if the file has the same values in `id` or another column, otherwise by order.",
)
@metric_option
@settings_option
@click.option("--output", "output_path", type=FILE, help="Also write the comparison as JSON.")
@click.option("--all", "every", is_flag=True, help="Also print the test of every pair of systems.")
@click.option(
    "--floor", is_flag=True, help="Add two baselines: one text for all rows, and other rows' references."
)
@click.option(
    "--methods",
    "methods_path",
    type=FILE,
    help="Write a paragraph for a methods section, with its references in BibTeX, to this file.",
)
@print_errors_in_one_line
def compare(
    input_path: Path,
    systems: tuple[str, ...],
    candidates: tuple[str, ...],
    metrics: tuple[str, ...],
    assignments: tuple[str, ...],
    output_path: Path | None,
    every: bool,
    floor: bool,
    methods_path: Path | None,
) -> None:
    """Compare systems on the same references.

    For each metric, prints the mean or corpus score of every system with its confidence interval, the
    clusters of systems that do not differ significantly (randomization tests, Holm's correction over all
    pairs and metrics), a summary sentence, and cautions. For a single system, nothing is tested.

    Optional columns of the input: rows with the same `case` or `patient` are resampled together. If every
    system has a column METRIC:NAME, these scores are used instead of computed; METRIC may then be any name.

    If a named metric cannot score, a note says so, and the exit status is 2.
    """
    from radeval_lib import atomic
    from radeval_lib.metrics.compare import compare_files
    from radeval_lib.metrics.file_scoring import check_target

    files = parse_named_values(candidates, "--candidates", "NAME=FILE")
    for target in filter(None, (output_path, methods_path)):
        check_target(target, [input_path, *map(Path, files.values())], "comparison.json")
    comparison = compare_files(
        input_path,
        parse_named_values(systems, "--system", "NAME=COLUMN") or None,
        candidates=files,
        metrics=parse_metric_settings(assignments, metrics),
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


def load_function(location: str) -> Callable[..., Any]:
    """Return the function at ``location``, which is ``FILE.py:NAME`` or ``MODULE:NAME``.

    The file's folder, or the working directory, stays on ``sys.path``, so that the function can import from
    it.

    Raises
    ------
    ParameterError
        If ``location`` has another form, the file or function does not exist, or importing the module fails.
    """
    file_or_module, _, name = location.rpartition(":")
    if not file_or_module or not name:
        raise ParameterError(f"{location!r} is incomplete", "METRIC", "Write FILE.py:NAME or MODULE:NAME.")
    path = Path(file_or_module)
    is_file = path.suffix == ".py"
    if is_file and not path.is_file():
        raise ParameterError("no such file", path.name, "Correct its name or folder.")
    sys.path.insert(0, str(path.resolve().parent) if is_file else "")
    try:
        module = importlib.import_module(path.stem if is_file else file_or_module)
    except (Exception, SystemExit) as error:  # a script without `if __name__ == ...` may exit
        problem = f"importing it raised {type(error).__name__}: {error}"
        raise ParameterError(problem, path.name, "Import it in Python, and correct the error.") from None
    function = getattr(module, name, None)
    if not callable(function):
        raise ParameterError(f"no function {name!r}", path.name, "Name a function of this file or module.")
    return function


def resolve_metric(
    metric: str, program: str, scores: Path | None, build_pairs: Callable[[], Any]
) -> tuple[Any, str]:
    """Return the metric for :func:`~radeval_lib.metric_cards.card.metric_card`, and its name for the card.

    Parameters
    ----------
    metric, program, scores : the argument METRIC and the options --command and --scores. Exactly one must be
        set; the others are empty or None.
    build_pairs : returns the pairs that the program must score; called only for --command.

    Returns
    -------
    metric : for METRIC, a function or the name of a metric of this library; otherwise, a mapping from pair id
        to score.
    name : the name of the program, or of the file of scores without its suffix; empty for METRIC, which
        ``metric_card`` names itself.

    Raises
    ------
    ParameterError
        If none or more than one of the three is set, the function cannot be loaded, or the command cannot be
        split into words.
    MetricError
        If the program fails, its output or the file of scores is malformed, or that file does not exist.
    OSError
        If the program cannot be started.
    """
    from radeval_lib.metric_cards import pairs as card_pairs

    if sum(map(bool, (metric, program, scores))) != 1:
        problem = f"{sum(map(bool, (metric, program, scores)))} of METRIC, --command and --scores are given"
        raise ParameterError(problem, "radbook metric-card", "Pass exactly one, or only --pairs.")
    if scores:
        return card_pairs.read_scores(scores), scores.stem
    if program:
        try:
            command = shlex.split(program)
        except ValueError as error:  # raised for an open quotation mark or a backslash at the end
            problem = f"{program!r} cannot be read as a command: {str(error).lower()}"
            raise ParameterError(problem, "--command", "Correct its quotation marks or escapes.") from None
        if not command:
            raise ParameterError("the command is blank", "--command", "Pass a program and its arguments.")
        return card_pairs.run_command(command, build_pairs()), command[0]
    is_function = ":" in metric or metric.endswith(".py")
    return (load_function(metric) if is_function else metric), ""


@click.command("metric-card")
@click.argument("metric", required=False, default="")
@click.option("--command", "program", default="", help="Program that reads pairs and writes scores (JSONL).")
@click.option("--scores", type=FILE, help="File with columns `id` and `score`, for the pairs of --pairs.")
@click.option("--pairs", type=FILE, help="Write the pairs to score to this file (JSON lines), and stop.")
@click.option(
    "--output",
    "output_path",
    type=FILE,
    default=Path("metric_card.html"),
    show_default=True,
    help="HTML file of the card. JSON, CSV, LaTeX and BibTeX files are written beside it.",
)
@click.option(
    "--batched", is_flag=True, help="The function takes two lists of texts and returns a number per pair."
)
@click.option("--lower-is-better", is_flag=True, help="Declare that a lower score is better.")
@click.option("--range", "value_range", type=(float, float), help="Lowest and highest possible score.")
@click.option(
    "--tuned",
    type=click.Choice(["yes", "no", "unknown"]),
    default="unknown",
    show_default=True,
    help="Whether the metric was fitted to RadPref's ratings.",
)
@click.option(
    "--half",
    type=click.Choice(["all", "development", "report"]),
    default="all",
    show_default=True,
    help="Use all of RadPref or a fixed half of its cases; a half gives intervals but no test.",
)
@click.option("--quick", is_flag=True, help="Edit 30 reports instead of 100; the card says so.")
@click.option("--systems", is_flag=True, help="Also score reports of real systems on Open-i.")
@data_root_option
@print_errors_in_one_line
def metric_card(
    metric: str,
    program: str,
    scores: Path | None,
    pairs: Path | None,
    output_path: Path,
    batched: bool,
    lower_is_better: bool,
    value_range: tuple[float, float] | None,
    tuned: Tuned,
    half: Half,
    quick: bool,
    systems: bool,
    data_root: str,
) -> None:
    """Test a metric and write its report card.

    METRIC is a metric that `radbook score` lists, FILE.py:FUNCTION or MODULE:FUNCTION. The function takes a
    reference and a candidate and returns a number. For a metric in another language, give --command. For a
    metric on another machine, write the pairs with --pairs, score them there, and give --scores.

    The card first lists the faults that its checks found. Then it shows how well the metric agrees with
    radiologists (RadPref) and with counted facts (MTS-Dialog), beside every stored metric, and which simple
    edits of reports it detects. Without a data root, the card shows agreement only for a metric with stored
    scores, and generated reports are edited.
    """
    from radeval_lib import atomic
    from radeval_lib.metric_cards import card as cards
    from radeval_lib.metric_cards import pairs as card_pairs
    from radeval_lib.metrics.file_scoring import check_target

    root = cards.resolve_data_root(data_root)
    build_pairs = partial(card_pairs.build, root, quick=quick, systems=systems)
    if pairs is not None:
        check_target(pairs, example="pairs.jsonl")
        frame = build_pairs()
        atomic.write_text(pairs, card_pairs.to_json_lines(frame))
        click.echo(f"{len(frame):,} pairs: {display_path(pairs)}")
        return
    check_target(output_path, [scores] if scores else [], "card.html")
    metric_or_scores, name = resolve_metric(metric, program, scores, build_pairs)
    card = cards.metric_card(
        metric_or_scores,
        name=name,
        batched=batched,
        higher_is_better=not lower_is_better,
        value_range=value_range,
        tuned=tuned,
        half=half,
        quick=quick,
        systems=systems,
        data_root=root,
        progress=make_progress_printer("pairs"),
    )
    files = card.write(output_path)
    click.echo(card.paragraph)
    if card.message:
        click.echo(f"The first pair that failed raised {card.message}", err=True)
    click.echo(f"Written: {', '.join(map(display_path, files))}", err=True)
