"""How much of a summary is copied from its source: ROUGE precision, and fragments copied word for word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from radeval_lib.metrics import create
from radeval_lib.stats.tokens import words


def fragments(source: Sequence[str], summary: Sequence[str]) -> list[int]:
    """Lengths, in words, of the longest runs of ``source`` that make up ``summary`` from left to right.

    The greedy rule of Grusky, Naaman and Artzi 2018, section 3.1; words that the source lacks are in no run.
    """
    places: dict[str, list[int]] = {}
    for place, word in enumerate(source):
        places.setdefault(word, []).append(place)
    found, at = [], 0
    while at < len(summary):
        longest = 0
        for start in places.get(summary[at], ()):
            length = 1
            while (
                at + length < len(summary)
                and start + length < len(source)
                and summary[at + length] == source[start + length]
            ):
                length += 1
            longest = max(longest, length)
        if longest:
            found.append(longest)
        at += max(1, longest)
    return found


def in_one_run(source: str, summary: str) -> bool:
    """Whether all words of a summary stand in its source in one run."""
    said = words(summary)
    return fragments(words(source), said) == [len(said)]


@dataclass(frozen=True)
class Copied:
    """Copying of one summary.

    Attributes
    ----------
    coverage : share of its words that are in copied runs, 0 to 1.
    density : mean length of the run that a word is in, in words; 0 for words in none.
    phrases : share of its words in copied runs of at least three words.
    """

    coverage: float
    density: float
    phrases: float


def copied(source: str, summary: str) -> Copied:
    """Copying of a summary from its source; all 0 where the summary has no words."""
    said = words(summary)
    runs = np.array(fragments(words(source), said), dtype=np.float64)
    if not said:
        return Copied(0.0, 0.0, 0.0)
    return Copied(
        float(runs.sum() / len(said)),
        float((runs**2).sum() / len(said)),
        float(runs[runs >= 3].sum() / len(said)),
    )


def rouge_precision(sources: Sequence[str], summaries: Sequence[str], *, stem: bool) -> pd.DataFrame:
    """ROUGE-1 and ROUGE-L precision of each summary against its source.

    Returns
    -------
    DataFrame
        Columns ``rouge_1`` and ``rouge_l``, 0 to 1; one row a summary.
    """
    return pd.DataFrame(
        {
            name: [
                detail["precision"] for detail in create(name, stem=stem).score(sources, summaries).details
            ]
            for name in ("rouge_1", "rouge_l")
        }
    )
