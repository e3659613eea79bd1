"""Compare GREEN's released parser with this library's strict one on analyses in an unexpected layout.

Source: Ostmeier et al. 2024; the released parser in ``green_score/utils.py``.
"""

from __future__ import annotations

import re

import pandas as pd

from radeval_lib.green_analysis import render
from radeval_lib.metrics import green

_HEADING = f"[{green.SIGNIFICANT}]:\n"


def make_variants() -> dict[str, tuple[str, float | None]]:
    """Return a mapping from each variant of a GREEN analysis to its text and its intended score.

    The score is from 0 to 1, or None if the intended score is unclear. All variants but the first depart from
    the layout that GREEN's prompt asks for.
    """

    def replace_once(old: str, new: str) -> str:
        return analysis.replace(old, new, 1)

    analysis = render((1, 2, 0, 0, 0, 0), (0, 0, 3, 0, 0, 0), 3)
    later_sections = render((0,) * 6, (0, 0, 3, 0, 0, 0), 3).split("\n\n", 1)[1]
    with_digits = re.sub(r"\(([a-f])\)", lambda match: f"({'abcdef'.index(match[1]) + 1})", analysis)
    entry = "(b) Missing a finding present in the reference: 2."
    two_lines = "(b) Missing: 1. x\n(b) Missing more: 1."
    return {
        "as asked for": (analysis, 0.5),
        "digits instead of letters": (with_digits, 0.5),
        "no period after the count": (replace_once(": 2. ", ": 2 "), 0.5),
        "a word for the count": (replace_once(": 2. ", ": two. "), 0.5),
        "two entries on one line": (replace_once("\n(b) Missing", " (b) Missing"), 0.5),
        "one letter on two lines": (replace_once(entry, two_lines), 0.5),
        "blank line between entries": (replace_once("\n(b)", "\n\n(b)"), 0.5),
        "significant section empty": (f"{_HEADING}\n{later_sections}", 1.0),
        "significant section without its heading": (replace_once(_HEADING, ""), 0.5),
        "words before the matched findings": (replace_once("]:\n3. ", "]:\nThere are 3. "), 0.5),
        "a measurement before the matched findings": (
            replace_once("]:\n3. finding 1", "]:\n1.5 cm nodule"),
            None,
        ),
    }


def compare_parsers() -> pd.DataFrame:
    """Return the scores that the released and the strict parser read in each of :func:`make_variants`.

    The returned table has one row per variant, with columns ``intended`` (the intended score), ``released``
    and ``strict``, each a string with two decimals or ``none``, and ``faults that the strict parser names``
    (separated by semicolons).
    """
    rows = {}
    for name, (text, intended_score) in make_variants().items():
        released, strict = green.parse(text), green.parse(text, "strict")
        scores = {"intended": intended_score, "released": released.score, "strict": strict.score}
        texts = {key: "none" if score is None else f"{score:.2f}" for key, score in scores.items()}
        rows[name] = {**texts, "faults that the strict parser names": "; ".join(strict.faults)}
    return pd.DataFrame.from_dict(rows, orient="index")
