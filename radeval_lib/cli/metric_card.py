"""``radbook metric-card``: a card for any metric."""

from __future__ import annotations

import importlib
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from radeval_lib.cli import FILE, data_root_option, one_line_errors
from radeval_lib.errors import ParameterError
from radeval_lib.paths import display_path

if TYPE_CHECKING:
    from radeval_lib.metric_cards.card import Tuned
    from radeval_lib.metric_cards.measurements import Half

_REMEDY = "Write FILE.py:FUNCTION."


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
    from radeval_lib.cli.scoring import progress_line
    from radeval_lib.metric_cards import pairs as card_pairs
    from radeval_lib.metric_cards import scores as card_scores
    from radeval_lib.metric_cards.card import metric_card as make_card
    from radeval_lib.metric_cards.card import root_of
    from radeval_lib.metrics.file_scoring import check_target

    root = root_of(data_root)
    if pairs is not None:
        frame = card_pairs.build(root, quick=quick, systems=systems)
        check_target(pairs)
        atomic.write_text(pairs, card_pairs.as_lines(frame))
        click.echo(f"{len(frame):,} pairs: {display_path(pairs)}")
        return
    if sum(map(bool, (metric, program, scores))) != 1:
        remedy = "Give one of METRIC, --command and --scores, or give --pairs."
        raise ParameterError("not exactly one metric is given", "radbook metric-card", remedy)
    check_target(output_path, [scores] if scores else [])
    given: Any = metric
    name = ""
    if scores:
        given, name = card_scores.of_file(scores), scores.stem
    elif program:
        words = shlex.split(program)
        frame = card_pairs.build(root, quick=quick, systems=systems)
        given, name = card_scores.of_command(words, frame), words[0]
    elif ":" in metric or metric.endswith(".py"):
        given = _function(metric)
    card = make_card(
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
