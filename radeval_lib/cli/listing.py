"""``radbook exhibits`` and ``radbook models``: exhibits with verdicts, and the models that papers name."""

from __future__ import annotations

import json

import click

from radeval_lib.cli import one_line_errors, profile_option
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
