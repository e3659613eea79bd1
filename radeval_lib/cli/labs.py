"""``radbook labs``: build the labs' notebooks, get one to work in, grade what students hand in."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from radeval_lib.cli.common import one_line_errors
from radeval_lib.paths import display_path

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_DAY = "%Y-%m-%d"


class _Deadline(click.DateTime):
    """A moment to the minute, or a day, which ends at its last second."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        moment = super().convert(value, param, ctx)
        with suppress(TypeError, ValueError):  # it names a time, too
            return datetime.strptime(value, _DAY).replace(hour=23, minute=59, second=59)
        return moment


_DEADLINE = _Deadline([_DAY, f"{_DAY}T%H:%M", f"{_DAY} %H:%M"])


@click.group("labs")
def labs_group() -> None:
    """Exercises on the study: build them, work on one, grade a class."""


@labs_group.command("build")
@click.option("--output", type=click.Path(path_type=Path), help="Folder to write to.  [default: build/labs]")
@one_line_errors
def build(output: Path | None) -> None:
    """Write every lab's notebooks: student's, instructor's and grader's."""
    from radeval_lib.labs import building, lab_sources

    for lab in lab_sources.labs():
        building.build(lab, output or building.OUTPUT)
        click.echo(f"Lab {lab.number}: {lab.title}")
    click.echo(f"Written to {display_path(output or building.OUTPUT)}: hand out student/ alone")


@labs_group.command("start")
@click.argument("lab")
@one_line_errors
def start(lab: str) -> None:
    """Put the notebook of LAB, a number or name, into my_labs/, unless it is there; say where."""
    from radeval_lib import atomic
    from radeval_lib.labs import building, lab_sources

    chosen = lab_sources.find(lab)
    target = building.WORK / f"{chosen.name}.ipynb"
    if not target.exists():
        atomic.write_text(target, building.as_file(building.versions(chosen)["student"]))
    click.echo(display_path(target))


@labs_group.command("grade")
@click.argument("submissions", type=click.Path(path_type=Path, exists=True))
@click.option("--output", required=True, type=click.Path(path_type=Path), help="CSV to write.")
@click.option("--lab", default="", help="The lab of notebooks that do not tell theirs, by number or name.")
@click.option("--roster", type=_FILE, help="The class: a CSV with ids and names, such as Canvas exports.")
@click.option("--deadline", type=_DEADLINE, help="Until when a submission counts; a day counts to its end.")
@click.option("--accept-version", multiple=True, help="Grade notebooks of this version of a lab as well.")
@click.option("--trust-submissions", is_flag=True, help="Run submissions without isolation, at your risk.")
@click.option("--seconds", default=60, show_default=True, type=click.IntRange(1), help="Limit of a cell.")
@click.option("--memory", default=6.0, show_default=True, type=click.FloatRange(1), help="Limit in GB.")
@click.option("--jobs", default=0, type=click.IntRange(0), help="Submissions at once; 0: one per core.")
@one_line_errors
def grade(
    submissions: Path,
    output: Path,
    lab: str,
    roster: Path | None,
    deadline: datetime | None,
    accept_version: tuple[str, ...],
    trust_submissions: bool,
    seconds: int,
    memory: float,
    jobs: int,
) -> None:
    """Grade every notebook in SUBMISSIONS, a folder or a zip; write a table, and a page for each student.

    Written marks in a table that is there stay. Of several submissions of a student the latest counts.
    """
    from radeval_lib.labs import grading
    from radeval_lib.labs.grading_rules import GradingRules, SubmissionLimits
    from radeval_lib.labs.roster import read_roster

    limits = SubmissionLimits(seconds, int(memory * 1e9), jobs)
    rules = GradingRules(limits, lab, trust_submissions, accept_version, deadline)
    table = grading.grade(submissions, output, rules, read_roster(roster) if roster else None)
    noted = sum(bool(notes) for notes in table["notes"])
    click.echo(f"{len(table)} rows, {noted} with notes to read: {display_path(output)}")


@labs_group.command("totals")
@click.argument("grades", type=_FILE)
@click.option("--output", required=True, type=click.Path(path_type=Path), help="CSV to write.")
@click.option("--canvas", type=click.Path(path_type=Path), help="CSV for Canvas; needs --roster.")
@click.option("--roster", type=_FILE, help="The class: a CSV with ids and names, such as Canvas exports.")
@one_line_errors
def totals(grades: Path, output: Path, canvas: Path | None, roster: Path | None) -> None:
    """Add the written marks that you entered into GRADES to the points of the tests."""
    from radeval_lib import atomic
    from radeval_lib.labs import gradebook
    from radeval_lib.labs.roster import read_roster, read_table

    if canvas and not roster:
        raise click.UsageError("--canvas needs --roster, which has the students as Canvas knows them.")
    table = gradebook.totals(read_table(grades), grades.name)
    atomic.write_text(output, table.to_csv(index=False))
    if canvas and roster:
        made = gradebook.canvas(table, read_roster(roster))
        atomic.write_text(canvas, made.to_csv(index=False))
    click.echo(f"{len(table)} rows, {(table['total'] != '').sum()} with a total: {display_path(output)}")


@labs_group.command("check")
@click.argument("notebook", type=_FILE)
@click.option("--seconds", default=300, show_default=True, type=click.IntRange(1), help="Limit of a cell.")
@one_line_errors
def check(notebook: Path, seconds: int) -> None:
    """Run your saved NOTEBOOK from its beginning, and say what its checks say."""
    from radeval_lib.labs import run_checks

    outcomes = run_checks.run_checks(notebook, seconds)
    for outcome in outcomes:
        words = ": ".join(filter(None, (outcome.task, outcome.message)))
        click.echo(f"{'passes' if outcome.passed else 'FAILS '}  {words}")
    failed = sum(not outcome.passed for outcome in outcomes)
    click.echo(f"{len(outcomes) - failed} of {len(outcomes)} pass")
    for outcome in outcomes:
        if outcome.task == "student_id" and not outcome.passed:
            click.echo(f"Mind your id, in the first cell: {outcome.message}")
    if failed:
        raise SystemExit(1)
