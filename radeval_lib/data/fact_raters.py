"""Simulated raters who count facts in the same descriptions at different levels of detail.

A reference is a sequence of statements at the finest level. A description copies some of them and adds
others. At each boundary between two statements, a rater starts a new fact with a probability, the rater's
granularity. By default, a rater cuts a passage that both texts share alike in both and misjudges no fact;
``alike`` and ``slips`` of :func:`count_facts` change that.

The simulation serves Section 6.1 of Moramarco et al. 2021: low agreement on counts, high agreement on metrics
derived from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from radeval_lib.stats.measures import FactCounts

_REFERENCE_LENGTH = (3, 9)  # least and most statements in a reference
_OWN_LENGTH = (0, 7)  # least and most statements that a description takes from elsewhere in the report
_WRONG = 0.005  # probability that a statement of a description is wrong


@dataclass(frozen=True)
class Description:
    """One generated description.

    Attributes
    ----------
    report : number of its report, whose reference it is compared with.
    reference : number of statements in the reference.
    copied : number of these that it repeats, from the first on.
    own : number of statements that it takes from elsewhere in the report.
    wrong : whether each of its statements is wrong, the copied ones first.
    """

    report: int
    reference: int
    copied: int
    own: int
    wrong: tuple[bool, ...]


def draw_descriptions(rng: np.random.Generator, reports: int, overlaps: Sequence[float]) -> list[Description]:
    """Return one description per report and model, report by report. ``overlaps`` has the probability of each
    model to repeat a statement of the reference."""
    drawn = []
    for report in range(reports):
        length = int(rng.integers(*_REFERENCE_LENGTH, endpoint=True))
        for overlap in overlaps:
            copied = int(rng.binomial(length, overlap))
            added = int(rng.integers(*_OWN_LENGTH, endpoint=True))
            added = added or int(copied == 0)  # a description says at least something
            wrong = tuple(bool(flag) for flag in rng.random(copied + added) < _WRONG)
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
    alike : probability that a rater cuts the copied statements as in the reference; otherwise they are cut
        independently.
    slips : probability of misjudging whether a fact of a description is in the reference.

    Returns
    -------
    list of list
        One list per rater, in the descriptions' order. A fact is wrong if one of its statements is. A fact of
        the reference is common even if the description repeats only a part of it.
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
    """Return the number of the fact, from 0, to which each of ``length`` statements belongs."""
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
    """Return a rater's counts for one description; ``reference`` has the fact of each statement of the
    reference."""
    size = int(reference[-1]) + 1 if text.reference else 0
    copied = reference[: text.copied]
    if rng.random() >= alike:
        copied = _cut(rng, text.copied, level)
    copied = np.cumsum(np.diff(copied, prepend=copied[:1]) != 0)  # renumbered from 0
    shared = int(copied[-1]) + 1 if text.copied else 0
    facts = np.concatenate([copied, _cut(rng, text.own, level) + shared])
    total = int(facts[-1]) + 1 if len(facts) else 0
    bad = len(set(facts[np.array(text.wrong, dtype=bool)].tolist())) if any(text.wrong) else 0
    missed, mistaken = rng.binomial(shared, slips), rng.binomial(total - shared, slips)
    common = min(shared - int(missed) + int(mistaken), size)  # at most all facts of the reference
    return FactCounts(size, total, common, total - bad)
