"""``radbook score``, ``compare`` and ``metric-card``: metrics over a file of pairs, systems on the same
references, and a card for any metric."""

from __future__ import annotations

import importlib
import json
import os
import shlex
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from radeval_lib.cli import EXIT_BAD_INPUT, FILE, data_root_option, one_line_errors
from radeval_lib.errors import ParameterError
from radeval_lib.paths import display_path
from radeval_lib.registry import METRICS

if TYPE_CHECKING:
    from radeval_lib.metric_cards.card import Tuned
    from radeval_lib.metric_cards.measurements import Half
    from radeval_lib.metrics.file_scoring import ScoredFile


_OFTEN = 0.2  # seconds between two lines of progress
_REMEDY = "Write FILE.py:FUNCTION."
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


def named_values(given: tuple[str, ...], option: str, form: str) -> dict[str, str]:
    """Return the values of an option that may be repeated, each of the ``form`` NAME=VALUE, by name.

    Raises
    ------
    ParameterError
        For a value of another form, or a name that is given twice.
    """
    values: dict[str, str] = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not (name and sign and value):
            raise ParameterError(f"{text!r} is not of the form {form}", option, f"Write {form}.")
        if name in values:
            raise ParameterError(f"{name!r} is given twice", option, "Rename one, or leave one out.")
        values[name] = value
    return values


def metric_settings(given: tuple[str, ...], metrics: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """Return ``--set metric.name=value`` options as a mapping from name to value for each metric; raises
    ParameterError for one of another form, or of a metric that was not asked for."""
    settings: dict[str, dict[str, str]] = {name: {} for name in metrics}
    form = f"{metrics[0]}.NAME=VALUE"
    for name, value in named_values(given, "--set", form).items():
        metric, _, setting = name.partition(".")
        if metric not in settings or not setting:
            problem = f"{name!r} is no setting of {' or '.join(metrics)}"
            raise ParameterError(problem, "--set", f"Write {form}.")
        settings[metric][setting] = value
    return settings


@click.command()
@metric_option
@settings_option
@input_option
@click.option("--output", "output_path", required=True, type=FILE, help="A file, as --input.")
@click.option(
    "--explain", is_flag=True, help="Also write OUTPUT.explained.jsonl: each error, and where it is."
)
@click.option(
    "--report",
    "report_path",
    type=FILE,
    help="Also write a page (HTML) that shows scores, and errors marked in the texts.",
)
@click.option(
    "--no-texts", is_flag=True, help="Repeat no words of the texts in explanations and on the page."
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Processes that score. Default: one per core for a large file, one where a model reads.",
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

    The file has a column `reference`, and `candidate` or, for each system, `candidate:SYSTEM`. The output
    repeats the input rows and adds a column per metric (METRIC:SYSTEM). With a column `group`, means are
    printed per group; columns `age` and `indication` decide how much errors weigh for the rule-based
    judge; a column `id` is repeated in explanations. OUTPUT.about.json has metrics, settings, models and
    versions. Rerun the same command to resume an interrupted run. A metric that was named and could not score
    is reported, and the exit status is then 2; the others' scores are written all the same.
    """
    # oneDNN keeps what it made for a thousand shapes of arrays; with 32 the peak is a tenth lower.
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "32")
    from radeval_lib.metrics.file_scoring import score_file

    try:
        scored = score_file(
            metric_settings(given, metrics),
            input_path,
            output_path,
            explain=explain,
            report=report_path,
            texts=not no_texts,
            workers=workers,
            progress=progress_line("rows"),
        )
    except KeyboardInterrupt:
        click.echo("Stopped: the same command resumes.", err=True)
        raise
    _print_summary(scored, output_path)
    if set(metrics) & set(scored.chosen.left_out):
        sys.exit(EXIT_BAD_INPUT)


def progress_line(unit: str) -> Callable[[int, float], None]:
    """Return a function that shows, on one line of standard error, how many are done and the time left."""
    first: tuple[float, float] | None = None
    last = time.monotonic()

    def progress(done: int, share: float) -> None:
        nonlocal first, last
        now = time.monotonic()
        first = first or (now, share)  # a resumed file begins with a share that is done
        began, before = first
        if share > before and (share == 1 or now - last > _OFTEN):
            last = now
            left = timedelta(seconds=round((now - began) * (1 - share) / (share - before)))
            # Ends in a carriage return, so that the next line overwrites this one.
            click.echo(f"{done:,} {unit} scored, {left} left \r", nl=False, err=True)

    return progress


def _print_summary(scored: ScoredFile, output_path: Path) -> None:
    """Print what was scored and how, means, cautions and metrics that were left out, on standard error."""
    from radeval_lib.metrics.cautions import RELIABLE
    from radeval_lib.metrics.scoring import notes_of

    metrics = scored.chosen.metrics
    again = f", {scored.kept:,} of them kept from an interrupted run" if scored.kept else ""
    lines = [f"{scored.rows:,} rows scored with {', '.join(metrics)}{again}: {display_path(output_path)}"]
    for column in scored.means.get("all", {}):
        parts = (f"{part} {means[column]:.4g}" for part, means in scored.means.items())
        direction = "" if metrics[column.partition(":")[0]].higher_is_better else " (lower is better)"
        lines.append(f"Mean {column}{direction}: {', '.join(parts)}")
    lines += [f"Signature: {signature}" for signature in scored.signatures.values()]
    if scored.coverage is not None:
        doubt = "; do not rely on what they find" if scored.coverage < RELIABLE else ""
        lines.append(f"The rules could read {scored.coverage:.0%} of what a pair says{doubt}.")
    lines += [f"Caution: {caution}." for caution in scored.cautions]
    lines += [f"Note: {note}." for note in notes_of(scored.chosen)]
    click.echo("\n".join(lines), err=True)


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
@click.option("--all", "every", is_flag=True, help="Also print every pair of systems.")
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

    files = named_values(candidates, "--candidates", "NAME=FILE")
    for target in filter(None, (output_path, methods_path)):
        check_target(target, [input_path, *map(Path, files.values())], "comparison.json")
    comparison = compare_files(
        input_path,
        named_values(systems, "--system", "NAME=COLUMN") or None,
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


def _function(named: str) -> Callable[..., Any]:
    """Return the function that ``FILE.py:NAME`` or ``MODULE:NAME`` names; the neighbours of its file can be
    imported from then on."""
    home, _, name = named.rpartition(":")
    if not home or not name:
        raise ParameterError("the file or the function is missing", named, _REMEDY)
    path = Path(home)
    is_file = path.suffix == ".py"
    if is_file and not path.is_file():
        raise ParameterError("no such file", path.name, _REMEDY)
    sys.path.insert(0, str(path.resolve().parent) if is_file else "")
    try:
        module = importlib.import_module(path.stem if is_file else home)
    except (Exception, SystemExit) as error:  # a script may end Python, if it has no `if __name__ == ...`
        problem = f"importing it raised {type(error).__name__}: {error}"
        raise ParameterError(problem, path.name, "Import it in Python to see where.") from None
    function = getattr(module, name, None)
    if not callable(function):
        raise ParameterError(f"no function {name!r}", path.name, _REMEDY)
    return function


def _given_metric(
    metric: str, program: str, scores: Path | None, build_pairs: Callable[[], Any]
) -> tuple[Any, str]:
    """Return the metric that exactly one of the first three arguments gives, as a card takes it, and its
    name, which is empty if the card finds it."""
    from radeval_lib.metric_cards import pairs as card_pairs

    if sum(map(bool, (metric, program, scores))) != 1:
        remedy = "Give one of METRIC, --command and --scores, or give --pairs."
        raise ParameterError("not exactly one metric is given", "radbook metric-card", remedy)
    if scores:
        return card_pairs.of_file(scores), scores.stem
    if program:
        words = list[str]()
        with suppress(ValueError):  # of a quotation mark without its partner
            words = shlex.split(program)
        if not words:
            remedy = "Give a program and its arguments, and close each quotation mark."
            raise ParameterError(f"{program!r} is no command", "--command", remedy)
        return card_pairs.of_command(words, build_pairs()), words[0]
    is_function = ":" in metric or metric.endswith(".py")
    return (_function(metric) if is_function else metric), ""


@click.command("metric-card")
@click.argument("metric", required=False, default="")
@click.option("--command", "program", default="", help="A command that reads and writes JSON lines.")
@click.option("--scores", type=FILE, help="A file of scores (id, score) of what --pairs writes.")
@click.option("--pairs", type=FILE, help="Write the pairs as JSON lines, and stop.")
@click.option(
    "--output",
    "output_path",
    type=FILE,
    default=Path("metric_card.html"),
    show_default=True,
    help="The page; beside it are written its JSON, CSV, LaTeX and BibTeX.",
)
@click.option(
    "--batched", is_flag=True, help="The function takes two lists and gives a number for each pair."
)
@click.option("--lower-is-better", is_flag=True, help="As the metric's author declares.")
@click.option("--range", "value_range", type=(float, float), help="Lowest and highest score, as declared.")
@click.option(
    "--tuned",
    type=click.Choice(["yes", "no", "unknown"]),
    default="unknown",
    show_default=True,
    help="Whether any part of the metric was tuned on RadPref.",
)
@click.option(
    "--half",
    type=click.Choice(["all", "development", "report"]),
    default="all",
    show_default=True,
    help="Keep to a fixed half of RadPref's cases; a half gives intervals and no test.",
)
@click.option("--quick", is_flag=True, help="Edit fewer reports; the card says so first.")
@click.option("--systems", is_flag=True, help="Also score committed outputs of real systems.")
@data_root_option
@one_line_errors
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
    """Make a card for METRIC: a name that `radbook score` knows, FILE.py:FUNCTION or MODULE:FUNCTION.

    The function takes a reference and a candidate and returns a number. A metric in another language is run
    with --command or, scored elsewhere, is given by --pairs and --scores. The card says first what its checks
    found, then how the metric agrees with radiologists (RadPref) and with counted facts (MTS-Dialog) beside
    all stored metrics, and which simple edits it detects. Without a data root, only generated reports are
    edited.
    """
    from radeval_lib import atomic
    from radeval_lib.metric_cards import card as cards
    from radeval_lib.metric_cards import pairs as card_pairs
    from radeval_lib.metrics.file_scoring import check_target

    root = cards.root_of(data_root)
    build_pairs = partial(card_pairs.build, root, quick=quick, systems=systems)
    if pairs is not None:
        check_target(pairs, example="pairs.jsonl")
        frame = build_pairs()
        atomic.write_text(pairs, card_pairs.as_lines(frame))
        click.echo(f"{len(frame):,} pairs: {display_path(pairs)}")
        return
    check_target(output_path, [scores] if scores else [], "card.html")
    given, name = _given_metric(metric, program, scores, build_pairs)
    card = cards.metric_card(
        given,
        name=name,
        batched=batched,
        higher_is_better=not lower_is_better,
        value_range=value_range,
        tuned=tuned,
        half=half,
        quick=quick,
        systems=systems,
        data_root=root,
        progress=progress_line("pairs"),
    )
    files = card.write(output_path)
    click.echo(card.paragraph)
    if card.message:
        click.echo(f"The first pair that failed raised {card.message}", err=True)
    click.echo(f"Written: {', '.join(map(display_path, files))}", err=True)
