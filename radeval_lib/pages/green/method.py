"""How GREEN's score is read from text, and what the paper enumerates (Ostmeier et al. 2024)."""

from __future__ import annotations

import difflib
import re

import pandas as pd

from radeval_lib.data.green_analysis import render
from radeval_lib.metrics import green
from radeval_lib.papers.printed_numbers import quotations as quotations

_HEADING = f"[{green.SIGNIFICANT}]:\n"


def variants() -> dict[str, tuple[str, float | None]]:
    """One analysis in ways in which written text can stray, and two others, with the score that is meant."""
    plain = render((1, 2, 0, 0, 0, 0), (0, 0, 3, 0, 0, 0), 3)
    clean = render((0,) * 6, (0, 0, 3, 0, 0, 0), 3).split("\n\n", 1)[1]
    by_digit = re.sub(r"\(([a-f])\)", lambda mark: f"({'abcdef'.index(mark[1]) + 1})", plain)
    entry = "(b) Missing a finding present in the reference: 2."
    twice = "(b) Missing: 1. x\n(b) Missing more: 1."
    return {
        "as asked for": (plain, 0.5),
        "digits instead of letters": (by_digit, 0.5),
        "no period after the count": (plain.replace(": 2. ", ": 2 "), 0.5),
        "a word for the count": (plain.replace(": 2. ", ": two. "), 0.5),
        "two entries on one line": (plain.replace("\n(b) Missing", " (b) Missing", 1), 0.5),
        "one letter on two lines": (plain.replace(entry, twice, 1), 0.5),
        "blank line between entries": (plain.replace("\n(b)", "\n\n(b)", 1), 0.5),
        "significant section empty": (f"{_HEADING}\n{clean}", 1.0),
        "significant section without its heading": (plain.replace(_HEADING, "", 1), 0.5),
        "words before the matched findings": (plain.replace("]:\n3. ", "]:\nThere are 3. "), 0.5),
        "a measurement before the matched findings": (
            plain.replace("]:\n3. finding 1", "]:\n1.5 cm nodule"),
            None,
        ),
    }


def read_both_ways() -> pd.DataFrame:
    """What the released rules and a strict reading make of :func:`variants`, scores as they are shown."""
    rows = {}
    for name, (text, meant) in variants().items():
        released, strict = green.parse(text), green.parse(text, "strict")
        scores = {"meant": meant, "as released": released.score, "strict": strict.score}
        shown = {key: "none" if score is None else f"{score:.2f}" for key, score in scores.items()}
        rows[name] = {**shown, "what strict reports": "; ".join(strict.faults)}
    return pd.DataFrame.from_dict(rows, orient="index")


def changes(before: str, after: str) -> list[str]:
    """What was changed between two texts, spacing aside, as ``old words → new words``."""
    old, new = (re.findall(r"\w+|[^\w\s]", text) for text in (before, after))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return [
        f"{' '.join(old[a:b])} → {' '.join(new[c:d])}"
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind != "equal"
    ]


def enumerated(exhibit: str) -> int:
    """How many items the paper's own numbering i), ii), … has in what it says about an exhibit."""
    said = " ".join(words for _, words in quotations(exhibit))
    return len(set(re.findall(r"(?<![\w])([ivx]+)\) ", said)))
