"""``radbook models``: the pretrained models that papers name."""

from __future__ import annotations

import click

from radeval_lib.cli.common import one_line_errors

_SAFETENSORS = {
    "main": "safetensors",
    "pull request": "safetensors in a pull request",
    "none": "pickles only, not loadable",
    "unknown": "safetensors unknown",
}


@click.group("models")
def models_group() -> None:
    """Look at the pretrained models that papers name."""


@models_group.command("status")
@click.argument("model", required=False, default="")
@one_line_errors
def models_status(model: str) -> None:
    """Say what is known about MODEL, or list every model and whether its weights are on this machine."""
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
            f"{_SAFETENSORS[card.safetensors]:30} {fetched(card):12} {card.hub} {card.revision}"
        )
