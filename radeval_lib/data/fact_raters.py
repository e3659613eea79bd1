"""Simulated raters who count facts in the same descriptions at different levels of detail.

A reference is a sequence of statements at the finest level. A description copies some of them and adds
others. At each boundary between two statements, a rater starts a new fact with a fixed probability, the
rater's granularity. By default, a rater splits a passage that both texts share into the same facts in both,
and recognizes every shared fact; ``consistency`` and ``slips`` of :func:`count_facts` change that.

The simulation is for Section 6.1 of Moramarco et al. 2021, which finds low agreement on counts, but high
agreement on metrics derived from the counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from radeval_lib.stats.measures import FactCounts

_REFERENCE_LENGTH = (3, 9)  # minimum and maximum number of statements in a reference
_ADDED_LENGTH = (0, 7)  # minimum and maximum number that a description takes from elsewhere in the report
_WRONG_PROBABILITY = 0.005  # probability that a statement of a description is wrong


@dataclass(frozen=True)
class Description:
    """A simulated description of a report, with the numbers of its statements.

    Attributes
    ----------
    report : number of the report, from 0; the description is compared with that report's reference.
    reference : number of statements in the reference.
    copied : number of reference statements that the description repeats, always the first in the reference.
    added : number of statements that the description takes from elsewhere in the report.
    wrong : whether each statement of the description is wrong, the copied statements first.
    """

    report: int
    reference: int
    copied: int
    added: int
    wrong: tuple[bool, ...]


def draw_descriptions(rng: np.random.Generator, reports: int, overlaps: Sequence[float]) -> list[Description]:
    """Return random descriptions, one per report and model, report by report.

    ``rng`` draws the random numbers; ``reports`` is the number of reports; ``overlaps`` has, for each model,
    the probability (0 to 1) of repeating a statement of the reference.
    """
    descriptions = []
    for report in range(reports):
        length = int(rng.integers(*_REFERENCE_LENGTH, endpoint=True))
        for overlap in overlaps:
            copied = int(rng.binomial(length, overlap))
            added = int(rng.integers(*_ADDED_LENGTH, endpoint=True))
            added = added or int(copied == 0)  # A description has at least one statement.
            wrong = tuple(bool(flag) for flag in rng.random(copied + added) < _WRONG_PROBABILITY)
            descriptions.append(Description(report, length, copied, added, wrong))
    return descriptions


def count_facts(
    rng: np.random.Generator,
    descriptions: Sequence[Description],
    granularity: Sequence[float],
    *,
    consistency: float = 1.0,
    slips: float = 0.0,
) -> list[list[FactCounts]]:
    """Return each simulated rater's four counts of facts for each description.

    Parameters
    ----------
    rng : the generator that draws the random numbers.
    descriptions : from :func:`draw_descriptions`.
    granularity : for each rater, the probability (0 to 1) of starting a new fact at a boundary between two
        statements.
    consistency : probability (0 to 1) that a rater splits the copied statements of a description into the
        same facts as in the reference; otherwise, the rater splits them independently.
    slips : probability (0 to 1) of misjudging whether a fact of a description is in the reference.

    Returns
    -------
    list of list of FactCounts
        One list per rater, in the order of the descriptions. A fact is wrong if one of its statements is
        wrong. A fact of the reference is common even if the description repeats only a part of it.
    """
    counts_by_rater = []
    for level in granularity:
        reference_facts: dict[int, NDArray[np.int64]] = {}  # by report
        counts = []
        for description in descriptions:
            if description.report not in reference_facts:
                reference_facts[description.report] = _split_into_facts(rng, description.reference, level)
            facts = reference_facts[description.report]
            counts.append(_count_description(rng, description, facts, level, consistency, slips))
        counts_by_rater.append(counts)
    return counts_by_rater


def _split_into_facts(rng: np.random.Generator, statements: int, level: float) -> NDArray[np.int64]:
    """Return the number of the fact to which each statement of a text belongs, counted from 0.

    ``statements`` is the number of statements; the array has shape (statements,). At each boundary
    between two statements, a new fact starts with probability ``level``.
    """
    starts_fact = np.concatenate([[False], rng.random(max(0, statements - 1)) < level])[:statements]
    return np.cumsum(starts_fact).astype(np.int64)


def _count_description(
    rng: np.random.Generator,
    description: Description,
    reference_facts: NDArray[np.int64],
    level: float,
    consistency: float,
    slips: float,
) -> FactCounts:
    """Return one rater's counts of facts for one description.

    ``reference_facts`` has, for each statement of the reference, the number of the fact to which the rater
    assigns it; ``level`` is the rater's granularity; ``consistency`` and ``slips`` are the probabilities that
    :func:`count_facts` takes.
    """
    in_reference = int(reference_facts[-1]) + 1 if description.reference else 0
    copied = reference_facts[: description.copied]
    if rng.random() >= consistency:
        copied = _split_into_facts(rng, description.copied, level)
    copied = np.cumsum(np.diff(copied, prepend=copied[:1]) != 0)  # Facts are numbered from 0.
    shared = int(copied[-1]) + 1 if description.copied else 0
    facts = np.concatenate([copied, _split_into_facts(rng, description.added, level) + shared])
    total = int(facts[-1]) + 1 if len(facts) else 0
    wrong = len(set(facts[np.array(description.wrong, dtype=bool)])) if any(description.wrong) else 0
    missed, mistaken = rng.binomial(shared, slips), rng.binomial(total - shared, slips)
    common = min(shared - int(missed) + int(mistaken), in_reference)  # at most all facts of the reference
    return FactCounts(in_reference, total, common, total - wrong)
