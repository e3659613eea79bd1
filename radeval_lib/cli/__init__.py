"""``radbook``: build the book, run a notebook, list what there is, score files and compare systems."""

from __future__ import annotations

import click

from radeval_lib import __version__
from radeval_lib.cli.annotation import annotation_group
from radeval_lib.cli.building import build, release, render, run, serve
from radeval_lib.cli.comparing import compare
from radeval_lib.cli.data_files import data_group
from radeval_lib.cli.labs import labs_group
from radeval_lib.cli.listing import exhibits
from radeval_lib.cli.metric_card import metric_card
from radeval_lib.cli.models import models_group
from radeval_lib.cli.recording import record
from radeval_lib.cli.scoring import score


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="radbook")
def main() -> None:
    """Rebuild the study: run its notebooks, render its book, look at its exhibits and data."""


for _command in (
    build,
    render,
    serve,
    run,
    release,
    exhibits,
    score,
    compare,
    metric_card,
    data_group,
    models_group,
    annotation_group,
    labs_group,
    record,
):
    main.add_command(_command)
