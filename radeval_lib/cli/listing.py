"""``radbook exhibits``: the ledger with the verdict on each exhibit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from radeval_lib.cli.common import one_line_errors, profile_option
from radeval_lib.errors import ParameterError
from radeval_lib.paths import BUILD

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = ("exhibit", "verdict", "evidence", "command", "title")


@click.command()
@click.argument("exhibit", required=False)
@profile_option
@click.option("--paper", help="Exhibits of one paper, such as rales.")
@click.option("--verdict", help="Exhibits with one verdict, such as 'not attempted'.")
@click.option("--evidence", help="Exhibits whose verdict rests on this, such as print.")
@click.option("--json", "as_json", is_flag=True, help="Everything that is known, as JSON.")
@one_line_errors
def exhibits(
    exhibit: str | None, profile: str, paper: str, verdict: str, evidence: str, as_json: bool
) -> None:
    """List exhibits with their verdicts and the commands that rebuild them, or show one EXHIBIT whole."""
    from radeval_lib.papers import exhibits as ledger
    from radeval_lib.study import profiles, results, scorecards, verdicts

    profiles.profile(profile)
    for option, given, known in (
        ("--paper", paper, ledger.PAPERS),
        ("--verdict", verdict, verdicts.VERDICTS),
        ("--evidence", evidence, verdicts.EVIDENCE),
    ):
        if given and given not in known:
            raise ParameterError(f"unknown {option[2:]} {given!r}", option, f"Known: {', '.join(known)}.")
    card = scorecards.scorecard(results.read_all(BUILD / profile))
    card["command"] = [profiles.command(notebook, profile) for notebook in card["notebook"]]
    if exhibit:
        ledger.exhibit(exhibit)
        card = card[card["exhibit"] == exhibit]
    if paper:
        card = card[card["exhibit"].str.startswith(f"{paper}.")]
    if verdict:
        card = card[card["verdict"] == verdict]
    if evidence:
        card = card[card["evidence"] == evidence]
    if as_json:
        click.echo(json.dumps(json.loads(card.to_json(orient="records")), indent=1, ensure_ascii=False))
    elif exhibit and card.empty:
        raise ParameterError(f"{exhibit} is not among what the options select", "exhibits", "Leave them out.")
    elif exhibit:
        for name, value in card.iloc[0].items():
            click.echo(f"{name:20} {value}")
    else:
        _table(card)


def _table(card: pd.DataFrame) -> None:
    """A header and a line an exhibit, in columns as wide as they must be."""
    rows = [_SHOWN, *card[list(_SHOWN)].itertuples(index=False)]
    widths = [max(len(str(row[column])) for row in rows) for column in range(len(_SHOWN))]
    for row in rows:
        cells = (str(cell).ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo("  ".join(cells).rstrip())
