"""``radbook exhibits``: the ledger with the verdict on each exhibit."""

from __future__ import annotations

import json

import click

from radeval_lib.cli.common import one_line_errors, profile_option
from radeval_lib.paths import BUILD

_SHOWN = ("exhibit", "verdict", "coverage", "evidence", "command", "title")


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
