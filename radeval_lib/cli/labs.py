"""The commands ``radbook labs``: build the labs, start work on a lab, and grade submissions."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import click

from radeval_lib.cli import FILE, print_errors_in_one_line
from radeval_lib.paths import display_path


@click.group("labs")
def labs_group() -> None:
    """Build, start or grade exercises (labs)."""


@labs_group.command("build")
@click.option("--output", type=FILE, help="Folder to write to.  [default: build/labs]")
@print_errors_in_one_line
def build(output: Path | None) -> None:
    """Write the notebooks, slides and quiz of every lab.

    Each lab gets a notebook for students (in student/), a solved notebook and an autograder. Only student/ is
    meant for students.
    """
    from radeval_lib.labs import sources

    for lab in sources.list_labs():
        sources.build(lab, output or sources.OUTPUT)
        sources.write_teaching(lab, output or sources.OUTPUT)
        click.echo(f"Lab {lab.number}: {lab.title}")
    click.echo(f"Written to {display_path(output or sources.OUTPUT)}: give students only the folder student/")


@labs_group.command("start")
@click.argument("lab")
@print_errors_in_one_line
def start(lab: str) -> None:
    """Create my_labs/LAB.ipynb to work on, and print its path.

    LAB is the number or name of a lab. An existing notebook is kept unchanged.
    """
    from radeval_lib.labs import sources

    chosen_lab = sources.find(lab)
    target = sources.WORK / f"{chosen_lab.name}.ipynb"
    if not target.exists():
        with tempfile.TemporaryDirectory() as folder:
            sources.build(chosen_lab, Path(folder))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(Path(folder) / "student" / target.name, target)
    click.echo(display_path(target))


@labs_group.command("grade")
@click.argument("submissions", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--output", required=True, type=FILE, help="CSV file to write, one row per notebook.")
@click.option("--lab", default="", help="Number or name of the lab to assume for a notebook that names none.")
@click.option(
    "--seconds", default=120, show_default=True, type=click.IntRange(1), help="Time limit per notebook."
)
@click.option("--jobs", default=0, type=click.IntRange(0), help="Notebooks to run at once; 0: one per core.")
@click.option("--trust-submissions", is_flag=True, help="Do not isolate; run with your own access rights.")
@print_errors_in_one_line
def grade(
    submissions: Path, output: Path, lab: str, seconds: int, jobs: int, trust_submissions: bool
) -> None:
    """Grade every notebook in the folder SUBMISSIONS.

    Otter runs each notebook in isolation (bubblewrap). The marks are written to --output, such as marks.csv,
    and the feedback on each notebook to a folder beside that file, such as marks_feedback.
    """
    from radeval_lib.labs import grading

    rules = grading.Rules(seconds, lab, not trust_submissions, jobs)
    table = grading.grade(submissions, output, rules, click.echo)
    n_graded = (table["status"] == "graded").sum()
    click.echo(f"{n_graded} of {len(table)} graded: {display_path(output)}")
