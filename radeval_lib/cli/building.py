"""The commands ``radbook build``, ``release``, ``render``, ``serve``, ``exhibits``, ``run``, ``record``."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import click

from radeval_lib.cli import FILE, data_root_option, print_errors_in_one_line, profile_option
from radeval_lib.errors import ParameterError, RadevalError
from radeval_lib.paths import BUILD, NOTEBOOKS, ROOT, RUNS, display_path

_COLUMNS = ("exhibit", "verdict", "coverage", "evidence", "command", "title")


@click.command()
@profile_option
@data_root_option
@click.option(
    "--cores",
    default=0,
    type=click.IntRange(0),
    help="Notebooks to run at once; 0: one per core, fewer if memory is short.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="PAGES",
    help="Build only a folder of notebooks/, a notebook (rales/datasets) or an exhibit (rales.table3).",
)
@click.option("--dry-run", is_flag=True, help="List missing data and models, and the steps to run; stop.")
@print_errors_in_one_line
def build(profile: str, data_root: str, cores: int, only: tuple[str, ...], dry_run: bool) -> None:
    """Run outdated notebooks and render the book.

    A notebook is run if it has no results yet, or if its source, code, data or settings have changed. The
    book is written to build/PROFILE/_build/html.
    """
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
    entries = scorecards.scorecard(results.read_all(BUILD / profile))
    counts = ", ".join(f"{verdict} {count}" for verdict, count in entries["verdict"].value_counts().items())
    click.echo(f"\nBook:      {display_path(BUILD / profile / '_build' / 'html' / 'index.html')}")
    click.echo(f"Scorecard: {len(entries)} exhibits: {counts}")
    click.echo(f"Took:      {time.monotonic() - started:.0f} s")


@click.command()
@profile_option
@data_root_option
@click.option("--output", type=FILE, help="Path of the report [default: build/release-PROFILE.md].")
@click.option(
    "--since",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of an earlier build or rendered book; also write a list of the changes since then.",
)
@print_errors_in_one_line
def release(profile: str, data_root: str, output: Path | None, since: Path | None) -> None:
    """Check the book for restricted text.

    Writes a report that a data officer can sign before the book is published. The report quotes no text of
    any data set. If restricted text is found, the files that contain it and the rendered book are removed,
    and the command fails.
    """
    from radeval_lib import atomic, data
    from radeval_lib.pipeline import release as releasing
    from radeval_lib.pipeline import steps
    from radeval_lib.study import profiles, scorecards

    target = output or steps.report_path(BUILD / profile)
    releasing.write_report(profiles.profile(profile), data.data_root(data_root or None), target)
    click.echo(f"Report: {display_path(target)}")
    if since is not None:
        page = target.with_name(f"changes-{profile}.md")
        atomic.write_text(page, scorecards.compare_editions(since, BUILD / profile))
        click.echo(f"Changes: {display_path(page)}")


@click.command()
@profile_option
@data_root_option
@click.option(
    "--browser-judge/--no-browser-judge",
    "judge",
    default=None,
    help="Include the page Try the judge, which runs Python in the browser [default: yes, if the package "
    "that workflow/fetch_pyodide downloads is in build/].",
)
@print_errors_in_one_line
def render(profile: str, data_root: str, judge: bool | None) -> None:
    """Render the book from executed notebooks.

    This is the last step of `radbook build`; no notebook is run.
    """
    from radeval_lib import data
    from radeval_lib.pipeline import book
    from radeval_lib.study import profiles

    book.render(BUILD / profiles.profile(profile).name, data.data_root(data_root or None), judge=judge)


@click.command()
@profile_option
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(1, 65535), help="Port to serve on."
)
@print_errors_in_one_line
def serve(profile: str, port: int) -> None:
    """Serve the rendered book on this computer.

    The book is at http://127.0.0.1:PORT/, for this computer only, until you press Ctrl-C.
    """
    folder = BUILD / profile / "_build" / "html"
    if not (folder / "index.html").is_file():
        raise ParameterError("no rendered book", profile, f"Run `radbook build --profile {profile}`.")
    click.echo("Press Ctrl-C to stop.")
    server = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "--directory", str(folder)]
    with suppress(KeyboardInterrupt):
        if subprocess.call([*server, str(port)], stderr=subprocess.DEVNULL):
            raise ParameterError(f"the server on port {port} failed", "--port", "Use another port.")


@click.command()
@click.argument("exhibit", required=False)
@profile_option
@click.option("--json", "as_json", is_flag=True, help="Print every column, as JSON.")
@print_errors_in_one_line
def exhibits(exhibit: str | None, profile: str, as_json: bool) -> None:
    """List exhibits with their verdicts.

    An exhibit is a table, figure, example, definition or headline claim of a paper. Each is listed with the
    command that rebuilds it. With EXHIBIT, such as rales.table3, every column of that exhibit is shown.
    """
    from radeval_lib.papers import exhibits as ledger
    from radeval_lib.study import profiles, results, scorecards

    profiles.profile(profile)
    entries = scorecards.scorecard(results.read_all(BUILD / profile))
    entries["command"] = [profiles.command(notebook, profile) for notebook in entries["notebook"]]
    if exhibit:
        entries = entries[entries["exhibit"] == ledger.exhibit(exhibit).id]
    if as_json:
        click.echo(json.dumps(json.loads(entries.to_json(orient="records")), indent=1, ensure_ascii=False))
    elif exhibit:
        for name, value in entries.iloc[0].items():
            click.echo(f"{name:20} {value}")
    else:
        rows = [_COLUMNS, *entries[list(_COLUMNS)].itertuples(index=False)]
        widths = [max(len(str(cell)) for cell in column) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = (str(cell).ljust(width) for cell, width in zip(row, widths, strict=True))
            click.echo("  ".join(cells).rstrip())


@click.command()
@click.argument("notebook")
@data_root_option
@click.option(
    "-p", "parameters", nargs=2, multiple=True, metavar="NAME VALUE", help="A parameter, such as `-p seed 1`."
)
@click.option("--quiet", is_flag=True, help="Show no progress bar.")
@click.option("--in-build", is_flag=True, hidden=True, help="Run as a step of a build.")
@print_errors_in_one_line
def run(
    notebook: str, data_root: str, parameters: tuple[tuple[str, str], ...], quiet: bool, in_build: bool
) -> None:
    """Run a notebook, such as rales/nlu_scores.

    A run with the parameters that `radbook build` uses replaces the build's outputs. Any other run writes to
    a separate folder under build/runs. `-p output_dir FOLDER` names another folder below build/.
    """
    from radeval_lib import data
    from radeval_lib.pipeline import execute

    name = execute.resolve_notebook(notebook)
    values = execute.parse_parameters(name, {"data_root": data_root, **dict(parameters)})
    values["data_root"] = str(data.data_root(values["data_root"] or None) or "")
    plan = execute.plan_run(name, values)
    execute.run_notebook(plan, progress=not quiet, in_build=in_build)
    if not quiet:
        click.echo(f"Executed: {display_path(plan.executed)}\nResults:  {display_path(plan.results)}")


@click.command()
@click.argument("sets", nargs=-1)
@click.option("--profile", default="open", show_default=True, help="Profile of the build whose models score.")
@click.option("--unfreeze", is_flag=True, help="Also replace frozen scores; for RadPref, count the use.")
@click.option("--check", is_flag=True, help="Store nothing; compare the new scores with the stored scores.")
@data_root_option
@print_errors_in_one_line
def record(sets: tuple[str, ...], profile: str, unfreeze: bool, check: bool, data_root: str) -> None:
    """Score public data sets and store the scores.

    SETS are data sets with files in data_manifests/recorded (by default, all of them). The scores of every
    metric are stored there, so that pages can be built without the texts. With --profile published, which is
    meant for RadPref, the published models score, and the scores are stored in data_manifests/published.
    """
    import nbformat
    import papermill
    from papermill.exceptions import PapermillExecutionError

    from radeval_lib.data import recorded
    from radeval_lib.pipeline.execute import ForkedKernelManager
    from radeval_lib.study.sources import read_source

    if check and unfreeze:
        raise click.UsageError("--check and --unfreeze are mutually exclusive. Use only one of them.")
    parameters = {"profile": profile, "data_root": data_root, "unfreeze": unfreeze, "check": check}
    folder = RUNS / "storing"
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(read_source(NOTEBOOKS / "storing.md"), folder / "source.ipynb")
    for name in sets or recorded.names():
        try:
            papermill.execute_notebook(
                folder / "source.ipynb",
                folder / f"{name}.ipynb",
                {**parameters, "name": name},
                kernel_name="python3",
                kernel_manager_class=ForkedKernelManager,
                cwd=ROOT,
                progress_bar=False,
                stdout_file=sys.stdout,
            )
        except PapermillExecutionError as error:
            raise RadevalError(error.evalue, name) from None
