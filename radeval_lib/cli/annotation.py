"""``radbook annotation``: the fact-counting task for Label Studio, and the answers of its export."""

from __future__ import annotations

from pathlib import Path

import click

from radeval_lib.cli.common import data_root_option, one_line_errors, profile_option
from radeval_lib.errors import ParameterError
from radeval_lib.paths import display_path


@click.group("annotation")
def annotation_group() -> None:
    """Have people count facts in Label Studio, and read what they counted."""


@annotation_group.command("export")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--cases",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="How many references to judge summaries of.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the order of the summaries."
)
@profile_option
@data_root_option
@one_line_errors
def export(folder: Path, cases: int, seed: int, profile: str, data_root: str) -> None:
    """Write a project into FOLDER: its layout, its tasks, and the key that says who wrote what."""
    import numpy as np

    from radeval_lib import data, roles
    from radeval_lib.pages.facts import annotation_task
    from radeval_lib.study import profiles

    if folder.exists():
        raise ParameterError(
            "there is something already", display_path(folder), "Name a folder that is not there."
        )
    settings = profiles.profile(profile)
    filler = settings.roles["text_pairs"]
    root = data.data_root(data_root or None)
    size = settings.sizes["text_pairs"]
    records = roles.load("text_pairs", filler, size=max(size, 4 * cases), seed=settings.seed, root=root)
    written = annotation_task.write_project(folder, records, cases, np.random.default_rng(seed))
    click.echo(
        f"{written} tasks in {display_path(folder)}: paste {annotation_task.LAYOUT} into the project's "
        f"labelling settings, import {annotation_task.TASKS}, keep {annotation_task.KEY} for the analysis",
    )


@annotation_group.command("import")
@click.argument("export_path", metavar="EXPORT", type=click.Path(path_type=Path))
@click.argument("key_path", metavar="KEY", type=click.Path(path_type=Path))
@click.option("--output", "output_path", required=True, type=click.Path(path_type=Path), help="CSV to write.")
@one_line_errors
def import_answers(export_path: Path, key_path: Path, output_path: Path) -> None:
    """Read Label Studio's JSON EXPORT with the project's KEY, and write counts and scores as a table."""
    from radeval_lib import atomic
    from radeval_lib.pages.facts import annotation_task

    answers = annotation_task.read_export(export_path, key_path)
    atomic.write_text(output_path, answers.to_csv(index=False))
    raters = answers["rater"].nunique()
    click.echo(f"{len(answers)} judgements by {raters} raters: {display_path(output_path)}")
