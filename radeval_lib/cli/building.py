"""``radbook build``, ``run`` and ``render``: run notebooks and render the book."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import click

from radeval_lib.cli.common import data_root_option, one_line_errors, profile_option
from radeval_lib.paths import BUILD, shown


@click.command()
@profile_option
@data_root_option
@click.option("--cores", default=2, show_default=True, type=click.IntRange(1), help="Notebooks run at once.")
@click.option("--dry-run", is_flag=True, help="Say what would run, and stop.")
@one_line_errors
def build(profile: str, data_root: str, cores: int, dry_run: bool) -> None:
    """Run every notebook that needs it and render the book."""
    from radeval_lib import data
    from radeval_lib.pipeline import engine
    from radeval_lib.study import profiles, results, scorecards, verdicts

    profiles.profile(profile)
    started = time.monotonic()
    engine.run_workflow(profile, data.data_root(data_root or None), cores, click.echo, dry_run)
    if dry_run:
        return
    card = scorecards.scorecard(results.read_all(BUILD / profile))
    counts = card["verdict"].value_counts()
    listed = ", ".join(f"{counts[verdict]} {verdict}" for verdict in verdicts.VERDICTS if verdict in counts)
    click.echo(f"\nBook:      {shown(BUILD / profile / '_build' / 'html' / 'index.html')}")
    click.echo(f"Scorecard: {len(card)} exhibits: {listed}")
    click.echo(f"Took:      {time.monotonic() - started:.0f} s")


@click.command(hidden=True)
@profile_option
@data_root_option
@one_line_errors
def render(profile: str, data_root: str) -> None:
    """Render the book from executed notebooks (the last step of `build`)."""
    from radeval_lib import data
    from radeval_lib.pipeline import book

    book.render(BUILD / profile, data.data_root(data_root or None))


@click.command()
@click.argument("notebook")
@click.option(
    "-p", "parameters", nargs=2, multiple=True, metavar="NAME VALUE", help="A parameter of the notebook."
)
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), help="Where the executed notebook goes."
)
@click.option("--quiet", is_flag=True, help="No progress bar.")
@one_line_errors
def run(notebook: str, parameters: tuple[tuple[str, str], ...], output: Path | None, quiet: bool) -> None:
    """Run one NOTEBOOK, such as rales/nlu_scores."""
    from radeval_lib.pipeline import execute
    from radeval_lib.study import profiles

    name, values = execute.notebook_name(notebook), dict(parameters)
    profile = profiles.profile(values.get("profile", "embedded"))
    target = output or BUILD / profile.name / "executed" / f"{name}.ipynb"
    results = (
        (Path(values["output_dir"]) if values.get("output_dir") else BUILD / profile.name) / "results" / name
    )
    shutil.rmtree(results, ignore_errors=True)  # what an earlier version of the notebook recorded
    results.mkdir(parents=True, exist_ok=True)  # trainings, which record nothing there, run side by side
    execute.run_notebook(name, target, values, progress=not quiet)
    if not quiet:
        click.echo(f"Executed: {shown(target)}\nResults:  {shown(results)}")
