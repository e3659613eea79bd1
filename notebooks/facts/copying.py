"""Measure how much of a summary is copied from its source, by ROUGE precision and copied runs of words."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from radeval_lib.metrics import create
from radeval_lib.stats.tokens import words

# The columns of the measures of copying, with their names on the page.
MEASURES = {
    "rouge_1_precision": "ROUGE-1 precision",
    "rouge_l_precision": "ROUGE-L precision",
    "rouge_1_precision_stemmed": "ROUGE-1 precision, stemmed",
    "rouge_l_precision_stemmed": "ROUGE-L precision, stemmed",
    "in_runs": "words in runs of three or more",
}


def measure_fragments(source: Sequence[str], summary: Sequence[str]) -> list[int]:
    """Return the lengths, in words, of the extractive fragments of a summary, from left to right.

    By the greedy rule of Grusky, Naaman and Artzi (2018, Section 3.1), the next fragment is the longest run
    of words in ``source`` with which the rest of ``summary`` begins. A word that is not in ``source`` belongs
    to no fragment. Both texts are given as lists of words.
    """
    positions: dict[str, list[int]] = {}
    for position, word in enumerate(source):
        positions.setdefault(word, []).append(position)
    lengths, start = [], 0
    while start < len(summary):
        longest = 0
        for source_start in positions.get(summary[start], ()):
            length = 1
            while (
                start + length < len(summary)
                and source_start + length < len(source)
                and summary[start + length] == source[source_start + length]
            ):
                length += 1
            longest = max(longest, length)
        if longest:
            lengths.append(longest)
        start += max(1, longest)
    return lengths


def is_one_run(source: str, summary: str) -> bool:
    """Return whether a summary's words are adjacent and in the same order in its source.

    The result is False if the summary has no words.
    """
    tokens = words(summary)
    return measure_fragments(words(source), tokens) == [len(tokens)]


def measure_run_share(source: str, summary: str) -> float:
    """Return the share (0 to 1) of a summary's words that are in copied runs of three or more words.

    The share is 0 if the summary has no words.
    """
    tokens = words(summary)
    lengths = measure_fragments(words(source), tokens)
    return sum(length for length in lengths if length >= 3) / max(1, len(tokens))


def compute_rouge_precision(sources: Sequence[str], summaries: Sequence[str], *, stem: bool) -> pd.DataFrame:
    """Return the ROUGE-1 and ROUGE-L precision of each summary against its source.

    The DataFrame has one row per summary, with columns ``rouge_1`` and ``rouge_l`` (0 to 1). If ``stem`` is
    true, words are stemmed.
    """
    scores = {name: create(name, stem=stem).score(sources, summaries) for name in ("rouge_1", "rouge_l")}
    return pd.DataFrame(
        {name: [detail["precision"] for detail in scored.details] for name, scored in scores.items()}
    )


def measure_copying(sources: Sequence[str], summaries: Sequence[str]) -> pd.DataFrame:
    """Return the measures of copying (0 to 1) of each summary against its source.

    The DataFrame has one row per summary and one column per key of :data:`MEASURES`.
    """
    plain, stemmed = (compute_rouge_precision(sources, summaries, stem=stem) for stem in (False, True))
    return plain.add_suffix("_precision").assign(
        rouge_1_precision_stemmed=stemmed["rouge_1"],
        rouge_l_precision_stemmed=stemmed["rouge_l"],
        in_runs=list(map(measure_run_share, sources, summaries)),
    )
