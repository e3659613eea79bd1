"""The commands ``radbook data``, which manages data files, and ``radbook models``, which lists pretrained
models."""

from __future__ import annotations

from pathlib import Path

import click

from radeval_lib.cli import FILE, data_root_option, print_errors_in_one_line
from radeval_lib.errors import ParameterError
from radeval_lib.paths import DATA, display_path


@click.group("data")
def data_group() -> None:
    """List, download, check and add data files, or remove builds that could read restricted data."""


@data_group.command("status")
@click.argument("dataset", required=False, default="")
@data_root_option
@print_errors_in_one_line
def data_status(dataset: str, data_root: str) -> None:
    """Show which data files exist.

    With DATASET, each of its files is listed, followed by the steps to obtain missing files. Without DATASET,
    each data set is listed with its access and the number of files that exist.
    """
    from radeval_lib import data
    from radeval_lib.data import fetch

    root = data.data_root(data_root or None)
    statuses = fetch.check_files(root, dataset)
    if dataset:
        for file in statuses:
            click.echo(f"{file.state:10} {file.path}{': ' + file.detail if file.detail else ''}")
        if any(file.state == "missing" for file in statuses):
            click.echo("\n".join(data.load_manifest(dataset).numbered_steps))
        return
    if root is None:
        click.echo("No data root. Pass --data-root FOLDER or set RADEVAL_DATA_ROOT to see which files exist.")
    click.echo(f"{'data set':22} {'access':12} {'redistributable':16} files")
    for name in dict.fromkeys(file.dataset for file in statuses):
        files = [file for file in statuses if file.dataset == name]
        n_found = sum(file.state in ("verified", "there") for file in files)
        mismatches = sum(file.state == "mismatch" for file in files)
        counts = f"{n_found} of {len(files)} files" + (f", {mismatches} do not match" if mismatches else "")
        redistributable = "yes" if data.load_manifest(name).redistributable else "no"
        click.echo(f"{name:22} {files[0].access:12} {redistributable:16} {counts}")


@data_group.command("fetch")
@click.argument("dataset", required=False, default="")
@click.option("--open", "every_open", is_flag=True, help="Download every open data set; print the licences.")
@data_root_option
@print_errors_in_one_line
def data_fetch(dataset: str, every_open: bool, data_root: str) -> None:
    """Download DATASET, or with --open all open data sets.

    DATASET must be open (no registration) or on the Hugging Face Hub. Files are written below the data root
    or, if there is none, to the folder `data` of the repository or, without a clone, of the working
    directory.
    """
    from radeval_lib import data
    from radeval_lib.data import fetch

    if bool(dataset) == every_open:
        problem = "both a data set and --open are given" if dataset else "no data set is given"
        remedy = "Name a data set that `radbook data status` lists, or --open."
        raise ParameterError(problem, "radbook data fetch", remedy)
    root = data.data_root(data_root or None) or DATA
    if not every_open:
        fetch.fetch(dataset, root, say=click.echo)
    elif failed := fetch.fetch_open(root, say=click.echo):
        problem = f"could not download {', '.join(failed)}"
        remedy = "Follow the instructions above for each, then run the command again."
        raise data.FetchError(problem, display_path(root), remedy)


@data_group.command("verify")
@click.argument("dataset", required=False, default="")
@data_root_option
@print_errors_in_one_line
def data_verify(dataset: str, data_root: str) -> None:
    """Compare data files with their checksums, and count their records.

    DATASET restricts the check to one data set. The expected checksums are in data_manifests/datasets.
    """
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
@print_errors_in_one_line
def data_add(dataset: str, files: tuple[Path, ...], data_root: str) -> None:
    """Copy FILES of DATASET to the paths at which the loaders expect them.

    If a data set needs credentials, obtain the files yourself, then add them. They are copied to the paths
    below the data root that `radbook data status DATASET` lists.
    """
    from radeval_lib import data
    from radeval_lib.data import fetch

    fetch.add(dataset, files, data.data_root(data_root or None), say=click.echo)


@data_group.command("purge")
@click.option("--dry-run", is_flag=True, help="List what would be removed, and stop.")
@print_errors_in_one_line
def data_purge(dry_run: bool) -> None:
    """Remove builds that could read restricted data.

    Every build and run below build/ that could read restricted data is removed and, if there is one,
    Snakemake's logs. Data files are kept, and so are copies and notebooks that papermill wrote elsewhere.
    """
    from radeval_lib.pipeline import release

    builds = release.find_restricted_builds()
    for folder, corpora in builds.items():
        click.echo(f"{display_path(folder)} ({', '.join(corpora)})")
    if not builds:
        click.echo("No build or run below build/ could read restricted data.")
    elif not dry_run:
        release.purge()
        click.echo("Removed. Data files, copies and notebooks that papermill wrote elsewhere are kept.")


@click.group("models")
def models_group() -> None:
    """List the pretrained models that the papers name."""


@models_group.command("status")
@click.argument("model", required=False, default="")
@print_errors_in_one_line
def models_status(model: str) -> None:
    """Describe MODEL, or list all models.

    The list shows for each model whether its weights are on this machine.
    """
    from radeval_lib.models import catalog

    def describe_weights(card: catalog.ModelCard) -> str:
        return "fetched" if catalog.is_in_hub_cache(card.hub) else "not fetched"

    if model:
        card = catalog.load_card(model)
        fields = card.model_dump(exclude={"tokenizer"}) | {"seen": ", ".join(card.seen)}
        fields |= {f"tokenizer {name}": value for name, value in card.tokenizer.model_dump().items()}
        for name, value in (fields | {"weights": describe_weights(card)}).items():
            if value != "":
                click.echo(f"{name:20} {value}")
        return
    for card in catalog.list_cards():
        click.echo(
            f"{card.name:18} {card.domain:11} {card.parameters_millions:4} M  {card.licence:11} "
            f"safetensors: {card.safetensors:13} {describe_weights(card):12} {card.hub} {card.revision}"
        )
