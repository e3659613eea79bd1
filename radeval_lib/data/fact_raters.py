"""Simulated raters who count facts in the same descriptions at different levels of detail.

A reference is a row of statements at the finest level. A description says some of them and adds others. A
rater walks through a text and, at each boundary between two statements, either starts a new fact or reads on:
the probability of starting again is the rater's granularity. By default a boundary is judged once a rater, so
that a passage which both texts share is cut alike in both, and no fact is misjudged; both can be given up.

The question it serves: Moramarco et al. 2021, Section 6.1 (low agreement on counts, high on derived metrics).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from radeval_lib.stats.measures import FactCounts

REFERENCE_LENGTH = (3, 9)  # statements in a reference description, least and most
OWN_LENGTH = (0, 7)  # statements that a generated description takes from elsewhere in the report
WRONG = 0.005  # probability that a statement of a generated description is wrong


@dataclass(frozen=True)
class Description:
    """One generated description.

    Attributes
    ----------
    report : the number of its report, whose reference it is compared with.
    reference : statements of the reference.
    copied : how many of these it says.
    own : statements that it takes from elsewhere in the report.
    wrong : for each of its statements, the copied ones first, whether it is wrong.
    """

    report: int
    reference: int
    copied: int
    own: int
    wrong: tuple[bool, ...]


def draw_descriptions(rng: np.random.Generator, reports: int, overlaps: Sequence[float]) -> list[Description]:
    """Return one description per report and model. ``overlaps`` has, for each model, the probability that it
    states what the reference states."""
    drawn = []
    for report in range(reports):
        length = int(rng.integers(*REFERENCE_LENGTH, endpoint=True))
        for overlap in overlaps:
            copied = int(rng.binomial(length, overlap))
            added = int(rng.integers(*OWN_LENGTH, endpoint=True))
            added = added or int(copied == 0)  # a description says at least something
            wrong = tuple(bool(flag) for flag in rng.random(copied + added) < WRONG)
            drawn.append(Description(report, length, copied, added, wrong))
    return drawn


def count_facts(
    rng: np.random.Generator,
    descriptions: Sequence[Description],
    granularity: Sequence[float],
    *,
    alike: float = 1.0,
    slips: float = 0.0,
) -> list[list[FactCounts]]:
    """Return each rater's counts for each description.

    Parameters
    ----------
    granularity : each rater's probability of starting a new fact at a boundary, 0 to 1.
    alike : probability that a rater cuts what a description shares with the reference as in the reference;
        otherwise it is cut again.
    slips : probability that a fact of a description is wrongly taken to be in the reference, or not to be.

    Returns
    -------
    list of list
        One list a rater, in the descriptions' order. A fact is wrong if one of its statements is; it is
        common if the description says only a part of it.
    """
    counted = []
    for level in granularity:
        references: dict[int, NDArray[np.int64]] = {}
        rater = []
        for text in descriptions:
            if text.report not in references:
                references[text.report] = _cut(rng, text.reference, level)
            rater.append(_counts(rng, text, references[text.report], level, alike, slips))
        counted.append(rater)
    return counted


def _cut(rng: np.random.Generator, length: int, level: float) -> NDArray[np.int64]:
    """Return number of the fact, from 0, that each of ``length`` statements belongs to."""
    cuts = np.concatenate([[False], rng.random(max(0, length - 1)) < level])[:length]
    return np.cumsum(cuts).astype(np.int64)


def _counts(
    rng: np.random.Generator,
    text: Description,
    reference: NDArray[np.int64],
    level: float,
    alike: float,
    slips: float,
) -> FactCounts:
    """Return a rater's counts for one description, given the fact of each of the reference's statements."""
    size = int(reference[-1]) + 1 if text.reference else 0
    copied = reference[: text.copied]
    if rng.random() >= alike:
        copied = _cut(rng, text.copied, level)
    copied = np.cumsum(np.diff(copied, prepend=copied[:1]) != 0)  # its own facts, numbered from 0
    shared = int(copied[-1]) + 1 if text.copied else 0
    facts = np.concatenate([copied, _cut(rng, text.own, level) + shared])
    total = int(facts[-1]) + 1 if len(facts) else 0
    bad = len(set(facts[np.array(text.wrong, dtype=bool)].tolist())) if any(text.wrong) else 0
    missed, mistaken = rng.binomial(shared, slips), rng.binomial(total - shared, slips)
    common = min(shared - int(missed) + int(mistaken), size)  # no form takes more than the reference has
    return FactCounts(size, total, common, total - bad)
