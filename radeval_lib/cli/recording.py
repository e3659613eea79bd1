"""``radbook record``: score public test sets, and keep the numbers in the repository."""

from __future__ import annotations

import sys

import click

from radeval_lib.cli import data_root_option, one_line_errors
from radeval_lib.paths import display_path


@click.command()
@click.argument("sets", nargs=-1)
@click.option("--profile", default="open", show_default=True, help="Whose build has the models.")
@click.option("--unfreeze", is_flag=True, help="Score RadPref with the judge as it is now, and count it.")
@click.option("--keep-scores", is_flag=True, help="Score nothing; write ratings, counts and lengths alone.")
@click.option("--check", is_flag=True, help="Write nothing; score again and compare with what is recorded.")
@data_root_option
@one_line_errors
def record(
    sets: tuple[str, ...], profile: str, unfreeze: bool, keep_scores: bool, check: bool, data_root: str
) -> None:
    """Record what every metric says of public SETS (default: all), as data_manifests/recorded has it."""
    from radeval_lib.jobs.storing import recorded_sets, recording, rescoring

    if check + unfreeze + keep_scores > 1:
        raise click.UsageError("--check, --unfreeze and --keep-scores exclude each other.")
    chosen = sets or recorded_sets.names()
    if check:
        failed = 0
        for name in chosen:
            for comparison in rescoring.check(name, profile, data_root):
                failed += not comparison.holds
                click.echo(f"{name}: {comparison}")
        sys.exit(bool(failed))
    for name in chosen:
        path = recording.record(name, profile, data_root, unfreeze=unfreeze, keep_scores=keep_scores)
        click.echo(display_path(path))
