"""The encoders of the benchmark by name, made where they have to be.

Before a model's name, ``shallow:`` stands for its first layers and ``untrained:`` for its architecture with
weights drawn at random; the two can be put before one another. ``in_domain`` is the encoder that the cell of
the pretraining keeps.
"""

from __future__ import annotations

from pathlib import Path

from radeval_lib.models import catalog, naming
from radeval_lib.models.derived import shallow, untrained
from radeval_lib.models.pretrained import ModelError

SHALLOW = "shallow:"
IN_DOMAIN = "in_domain"


def title(name: str, layers: int) -> str:
    """An encoder as a page shows it: Table 2's name where it is one of Table 2's models."""
    if name == IN_DOMAIN:
        return "in-domain"
    if name.startswith(SHALLOW):
        return f"{title(name.removeprefix(SHALLOW), layers)}, {layers} layers"
    if name.startswith(naming.UNTRAINED):
        return f"{title(name.removeprefix(naming.UNTRAINED), layers)}, untrained"
    described = {card.hub: card.title for card in catalog.cards()}
    return described.get(name, naming.title(name))


def resolve(name: str, *, layers: int, seed: int, folder: Path, in_domain: str = "") -> str:
    """Folder or hub name of an encoder."""
    if name == IN_DOMAIN:
        if not in_domain:
            raise ModelError("the in-domain encoder was not made", name, "Run the cell rales/pretraining.")
        return in_domain
    if name.startswith(naming.UNTRAINED):
        inner = resolve(name.removeprefix(naming.UNTRAINED), layers=layers, seed=seed, folder=folder)
        return untrained(inner, folder, seed)
    if name.startswith(SHALLOW):
        return shallow(name.removeprefix(SHALLOW), layers, folder)
    return name
