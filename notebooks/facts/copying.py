"""How much of a summary is copied from its source: ROUGE precision, and runs copied word for word."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from radeval_lib.metrics import create
from radeval_lib.stats.tokens import words

MEASURES = {
    "rouge_1_precision": "ROUGE-1 precision",
    "rouge_l_precision": "ROUGE-L precision",
    "rouge_1_precision_stemmed": "ROUGE-1 precision, stemmed",
    "rouge_l_precision_stemmed": "ROUGE-L precision, stemmed",
    "in_runs": "words in runs of three or more",
}
"""Measures of copying: their stored columns, and what the page calls them."""


def fragments(source: Sequence[str], summary: Sequence[str]) -> list[int]:
    """Return the lengths, in words, of the longest runs of ``source`` that form ``summary`` from left to
    right.

    The greedy rule of Grusky, Naaman and Artzi 2018, section 3.1; words that the source lacks are in no run.
    """
    places: dict[str, list[int]] = {}
    for position, word in enumerate(source):
        places.setdefault(word, []).append(position)
    lengths, begin = [], 0
    while begin < len(summary):
        longest = 0
        for start in places.get(summary[begin], ()):
            length = 1
            while (
                begin + length < len(summary)
                and start + length < len(source)
                and summary[begin + length] == source[start + length]
            ):
                length += 1
            longest = max(longest, length)
        if longest:
            lengths.append(longest)
        begin += max(1, longest)
    return lengths


def in_one_run(source: str, summary: str) -> bool:
    """Return whether all words of a summary are in its source in one run."""
    tokens = words(summary)
    return fragments(words(source), tokens) == [len(tokens)]


def in_runs(source: str, summary: str) -> float:
    """Return the share of a summary's words that are in runs of three or more words of its source; 0 if it
    has no words."""
    tokens = words(summary)
    return sum(run for run in fragments(words(source), tokens) if run >= 3) / max(1, len(tokens))


def rouge_precision(sources: Sequence[str], summaries: Sequence[str], *, stem: bool) -> pd.DataFrame:
    """Return ROUGE-1 and ROUGE-L precision of each summary against its source.

    Columns ``rouge_1`` and ``rouge_l``, 0 to 1; one row per summary.
    """
    scores = {name: create(name, stem=stem).score(sources, summaries) for name in ("rouge_1", "rouge_l")}
    return pd.DataFrame(
        {name: [detail["precision"] for detail in scored.details] for name, scored in scores.items()}
    )


def measure_copying(texts: Sequence[str], summaries: Sequence[str]) -> pd.DataFrame:
    """Return how much of each summary is copied from its source: the columns of :data:`MEASURES`, 0 to 1."""
    plain, stemmed = (rouge_precision(texts, summaries, stem=stem) for stem in (False, True))
    return plain.add_suffix("_precision").assign(
        rouge_1_precision_stemmed=stemmed["rouge_1"],
        rouge_l_precision_stemmed=stemmed["rouge_l"],
        in_runs=list(map(in_runs, texts, summaries)),
    )
