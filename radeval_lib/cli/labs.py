"""``radbook labs``: build the labs' notebooks, get one to work in, grade a class."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import click

from radeval_lib.cli import FILE, one_line_errors
from radeval_lib.paths import display_path


@click.group("labs")
def labs_group() -> None:
    """Exercises on the study: build them, work on one, grade a class."""


@labs_group.command("build")
@click.option("--output", type=FILE, help="Folder to write to.  [default: build/labs]")
@one_line_errors
def build(output: Path | None) -> None:
    """Write every lab's notebooks (student's, solved, autograder), slides and quiz."""
    from radeval_lib.labs import sources

    for lab in sources.labs():
        sources.build(lab, output or sources.OUTPUT)
        sources.write_teaching(lab, output or sources.OUTPUT)
        click.echo(f"Lab {lab.number}: {lab.title}")
    click.echo(f"Written to {display_path(output or sources.OUTPUT)}: hand out student/ alone")


@labs_group.command("start")
@click.argument("lab")
@one_line_errors
def start(lab: str) -> None:
    """Put the notebook of LAB, a number or name, into my_labs/ unless it is there, and show its path."""
    from radeval_lib.labs import sources

    chosen = sources.find(lab)
    target = sources.WORK / f"{chosen.name}.ipynb"
    if not target.exists():
        with tempfile.TemporaryDirectory() as folder:
            sources.build(chosen, Path(folder))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(Path(folder) / "student" / target.name, target)
    click.echo(display_path(target))


@labs_group.command("grade")
@click.argument("submissions", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--output", required=True, type=FILE, help="CSV to write.")
@click.option("--lab", default="", help="The lab of notebooks that do not name theirs, by number or name.")
@click.option(
    "--seconds", default=120, show_default=True, type=click.IntRange(1), help="Limit of a notebook."
)
@click.option("--jobs", default=0, type=click.IntRange(0), help="Submissions at once; 0: one per core.")
@click.option("--trust-submissions", is_flag=True, help="Run submissions without isolation, at your risk.")
@one_line_errors
def grade(
    submissions: Path, output: Path, lab: str, seconds: int, jobs: int, trust_submissions: bool
) -> None:
    """Grade every notebook in the folder SUBMISSIONS with Otter; write a table, and feedback for each."""
    from radeval_lib.labs import grading

    rules = grading.Rules(seconds, lab, not trust_submissions, jobs)
    table = grading.grade(submissions, output, rules, click.echo)
    graded = (table["status"] == "graded").sum()
    click.echo(f"{graded} of {len(table)} graded: {display_path(output)}")
