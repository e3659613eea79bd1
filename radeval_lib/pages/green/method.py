"""GREEN's score and how it is read from text (Ostmeier et al. 2024, Sections 3.1 to 3.3 and Appendix A.2)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from radeval_lib.data import green_analysis
from radeval_lib.metrics import green
from radeval_lib.papers.printed_numbers import quotations
from radeval_lib.study.checks import Check, check_statement
from radeval_lib.study.runs import Run

Counts = tuple[list[int], list[int], int]
_HEADING = f"[{green.SIGNIFICANT}]:\n"


def scored(matched: int, errors: int, insignificant: int = 0) -> float | None:
    """Score of an analysis with these counts, by way of its text."""
    others = (0,) * 5
    return green.parse(green_analysis.render((errors, *others), (insignificant, *others), matched)).score


def check_formula() -> list[Check]:
    """What the paper says of the score, for all numbers of matches and errors from 0 to 12."""
    table = np.array([[scored(matched, errors) for errors in range(13)] for matched in range(13)], float)
    gain, loss = np.diff(table[1:], axis=0)[:, 1:], np.diff(table[1:], axis=1)
    slower = np.diff(gain, axis=0) < 0
    ignored = np.ptp([scored(3, 2, number) for number in range(13)])
    return [
        check_statement(
            "Bounds",
            "bounded between 0 and 1",
            f"from {table.min():.3g} to {table.max():.3g}",
            bool(table.min() >= 0 and table.max() <= 1),
        ),
        check_statement(
            "No match",
            "otherwise 0",
            f"scores without a match: {sorted(set(table[0].tolist()))}",
            bool((table[0] == 0).all()),
        ),
        check_statement(
            "A further match",
            "rewards matched findings",
            f"with errors, raises the score by {gain.min():.3f} to {gain.max():.3f}",
            bool((gain > 0).all()),
        ),
        check_statement(
            "A further significant error",
            "penalties for clinically significant errors",
            f"lowers the score by {-loss.max():.3f} to {-loss.min():.3f}",
            bool((loss < 0).all()),
        ),
        check_statement(
            "Each further match raises the score by less",
            "achieving a higher score becomes increasingly challenging",
            f"{(~slower).sum()} exceptions",
            bool(slower.all()),
        ),
        check_statement(
            "Insignificant errors change nothing",
            "balancing the penalties for clinically significant errors",
            f"largest change {ignored:.3g}",
            bool(ignored == 0),
        ),
    ]


def variants() -> dict[str, tuple[str, float | None]]:
    """One analysis in the ways in which written text can stray, each with the score that is meant."""
    plain = green_analysis.render((1, 2, 0, 0, 0, 0), (0, 0, 3, 0, 0, 0), 3)
    clean = green_analysis.render((0,) * 6, (0, 0, 3, 0, 0, 0), 3).split("\n\n", 1)[1]
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

    Returns
    -------
    DataFrame
        ``way``, ``share``, ``shift``.
    """
    texts = [green_analysis.render(*counts) for counts in written]
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


def read_back(written: Sequence[Counts]) -> int:
    """Of how many analyses in the layout all counts are read back."""
    read = [green.parse(green_analysis.render(*counts)) for counts in written]
    return sum(
        (one.significant, one.insignificant, one.matched) == (tuple(errors), tuple(other), matched)
        for one, (errors, other, matched) in zip(read, written, strict=True)
    )


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
