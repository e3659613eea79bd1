"""``radbook labs``: build the labs' notebooks, get one to work in, grade what students hand in."""

from __future__ import annotations

from pathlib import Path

import click

from radeval_lib.cli.common import one_line_errors
from radeval_lib.paths import display_path


@click.group("labs")
def labs_group() -> None:
    """Exercises on the study: build them, work on one, grade a class."""


@labs_group.command("build")
@click.option("--output", type=click.Path(path_type=Path), help="Folder to write to.  [default: build/labs]")
@one_line_errors
def build(output: Path | None) -> None:
    """Write every lab's notebooks: student's, instructor's and grader's."""
    from radeval_lib.labs import building

    for lab in building.labs():
        building.build(lab, output or building.OUTPUT)
        click.echo(f"Lab {lab.number}: {lab.title}")
    click.echo(f"Written to {display_path(output or building.OUTPUT)}: hand out student/ alone")


@labs_group.command("start")
@click.argument("lab")
@one_line_errors
def start(lab: str) -> None:
    """Put the notebook of LAB, a number or name, into my_labs/, unless it is there; say where."""
    from radeval_lib import atomic
    from radeval_lib.labs import building

    found = building.find(lab)
    target = building.WORK / f"{found.name}.ipynb"
    if not target.exists():
        atomic.write_text(target, building.as_file(building.versions(found)["student"]))
    click.echo(display_path(target))


@labs_group.command("grade")
@click.argument("submissions", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--output", required=True, type=click.Path(path_type=Path), help="CSV to write.")
@click.option("--lab", default="", help="The lab of notebooks that do not tell theirs, by number or name.")
@click.option("--seconds", default=60, show_default=True, type=click.IntRange(1), help="Limit of a cell.")
@click.option("--memory", default=6.0, show_default=True, type=click.FloatRange(1), help="Limit in GB.")
@click.option("--jobs", default=0, type=click.IntRange(0), help="Submissions at once; 0: one a core.")
@one_line_errors
def grade(submissions: Path, output: Path, lab: str, seconds: int, memory: float, jobs: int) -> None:
    """Grade every notebook below SUBMISSIONS; write a table, and a page for each student beside it."""
    from radeval_lib.labs import confinement, grading

    if not confinement.hides_files():
        click.echo("This system cannot hide files from submissions: grade where no solutions lie.", err=True)
    if not confinement.hides_processes():
        click.echo(
            "This system cannot keep submissions from networks or other processes: grade on a machine apart.",
            err=True,
        )
    limits = grading.SubmissionLimits(seconds, int(memory * 1e9), *([jobs] if jobs else []))
    table = grading.grade(submissions, output, lab=lab, limits=limits)
    click.echo(f"{len(table)} submissions graded: {display_path(output)}")
