"""``radbook``: build the book, run one notebook, look at the ledger and the data."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from radeval_lib import __version__
from radeval_lib.errors import ParameterError, RadevalError
from radeval_lib.paths import BUILD, shown

EXIT_BAD_INPUT = 2


def _one_line_errors(command: Callable[..., Any]) -> Callable[..., Any]:
    """Tell a RadevalError as one line on stderr and leave with status 2."""

    @wraps(command)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except RadevalError as error:
            click.echo(f"radbook: {error}", err=True)
            sys.exit(EXIT_BAD_INPUT)

    return guarded


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="radbook")
def main() -> None:
    """Rebuild the study: run its notebooks, render its book, look at its exhibits and data."""


_profile = click.option("--profile", default="embedded", show_default=True, help="Settings of the run.")
_data_root = click.option(
    "--data-root",
    envvar="RADEVAL_DATA_ROOT",
    default="",
    help="Folder of data files that you obtained (environment: RADEVAL_DATA_ROOT).",
)


@main.command()
@_profile
@_data_root
@click.option("--cores", default=2, show_default=True, type=click.IntRange(1), help="Notebooks run at once.")
@click.option("--dry-run", is_flag=True, help="Say what would run, and stop.")
@_one_line_errors
def build(profile: str, data_root: str, cores: int, dry_run: bool) -> None:
    """Run every notebook that needs it and render the book."""
    from radeval_lib import data
    from radeval_lib.pipeline import engine
    from radeval_lib.study import profiles, recording, scorecards

    profiles.profile(profile)
    started = time.monotonic()
    engine.run_workflow(profile, data.data_root(data_root or None), cores, click.echo, dry_run)
    if dry_run:
        return
    card = scorecards.scorecard(recording.read_all(BUILD / profile))
    counts = card["status"].value_counts()
    listed = ", ".join(f"{counts.get(status, 0)} {status}" for status in scorecards.STATUSES)
    click.echo(f"\nBook:      {shown(BUILD / profile / '_build' / 'html' / 'index.html')}")
    click.echo(f"Scorecard: {len(card)} exhibits: {listed}")
    click.echo(f"Took:      {time.monotonic() - started:.0f} s")


@main.command(hidden=True)
@_profile
@_data_root
@_one_line_errors
def render(profile: str, data_root: str) -> None:
    """Render the book from executed notebooks (the last step of `build`)."""
    from radeval_lib import data
    from radeval_lib.pipeline import book

    book.render(BUILD / profile, data.data_root(data_root or None))


@main.command()
@click.argument("notebook")
@click.option(
    "-p", "parameters", nargs=2, multiple=True, metavar="NAME VALUE", help="A parameter of the notebook."
)
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), help="Where the executed notebook goes."
)
@click.option("--quiet", is_flag=True, help="No progress bar.")
@_one_line_errors
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


@main.command()
@click.argument("exhibit", required=False)
@_profile
@_one_line_errors
def exhibits(exhibit: str | None, profile: str) -> None:
    """List every exhibit with its status, or show one EXHIBIT whole."""
    from radeval_lib.study import exhibits as ledger
    from radeval_lib.study import profiles, recording, scorecards

    profiles.profile(profile)
    if exhibit:
        ledger.exhibit(exhibit)
    card = scorecards.scorecard(recording.read_all(BUILD / profile))
    if exhibit:
        for name, value in card[card["exhibit"] == exhibit].iloc[0].items():
            click.echo(f"{name:10} {value}")
        return
    for row in card.itertuples():
        click.echo(f"{row.exhibit:32} {row.status:20} {row.evidence:10} {row.title}")


def _settings(given: tuple[str, ...], metric: str) -> dict[str, str]:
    """``--set metric.name=value`` options as a mapping from name to value."""
    settings = {}
    for text in given:
        name, sign, value = text.partition("=")
        owner, dot, key = name.partition(".")
        if not sign or not dot or not key:
            raise ParameterError(f"{text!r} is no setting", "--set", f"Write {metric}.NAME=VALUE.")
        if owner != metric:
            raise ParameterError(f"{text!r} is a setting of {owner!r}, not of {metric!r}", "--set")
        settings[key] = value
    return settings


@main.command()
@click.option("--metric", required=True, help="Name of a metric.")
@click.option("--set", "given", multiple=True, metavar="METRIC.NAME=VALUE", help="A setting of the metric.")
@click.option(
    "--input", "input_path", required=True, type=click.Path(path_type=Path), help="CSV or JSON lines."
)
@click.option("--output", "output_path", required=True, type=click.Path(path_type=Path), help="Likewise.")
@_one_line_errors
def score(metric: str, given: tuple[str, ...], input_path: Path, output_path: Path) -> None:
    """Score the columns `reference` and `candidate` of a file; adds a column named after the metric."""
    from radeval_lib.metrics import files

    def progress(done: int) -> None:
        click.echo(f"\r{done:,} pairs scored", nl=False, err=True)

    rows = files.score_file(metric, _settings(given, metric), input_path, output_path, progress=progress)
    click.echo(f"\n{rows:,} pairs scored with {metric}: {shown(output_path)}", err=True)


@main.group("data")
def data_group() -> None:
    """Look at, fetch, check and add data files under the data root."""


@data_group.command("status")
@click.argument("dataset", required=False, default="")
@_data_root
@_one_line_errors
def data_status(dataset: str, data_root: str) -> None:
    """Say which files of DATASET are there, or how many of each data set."""
    from radeval_lib import data
    from radeval_lib.data import fetch

    found = fetch.status(data.data_root(data_root or None), dataset)
    if dataset:
        for one in found:
            click.echo(f"{one.state:10} {one.path}{': ' + one.detail if one.detail else ''}")
        return
    for name in dict.fromkeys(one.dataset for one in found):
        files = [one for one in found if one.dataset == name]
        there = sum(one.state in ("verified", "recorded", "unrecorded") for one in files)
        bad = sum(one.state == "mismatch" for one in files)
        listed = f"{there} of {len(files)} files" + (f", {bad} do not match" if bad else "")
        click.echo(f"{name:22} {files[0].access:12} {listed}")


@data_group.command("fetch")
@click.argument("dataset")
@_data_root
@_one_line_errors
def data_fetch(dataset: str, data_root: str) -> None:
    """Download an open or hub DATASET."""
    from radeval_lib import data
    from radeval_lib.data import fetch

    fetch.fetch(dataset, data.data_root(data_root or None), say=click.echo)


@data_group.command("verify")
@click.argument("dataset", required=False, default="")
@_data_root
@_one_line_errors
def data_verify(dataset: str, data_root: str) -> None:
    """Check files against their manifests, and what was read against the counts that papers print."""
    from radeval_lib import data
    from radeval_lib.data import catalog, fetch

    root = data.data_root(data_root or None)
    found = fetch.verify(root, dataset, say=click.echo)
    for name in dict.fromkeys(one.dataset for one in found if one.state != "missing"):
        for count in catalog.check(name, root) if root else ():
            loaded = "not loaded whole" if count.loaded is None else f"loaded {count.loaded:,}"
            click.echo(
                f"{name}: {count.name}: printed {count.printed} ({count.exhibit}), {loaded}. {count.note}"
            )


@data_group.command("add")
@click.argument("dataset")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@_data_root
@_one_line_errors
def data_add(dataset: str, files: tuple[Path, ...], data_root: str) -> None:
    """Copy FILES of a credentialed DATASET that you obtained to their places."""
    from radeval_lib import data
    from radeval_lib.data import fetch

    fetch.add(dataset, files, data.data_root(data_root or None), say=click.echo)


if __name__ == "__main__":
    main()
