"""Simulated raters who count facts in the same descriptions at different levels of detail.

A report is a row of statements at the finest level. A description copies some of the reference's statements
and takes others from elsewhere in the report. A rater walks through a text and, at each boundary between two
statements, either starts a new fact or reads on: the probability of starting anew is the rater's granularity.
A boundary is judged once a rater, so that a copied passage is cut alike in both texts.

The question it serves: Moramarco et al. 2021, Section 6.1 (low agreement on counts, high on derived metrics).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from radeval_lib.metrics.facts import FactCounts

REFERENCE_LENGTH = (3, 9)  # statements in a reference description, least and most
OWN_LENGTH = (0, 7)  # statements that a generated description takes from elsewhere in the report
WRONG = 0.005  # probability that a statement of a generated description is wrong


@dataclass(frozen=True)
class Description:
    """One generated description.

    Attributes
    ----------
    report : which report it describes.
    reference : statements in the reference description.
    copied : how many of them, from the first on, the generated description has too.
    own : statements that it has beside these.
    wrong : for each of its statements (copied, then own), whether it is wrong.
    """

    report: int
    reference: int
    copied: int
    own: int
    wrong: tuple[bool, ...]


def draw_descriptions(rng: np.random.Generator, reports: int, overlaps: Sequence[float]) -> list[Description]:
    """One description a report and model; ``overlaps`` is each model's probability of copying a statement."""
    drawn = []
    for report in range(reports):
        length = int(rng.integers(*REFERENCE_LENGTH, endpoint=True))
        for overlap in overlaps:
            copied = int(rng.binomial(length, overlap))
            own = int(rng.integers(*OWN_LENGTH, endpoint=True))
            own = own or int(copied == 0)  # a description says at least something
            wrong = tuple(bool(flag) for flag in rng.random(copied + own) < WRONG)
            drawn.append(Description(report, length, copied, own, wrong))
    return drawn


def _facts(cuts: np.ndarray, length: int) -> np.ndarray:
    """Number of the fact that each of ``length`` statements belongs to, from 0."""
    return np.concatenate([[0], np.cumsum(cuts[: length - 1])]) if length else np.zeros(0, dtype=np.int64)


def count_facts(
    rng: np.random.Generator, descriptions: Sequence[Description], granularity: Sequence[float]
) -> list[list[FactCounts]]:
    """Each rater's counts for each description.

    Parameters
    ----------
    granularity : each rater's probability of starting a new fact at a boundary, 0 to 1.

    Returns
    -------
    list of list
        One list a rater, in the descriptions' order. A fact is wrong where one of its statements is.
    """
    if not all(0 <= level <= 1 for level in granularity):
        raise ValueError(f"granularity must lie between 0 and 1, not {list(granularity)}")
    counted = []
    for level in granularity:
        cuts_of: dict[int, np.ndarray] = {}
        rater = []
        for text in descriptions:
            if text.report not in cuts_of:
                cuts_of[text.report] = (rng.random(REFERENCE_LENGTH[1]) < level).astype(np.int64)
            in_reference = _facts(cuts_of[text.report], text.reference)
            copied = _facts(cuts_of[text.report], text.copied)
            own = _facts((rng.random(OWN_LENGTH[1]) < level).astype(np.int64), text.own)
            common = int(copied[-1]) + 1 if text.copied else 0
            generated = np.concatenate([copied, own + common]).astype(np.int64)
            total = int(generated[-1]) + 1
            bad = len(set(generated[np.array(text.wrong, dtype=bool)].tolist()))
            rater.append(FactCounts(int(in_reference[-1]) + 1, total, common, total - bad))
        counted.append(rater)
    return counted
