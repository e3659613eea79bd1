"""Contrasts of papers with their released code; ``contrasts.yml`` says what each compares, and of which kind
it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from radeval_lib import own_yaml

CONTRADICTS, SLIP, NUMBER, OPEN = "contradicts", "slip", "number", "open"
_SAID = {
    name: (whose, said)
    for whose, contrasts in own_yaml.read(Path(__file__).with_name("contrasts.yml")).items()
    for name, said in contrasts.items()
}


@dataclass(frozen=True)
class Contrast:
    """One quantity of one demonstration, as it is stated and as the released code has it; ``kind`` is one of
    :data:`CONTRADICTS`, :data:`SLIP`, :data:`NUMBER` and :data:`OPEN`."""

    whose: str
    difference: str
    quantity: str
    stated: float
    released: float
    basis: str
    kind: str
    scale: float | None = 1.0

    def shown(self, value: float) -> str:
        """Return a value with its decimals: none if both values are whole, one on a scale of 100, else
        three."""
        whole = float(self.stated).is_integer() and float(self.released).is_integer()
        decimals = 0 if whole else 1 if (self.scale or 1) >= 10 else 3
        return f"{value:,.{decimals}f}"


def contrast(name: str, values: Iterable[float], scale: float | None = 1.0, **words: object) -> Contrast:
    """Return a contrast from its two values, the stated one first; ``words`` complete what the file says of
    it."""
    whose, (difference, quantity, basis, kind) = _SAID[name]
    stated, by_code = values
    return Contrast(whose, difference, quantity.format(**words), stated, by_code, basis, kind, scale)


def table(contrasts: Iterable[Contrast]) -> pd.DataFrame:
    """Return a row for each contrast: ``whose``, ``difference``, ``quantity``, ``stated``, ``code``,
    ``kind``, and ``differs``, whether the two are not equal."""
    return pd.DataFrame(
        [
            {
                "whose": one.whose,
                "difference": one.difference,
                "quantity": one.quantity,
                "stated": f"{one.shown(one.stated)} ({one.basis})",
                "code": one.shown(one.released),
                "kind": one.kind,
                "differs": one.stated != one.released,
            }
            for one in contrasts
        ]
    )
