"""The commands ``radbook build``, ``release``, ``render``, ``serve``, ``exhibits``, ``run``, ``record``."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import click

from radeval_lib.cli import FILE, data_root_option, one_line_errors, profile_option
from radeval_lib.errors import ParameterError, RadevalError
from radeval_lib.paths import BUILD, NOTEBOOKS, ROOT, RUNS, display_path

_SHOWN = ("exhibit", "verdict", "coverage", "evidence", "command", "title")


@click.command()
@profile_option
@data_root_option
@click.option(
    "--cores",
    default=0,
    type=click.IntRange(0),
    help="Notebooks to run at once; 0: as many as the machine's cores and memory allow.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="PAGES",
    help="Build only these pages: a folder of notebooks/, a notebook such as rales/datasets, or an exhibit.",
)
@click.option("--dry-run", is_flag=True, help="List what is missing and what would run; then stop.")
@one_line_errors
def build(profile: str, data_root: str, cores: int, only: tuple[str, ...], dry_run: bool) -> None:
    """Run every notebook that needs it and render the book."""
    from radeval_lib import data
    from radeval_lib.pipeline import engine, steps
    from radeval_lib.study import results, scorecards

    graph = steps.graph(profile, only, data.data_root(data_root or None))
    if dry_run:
        engine.dry_run(graph, click.echo)
        return
    graph.require_data_root()
    started = time.monotonic()
    engine.build(graph, cores or engine.default_cores(), click.echo)
    card = scorecards.scorecard(results.read_all(BUILD / profile))
    listed = ", ".join(f"{word} {number}" for word, number in card["verdict"].value_counts().items())
    click.echo(f"\nBook:      {display_path(BUILD / profile / '_build' / 'html' / 'index.html')}")
    click.echo(f"Scorecard: {len(card)} exhibits: {listed}")
    click.echo(f"Took:      {time.monotonic() - started:.0f} s")


@click.command()
@profile_option
@data_root_option
@click.option("--output", type=FILE, help="The report [default: build/release-PROFILE.md].")
@click.option(
    "--since",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The last edition, as a build's folder or a rendered book's: also write what changed since then.",
)
@one_line_errors
def release(profile: str, data_root: str, output: Path | None, since: Path | None) -> None:
    """Search the rendered book for restricted text, and write a report to sign that repeats none of it."""
    from radeval_lib import atomic, data
    from radeval_lib.pipeline import release as releasing
    from radeval_lib.pipeline import steps
    from radeval_lib.study import profiles, scorecards

    target = output or steps.release_report(BUILD / profile)
    releasing.write(profiles.profile(profile), data.data_root(data_root or None), target)
    click.echo(f"Report: {display_path(target)}")
    if since is not None:
        page = target.with_name(f"changes-{profile}.md")
        atomic.write_text(page, scorecards.changes(since, BUILD / profile))
        click.echo(f"What changed: {display_path(page)}")


@click.command()
@profile_option
@data_root_option
@click.option(
    "--browser-judge/--no-browser-judge",
    "judge",
    default=None,
    help="Whether to have the page Try the judge, with a Python that runs in a browser [default: where "
    "`npm pack` has left its package in build/].",
)
@one_line_errors
def render(profile: str, data_root: str, judge: bool | None) -> None:
    """Render the book from executed notebooks, as the last step of `build` does."""
    from radeval_lib import data
    from radeval_lib.pipeline import book
    from radeval_lib.study import profiles

    book.render(BUILD / profiles.profile(profile).name, data.data_root(data_root or None), judge=judge)


@click.command()
@profile_option
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(1, 65535), help="The port to serve on."
)
@one_line_errors
def serve(profile: str, port: int) -> None:
    """Serve the rendered book to browsers on this computer alone, until Ctrl-C."""
    folder = BUILD / profile / "_build" / "html"
    if not (folder / "index.html").is_file():
        raise ParameterError("no rendered book", profile, f"Run `radbook build --profile {profile}`.")
    click.echo("Ctrl-C ends it.")
    server = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "--directory", str(folder)]
    with suppress(KeyboardInterrupt):
        if subprocess.call([*server, str(port)], stderr=subprocess.DEVNULL):
            raise ParameterError(f"port {port} is in use or not permitted", "--port", "Give another port.")


@click.command()
@click.argument("exhibit", required=False)
@profile_option
@click.option("--json", "as_json", is_flag=True, help="Everything that is known, as JSON.")
@one_line_errors
def exhibits(exhibit: str | None, profile: str, as_json: bool) -> None:
    """List exhibits with their verdicts and the commands that rebuild them, or show one EXHIBIT whole."""
    from radeval_lib.papers import exhibits as ledger
    from radeval_lib.study import profiles, results, scorecards

    profiles.profile(profile)
    card = scorecards.scorecard(results.read_all(BUILD / profile))
    card["command"] = [profiles.command(notebook, profile) for notebook in card["notebook"]]
    if exhibit:
        card = card[card["exhibit"] == ledger.exhibit(exhibit).id]
    if as_json:
        click.echo(json.dumps(json.loads(card.to_json(orient="records")), indent=1, ensure_ascii=False))
    elif exhibit:
        for name, value in card.iloc[0].items():
            click.echo(f"{name:20} {value}")
    else:
        rows = [_SHOWN, *card[list(_SHOWN)].itertuples(index=False)]
        widths = [max(len(str(cell)) for cell in column) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = (str(cell).ljust(width) for cell, width in zip(row, widths, strict=True))
            click.echo("  ".join(cells).rstrip())


@click.command()
@click.argument("notebook")
@data_root_option
@click.option(
    "-p", "parameters", nargs=2, multiple=True, metavar="NAME VALUE", help="A parameter of the notebook."
)
@click.option("--quiet", is_flag=True, help="No progress bar.")
@click.option("--in-build", is_flag=True, hidden=True, help="As a step of a build.")
@one_line_errors
def run(
    notebook: str, data_root: str, parameters: tuple[tuple[str, str], ...], quiet: bool, in_build: bool
) -> None:
    """Run one NOTEBOOK, such as rales/nlu_scores.

    With the parameters of a build it replaces the build's outputs; any other run writes below build/runs.
    """
    from radeval_lib import data
    from radeval_lib.pipeline import execute

    name = execute.notebook_name(notebook)
    values = execute.parse_parameters(name, {"data_root": data_root, **dict(parameters)})
    values["data_root"] = str(data.data_root(values["data_root"] or None) or "")
    planned = execute.plan_run(name, values)
    execute.run_notebook(planned, progress=not quiet, in_build=in_build)
    if not quiet:
        click.echo(f"Executed: {display_path(planned.executed)}\nResults:  {display_path(planned.results)}")


@click.command()
@click.argument("sets", nargs=-1)
@click.option("--profile", default="open", show_default=True, help="Whose build has the models.")
@click.option("--unfreeze", is_flag=True, help="Score RadPref with the judge as it is now, and count it.")
@click.option("--check", is_flag=True, help="Write nothing; score again and compare with what is stored.")
@data_root_option
@one_line_errors
def record(sets: tuple[str, ...], profile: str, unfreeze: bool, check: bool, data_root: str) -> None:
    """Store the scores of public SETS (default: all) by every metric in data_manifests/recorded."""
    import nbformat
    import papermill
    from papermill.exceptions import PapermillExecutionError

    from radeval_lib.data import recorded
    from radeval_lib.pipeline.execute import ForkedKernelManager
    from radeval_lib.study.sources import read_source

    if check and unfreeze:
        raise click.UsageError("--check and --unfreeze exclude each other. Give one of them.")
    given = {"profile": profile, "data_root": data_root, "unfreeze": unfreeze, "check": check}
    executed = RUNS / "storing"
    executed.mkdir(parents=True, exist_ok=True)
    nbformat.write(read_source(NOTEBOOKS / "storing.md"), executed / "source.ipynb")
    for name in sets or recorded.names():
        try:
            papermill.execute_notebook(
                executed / "source.ipynb",
                executed / f"{name}.ipynb",
                {**given, "name": name},
                kernel_name="python3",
                kernel_manager_class=ForkedKernelManager,
                cwd=ROOT,
                progress_bar=False,
                stdout_file=sys.stdout,
            )
        except PapermillExecutionError as error:
            raise RadevalError(error.evalue, name) from None
