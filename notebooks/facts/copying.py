"""Measure how much of a summary is copied from its source: ROUGE precision, and copied runs of words."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from radeval_lib.metrics import create
from radeval_lib.stats.tokens import words

# Measures of copying: their stored columns, and their names on the page.
MEASURES = {
    "rouge_1_precision": "ROUGE-1 precision",
    "rouge_l_precision": "ROUGE-L precision",
    "rouge_1_precision_stemmed": "ROUGE-1 precision, stemmed",
    "rouge_l_precision_stemmed": "ROUGE-L precision, stemmed",
    "in_runs": "words in runs of three or more",
}


def measure_fragments(source: Sequence[str], summary: Sequence[str]) -> list[int]:
    """Return the lengths, in words, of the extractive fragments of a summary, from left to right.

    By the greedy rule of Grusky, Naaman and Artzi (2018, section 3.1), the next fragment is the longest run
    of words of ``source`` with which the rest of ``summary`` begins. Words that the source lacks are in no
    fragment.
    """
    positions: dict[str, list[int]] = {}
    for position, word in enumerate(source):
        positions.setdefault(word, []).append(position)
    lengths, begin = [], 0
    while begin < len(summary):
        longest = 0
        for start in positions.get(summary[begin], ()):
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


def is_one_run(source: str, summary: str) -> bool:
    """Return whether all words of a summary stand side by side, in the same order, in its source.

    False if the summary has no words.
    """
    tokens = words(summary)
    return measure_fragments(words(source), tokens) == [len(tokens)]


def measure_run_share(source: str, summary: str) -> float:
    """Return the share (0 to 1) of a summary's words in copied runs of three or more words.

    It is 0 if the summary has no words.
    """
    tokens = words(summary)
    return sum(run for run in measure_fragments(words(source), tokens) if run >= 3) / max(1, len(tokens))


def compute_rouge_precision(sources: Sequence[str], summaries: Sequence[str], *, stem: bool) -> pd.DataFrame:
    """Return the ROUGE-1 and ROUGE-L precision of each summary against its source.

    Columns are ``rouge_1`` and ``rouge_l``, 0 to 1, with one row per summary. ``stem`` says whether words are
    reduced to their stems.
    """
    scores = {name: create(name, stem=stem).score(sources, summaries) for name in ("rouge_1", "rouge_l")}
    return pd.DataFrame(
        {name: [detail["precision"] for detail in scored.details] for name, scored in scores.items()}
    )


def measure_copying(sources: Sequence[str], summaries: Sequence[str]) -> pd.DataFrame:
    """Return each measure of copying (the columns of :data:`MEASURES`, 0 to 1), one row per summary."""
    plain, stemmed = (compute_rouge_precision(sources, summaries, stem=stem) for stem in (False, True))
    return plain.add_suffix("_precision").assign(
        rouge_1_precision_stemmed=stemmed["rouge_1"],
        rouge_l_precision_stemmed=stemmed["rouge_l"],
        in_runs=list(map(measure_run_share, sources, summaries)),
    )
