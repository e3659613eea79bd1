"""Fact counts behind printed rates: which small whole numbers can have made them.

A published precision of 0.66666667 is 2 of 3, or 4 of 6, but not 5 of 7. Precision and recall share their
numerator, the facts in common, and further rates narrow the denominators: so the counts can often be
recovered, up to a common factor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from radeval_lib.data.records import FactRating
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics.base import MetricError

TOLERANCE = 1e-7  # rates that passed through 32-bit numbers and were printed with eight decimals


class RateCounts(NamedTuple):
    """Counts that give a set of rates: facts of the reference, of the summary, in both, invented by the
    summary and left out of it; the last is None where no omission rate is known."""

    reference: int
    generated: int
    common: int
    invented: int
    omitted: int | None = None

    @property
    def counted_twice(self) -> int:
        """Facts of the reference that are both in common and left out, which cannot be."""
        return max(0, self.common + self.omitted - self.reference) if self.omitted is not None else 0

    @property
    def neither(self) -> int:
        """Facts of the reference that are neither in common nor noted as left out."""
        return max(0, self.reference - self.common - self.omitted) if self.omitted is not None else 0


def possible_counts(
    precision: float,
    recall: float,
    *,
    hallucination: float = 0.0,
    omission: float | None = None,
    most_reference: int,
    most_generated: int,
) -> list[RateCounts]:
    """Return every set of counts up to the given sizes that gives these rates, smallest first.

    A precision of 1 beside a recall of 0 means a summary without any fact: nothing over nothing, printed
    as 1. There is no constraint where ``omission`` is None. A rate that is not from 0 to 1 is a ValueError.
    """
    for rate in (precision, recall, hallucination, omission or 0.0):
        if not 0 <= rate <= 1:
            raise ValueError(f"a rate must lie from 0 to 1, not {rate:g}")
    found = []
    for reference in range(1, most_reference + 1):
        common = _share(recall, reference)
        omitted = None if omission is None else _share(omission, reference)
        if common is None or (omission is not None and omitted is None):
            continue
        for generated in _generated(precision, common, most_generated):
            invented = _share(hallucination, generated)
            if invented is not None and invented <= generated - common:
                found.append(RateCounts(reference, generated, common, invented, omitted))
    return sorted(found, key=lambda one: (one.reference + one.generated, one.reference))


def _share(rate: float, whole: int) -> int | None:
    """Return the number that makes up ``rate`` of ``whole``; None where no whole number does."""
    if whole == 0:
        return 0 if rate == 0 else None
    part = round(rate * whole)
    return part if abs(part / whole - rate) <= TOLERANCE else None


def _generated(precision: float, common: int, most: int) -> Iterator[int]:
    """Yield facts of a summary of which ``common`` are the share ``precision``."""
    if common == 0 and precision <= TOLERANCE:
        yield from range(1, most + 1)
    elif common == 0 and precision >= 1 - TOLERANCE:
        yield 0
    elif common and precision > TOLERANCE:
        whole = round(common / precision)
        if whole <= most and abs(common / whole - precision) <= TOLERANCE:
            yield whole


def counts_of(rating: FactRating) -> list[RateCounts]:
    """Return the counts that can have made one judgement's rates, with no more facts than words; where there
    are none, with up to ten facts a word: a bound on style must not be taken for a contradiction.

    Raises
    ------
    MetricError
        If no counts give the rates.
    """
    words = [max(1, len(reveal(text).split())) for text in (rating.reference, rating.candidate)]
    for bound in (1, 10):
        found = possible_counts(
            rating.precision,
            rating.recall,
            hallucination=rating.hallucination,
            omission=rating.omission,
            most_reference=bound * words[0],
            most_generated=bound * words[1],
        )
        if found:
            return found
    shown = "unknown" if rating.omission is None else f"{rating.omission:g}"
    raise MetricError(
        f"no counts give precision {rating.precision:g}, recall {rating.recall:g}, hallucination "
        f"{rating.hallucination:g} and omission {shown}",
        f"judgement {rating.id}",
        "Look the row up in its source.",
    )


def shared_reference_counts(ratings: Sequence[FactRating]) -> list[int]:
    """Return numbers of facts of one reference that fit all the judgements of its summaries; empty where none
    do.

    Raises
    ------
    MetricError
        If there is no judgement, they are about different references, or as of :func:`counts_of`.
    """
    if not ratings:
        raise MetricError("no judgements of a reference")
    if len({reveal(rating.reference) for rating in ratings}) != 1:
        raise MetricError("these judgements are about different references", f"judgement {ratings[0].id}")
    sizes = [{one.reference for one in counts_of(rating)} for rating in ratings]
    return sorted(set.intersection(*sizes))
