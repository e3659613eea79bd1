"""GREEN's score, how it is read from text, and candidates for kinds of images without a report generator.

Source: Ostmeier et al. 2024, Sections 3.1 to 3.3 and 5.1, Appendices A.2 and A.4. The algorithm of A.4
is missing in our copy; the section names its four methods and what it asks GPT-4 for. Here the generator does
that.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from radeval_lib.data.green_analysis import render
from radeval_lib.metrics import green
from radeval_lib.papers.printed_numbers import quotations as quotations
from radeval_lib.study.runs import Run

Counts = tuple[list[int], list[int], int]
_HEADING = f"[{green.SIGNIFICANT}]:\n"


def variants() -> dict[str, tuple[str, float | None]]:
    """One analysis in the ways in which written text can stray, each with the score that is meant."""
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


WAYS: dict[str, Callable[[str], str]] = {
    "no period after a count": lambda text: re.sub(r": ([1-9]\d*)\. ", r": \1 ", text, count=1),
    "blank line between entries": lambda text: text.replace("\n(b)", "\n\n(b)", 1),
    "two entries on one line": lambda text: text.replace("\n(b)", " (b)", 1),
    "significant section without its heading": lambda text: text.replace(_HEADING, "", 1),
}
"""Four ways of straying from the layout."""


def random_counts(n: int, rng: np.random.Generator) -> list[Counts]:
    """Significant and insignificant errors by category, and matched findings, of ``n`` random analyses."""
    return [
        (rng.poisson(0.25, 6).tolist(), rng.poisson(0.1, 6).tolist(), int(rng.poisson(2))) for _ in range(n)
    ]


def drift(written: Sequence[Counts], run: Run) -> pd.DataFrame:
    """How far the mean score as released moves where a share of analyses strays in one way.

    Returns ``way``, ``share``, ``shift``.
    """
    texts = [render(*counts) for counts in written]
    true = np.mean([green.green_score(matched, sum(errors)) for errors, _, matched in written])
    rows = []
    for name, stray in WAYS.items():
        for share in (0.0, 0.1, 0.2, 0.4):
            hit = run.rng(f"{name} {share}").random(len(written)) < share
            read = [
                green.parse(stray(text) if bad else text).score for text, bad in zip(texts, hit, strict=True)
            ]
            rows.append((name, share, np.mean(np.array(read, dtype=float)) - true))
    return pd.DataFrame(rows, columns=["way", "share", "shift"])


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
