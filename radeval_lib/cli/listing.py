"""``radbook exhibits``: the ledger with the verdict on each exhibit."""

from __future__ import annotations

import click

from radeval_lib.cli.common import one_line_errors, profile_option
from radeval_lib.paths import BUILD


@click.command()
@click.argument("exhibit", required=False)
@profile_option
@one_line_errors
def exhibits(exhibit: str | None, profile: str) -> None:
    """List every exhibit with its verdict, or show one EXHIBIT whole."""
    from radeval_lib.papers import exhibits as ledger
    from radeval_lib.study import profiles, results, scorecards

    profiles.profile(profile)
    if exhibit:
        ledger.exhibit(exhibit)
    card = scorecards.scorecard(results.read_all(BUILD / profile))
    if exhibit:
        for name, value in card[card["exhibit"] == exhibit].iloc[0].items():
            click.echo(f"{name:10} {value}")
        return
    for row in card.itertuples():
        click.echo(f"{row.exhibit:32} {row.verdict:20} {row.evidence:12} {row.title}")
