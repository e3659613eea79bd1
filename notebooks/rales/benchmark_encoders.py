"""The encoders of the benchmark by name, made if they have to be.

Before a model's name, ``shallow:`` stands for its first layers and ``untrained:``, which may stand before
that, for its architecture with weights drawn at random. ``in_domain`` is the encoder that the cell of the
pretraining keeps.
"""

from __future__ import annotations

from pathlib import Path

from radeval_lib.errors import ParameterError
from radeval_lib.models import catalog
from radeval_lib.models import names as model_names
from radeval_lib.models.derived import shallow, untrained

SHALLOW = "shallow:"
IN_DOMAIN = "in_domain"


def title(name: str, layers: int) -> str:
    """Return an encoder as a page shows it: Table 2's name if it is one of Table 2's models."""
    if name == IN_DOMAIN:
        return "in-domain"
    if name.startswith(SHALLOW):
        return f"{title(name.removeprefix(SHALLOW), layers)}, {layers} layers"
    if name.startswith(model_names.UNTRAINED):
        return f"{title(name.removeprefix(model_names.UNTRAINED), layers)}, untrained"
    described = {card.hub: card.title for card in catalog.cards()}
    return described.get(name, model_names.title(name))


def resolve(name: str, *, layers: int, seed: int, folder: Path) -> str:
    """Return folder or hub name of an encoder, other than the in-domain one.

    Raises
    ------
    ParameterError
        If a prefix stands in the other order or twice, or before the in-domain encoder.
    """
    where = name.removeprefix(model_names.UNTRAINED).removeprefix(SHALLOW)
    if where == IN_DOMAIN or where.startswith((model_names.UNTRAINED, SHALLOW)):
        order = f"{model_names.UNTRAINED}{SHALLOW}NAME"
        raise ParameterError(f"no encoder {name!r}", "rales, encoders", f"Order prefixes as in {order}.")
    if SHALLOW in name:
        where = shallow(where, layers, folder)
    return untrained(where, folder, seed) if name.startswith(model_names.UNTRAINED) else where
