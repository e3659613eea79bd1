"""``radbook exhibits``: the ledger with the verdict on each exhibit."""

from __future__ import annotations

import json

import click

from radeval_lib.cli.common import one_line_errors, profile_option
from radeval_lib.errors import ParameterError
from radeval_lib.paths import BUILD

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
    card["of"] = card["exhibit"].str.partition(".")[0]
    if exhibit:
        ledger.exhibit(exhibit)
    for column, wanted in {"exhibit": exhibit, "of": paper, "verdict": verdict, "evidence": evidence}.items():
        card = card[card[column] == wanted] if wanted else card
    card = card.drop(columns="of")
    if as_json:
        click.echo(json.dumps(json.loads(card.to_json(orient="records")), indent=1, ensure_ascii=False))
    elif exhibit and card.empty:
        raise ParameterError(f"{exhibit} is not among what the options select", "exhibits", "Leave them out.")
    elif exhibit:
        for name, value in card.iloc[0].items():
            click.echo(f"{name:20} {value}")
    else:
        rows = [_SHOWN, *card[list(_SHOWN)].itertuples(index=False)]
        widths = [max(len(str(cell)) for cell in column) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = (str(cell).ljust(width) for cell, width in zip(row, widths, strict=True))
            click.echo("  ".join(cells).rstrip())
