"""``radbook data``: show, fetch, check and add data files, and remove builds that could read them; and
``radbook models``: the models that papers name."""

from __future__ import annotations

from pathlib import Path

import click

from radeval_lib.cli import FILE, data_root_option, one_line_errors
from radeval_lib.errors import ParameterError
from radeval_lib.paths import DATA, display_path


@click.group("data")
def data_group() -> None:
    """Look at, fetch, check and add data files under the data root."""


@data_group.command("status")
@click.argument("dataset", required=False, default="")
@data_root_option
@one_line_errors
def data_status(dataset: str, data_root: str) -> None:
    """Show which files of DATASET exist and how to get the others, or the counts for every data set."""
    from radeval_lib import data
    from radeval_lib.data import fetch

    root = data.data_root(data_root or None)
    statuses = fetch.status(root, dataset)
    if dataset:
        for file in statuses:
            click.echo(f"{file.state:10} {file.path}{': ' + file.detail if file.detail else ''}")
        if any(file.state == "missing" for file in statuses):
            click.echo("\n".join(data.load_manifest(dataset).numbered_steps))
        return
    if root is None:
        click.echo("No data root: give --data-root FOLDER or set RADEVAL_DATA_ROOT to see what is there.")
    click.echo(f"{'data set':22} {'access':12} {'redistributable':16} files")
    for name in dict.fromkeys(file.dataset for file in statuses):
        files = [file for file in statuses if file.dataset == name]
        there = sum(file.state in ("verified", "there") for file in files)
        bad = sum(file.state == "mismatch" for file in files)
        listed = f"{there} of {len(files)} files" + (f", {bad} do not match" if bad else "")
        passed_on = "yes" if data.load_manifest(name).redistributable else "no"
        click.echo(f"{name:22} {files[0].access:12} {passed_on:16} {listed}")


@data_group.command("fetch")
@click.argument("dataset", required=False, default="")
@click.option("--open", "every_open", is_flag=True, help="Every open data set, each with its licence named.")
@data_root_option
@one_line_errors
def data_fetch(dataset: str, every_open: bool, data_root: str) -> None:
    """Download an open or hub DATASET, into the folder data of the repository if no other is named."""
    from radeval_lib import data
    from radeval_lib.data import fetch

    if bool(dataset) == every_open:
        problem = "not exactly one of a data set and --open is given"
        remedy = "Give one; `radbook data status` lists the data sets."
        raise ParameterError(problem, "radbook data fetch", remedy)
    root = data.data_root(data_root or None) or DATA
    if not every_open:
        fetch.fetch(dataset, root, say=click.echo)
    elif failed := fetch.fetch_open(root, say=click.echo):
        problem = f"{len(failed)} data sets are not in place: {', '.join(failed)}"
        remedy = "Download by hand those that say so, then run the command again; files in place are kept."
        raise data.FetchError(problem, display_path(root), remedy)


@data_group.command("verify")
@click.argument("dataset", required=False, default="")
@data_root_option
@one_line_errors
def data_verify(dataset: str, data_root: str) -> None:
    """Check files against their manifests, and count what they hold."""
    from radeval_lib import data
    from radeval_lib.data import fetch, readers

    root = data.data_root(data_root or None)
    statuses = fetch.verify(root, dataset, say=click.echo)
    for name in dict.fromkeys(file.dataset for file in statuses if file.state != "missing" and root):
        records = readers.load(name, root)
        counts = readers.count_records(name, records)
        click.echo(f"{name}: " + ", ".join(f"{number:,} {quantity}" for quantity, number in counts.items()))


@data_group.command("add")
@click.argument("dataset")
@click.argument("files", nargs=-1, required=True, type=FILE)
@data_root_option
@one_line_errors
def data_add(dataset: str, files: tuple[Path, ...], data_root: str) -> None:
    """Copy FILES of a credentialed DATASET that you obtained to their places."""
    from radeval_lib import data
    from radeval_lib.data import fetch

    fetch.add(dataset, files, data.data_root(data_root or None), say=click.echo)


@data_group.command("purge")
@click.option("--dry-run", is_flag=True, help="List it and stop.")
@one_line_errors
def data_purge(dry_run: bool) -> None:
    """Remove every build and run below build/ that could read restricted data. Data files are kept, and so is
    what papermill wrote elsewhere."""
    from radeval_lib.pipeline import release

    builds = release.with_restricted_data()
    for folder, corpora in builds.items():
        click.echo(f"{display_path(folder)} ({', '.join(corpora)})")
    if not builds:
        click.echo("Nothing below build/ says that it had restricted data in reach.")
    elif not dry_run:
        release.purge()
        click.echo("Removed. Data files stay, and notebooks that papermill wrote elsewhere, and copies.")


@click.group("models")
def models_group() -> None:
    """Look at the pretrained models that papers name."""


@models_group.command("status")
@click.argument("model", required=False, default="")
@one_line_errors
def models_status(model: str) -> None:
    """Describe MODEL, or list every model and whether its weights are on this machine."""
    from radeval_lib.models import catalog

    def fetched(card: catalog.ModelCard) -> str:
        return "fetched" if catalog.in_hub_cache(card.hub) else "not fetched"

    if model:
        card = catalog.load(model)
        fields = card.model_dump(exclude={"tokenizer"}) | {"seen": ", ".join(card.seen)}
        fields |= {f"tokenizer {name}": value for name, value in card.tokenizer.model_dump().items()}
        for name, value in (fields | {"weights": fetched(card)}).items():
            if value != "":
                click.echo(f"{name:20} {value}")
        return
    for card in catalog.cards():
        click.echo(
            f"{card.name:18} {card.domain:11} {card.parameters_millions:4} M  {card.licence:11} "
            f"safetensors: {card.safetensors:13} {fetched(card):12} {card.hub} {card.revision}"
        )
