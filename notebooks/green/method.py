"""Compare GREEN's released parser with this library's strict one on analyses that depart from the layout.

Source: Ostmeier et al. 2024; the released parser in ``green_score/utils.py``.
"""

from __future__ import annotations

import re

import pandas as pd

from radeval_lib.green_analysis import render
from radeval_lib.metrics import green

_HEADING = f"[{green.SIGNIFICANT}]:\n"


def make_variants() -> dict[str, tuple[str, float | None]]:
    """Return, by name, the text of each variant of a GREEN analysis and its intended score.

    The score is from 0 to 1, or None if it cannot be said what score is meant. All variants but the first
    depart from the layout that GREEN's prompt asks for.
    """

    def with_change(old: str, new: str) -> str:
        return plain.replace(old, new, 1)

    plain = render((1, 2, 0, 0, 0, 0), (0, 0, 3, 0, 0, 0), 3)
    after_significant = render((0,) * 6, (0, 0, 3, 0, 0, 0), 3).split("\n\n", 1)[1]
    by_digit = re.sub(r"\(([a-f])\)", lambda mark: f"({'abcdef'.index(mark[1]) + 1})", plain)
    entry = "(b) Missing a finding present in the reference: 2."
    twice = "(b) Missing: 1. x\n(b) Missing more: 1."
    return {
        "as asked for": (plain, 0.5),
        "digits instead of letters": (by_digit, 0.5),
        "no period after the count": (with_change(": 2. ", ": 2 "), 0.5),
        "a word for the count": (with_change(": 2. ", ": two. "), 0.5),
        "two entries on one line": (with_change("\n(b) Missing", " (b) Missing"), 0.5),
        "one letter on two lines": (with_change(entry, twice), 0.5),
        "blank line between entries": (with_change("\n(b)", "\n\n(b)"), 0.5),
        "significant section empty": (f"{_HEADING}\n{after_significant}", 1.0),
        "significant section without its heading": (with_change(_HEADING, ""), 0.5),
        "words before the matched findings": (with_change("]:\n3. ", "]:\nThere are 3. "), 0.5),
        "a measurement before the matched findings": (
            with_change("]:\n3. finding 1", "]:\n1.5 cm nodule"),
            None,
        ),
    }


def read_both_ways() -> pd.DataFrame:
    """Return the scores that the released and the strict parser read in :func:`make_variants`.

    The returned table has one row per variant, with columns ``meant`` (the intended score), ``as released``
    and ``strict``, each a string with two decimals or ``none``, and ``faults that the strict parser names``
    (separated by semicolons).
    """
    rows = {}
    for name, (text, meant) in make_variants().items():
        released, strict = green.parse(text), green.parse(text, "strict")
        scores = {"meant": meant, "as released": released.score, "strict": strict.score}
        shown = {key: "none" if score is None else f"{score:.2f}" for key, score in scores.items()}
        rows[name] = {**shown, "faults that the strict parser names": "; ".join(strict.faults)}
    return pd.DataFrame.from_dict(rows, orient="index")
