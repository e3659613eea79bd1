"""Fact counts behind printed rates: which small whole numbers can have made them.

A published precision of 0.66666667 is 2 of 3, or 4 of 6, but not 5 of 7. Precision and recall share their
numerator, the facts in common, and further rates narrow the denominators: so the counts can often be told,
up to a common factor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from radeval_lib.data.records import FactRating
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics.base import MetricError

TOLERANCE = 1e-7  # rates that passed through 32-bit numbers and were printed with eight decimals


@dataclass(frozen=True, order=True)
class RateCounts:
    """Counts that give a set of rates.

    Attributes
    ----------
    reference, generated, common : facts of the reference, of the summary, and in both.
    invented : facts of the summary that are invented.
    omitted : facts of the reference that are left out; None where no omission rate is known.
    """

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
    tolerance: float = TOLERANCE,
) -> list[RateCounts]:
    """Every set of counts up to the given sizes that gives these rates, smallest first.

    A precision of 1 beside a recall of 0 means a summary without any fact: nothing over nothing, printed
    as 1.

    Parameters
    ----------
    precision, recall, hallucination, omission : rates from 0 to 1; no constraint where ``omission`` is None.
    most_reference, most_generated : largest counts to try.
    tolerance : largest distance of a rate from its fraction.
    """
    for name, rate in (
        ("precision", precision),
        ("recall", recall),
        ("hallucination", hallucination),
        ("omission", 0.0 if omission is None else omission),
    ):
        if not 0 <= rate <= 1:
            raise ValueError(f"{name} must be a rate from 0 to 1, not {rate:g}")
    if most_reference < 1 or most_generated < 1:
        raise ValueError("most_reference and most_generated must be at least 1")
    found = []
    for reference in range(1, most_reference + 1):
        common = _share(recall, reference, tolerance)
        omitted = 0 if omission is None else _share(omission, reference, tolerance)
        if common is None or omitted is None:
            continue
        for generated in _generated(precision, common, most_generated, tolerance):
            invented = _share(hallucination, generated, tolerance)
            if invented is not None and invented <= generated - common:
                found.append(
                    RateCounts(reference, generated, common, invented, None if omission is None else omitted)
                )
    return sorted(found, key=lambda one: (one.reference + one.generated, one.reference))


def _share(rate: float, whole: int, tolerance: float) -> int | None:
    """The number that makes up ``rate`` of ``whole``; None where no whole number does."""
    if whole == 0:
        return 0 if rate == 0 else None
    part = round(rate * whole)
    return part if abs(part / whole - rate) <= tolerance else None


def _generated(precision: float, common: int, most: int, tolerance: float) -> Iterator[int]:
    """Facts of a summary of which ``common`` are the share ``precision``."""
    if common == 0 and precision <= tolerance:
        yield from range(1, most + 1)
    elif common == 0 and precision >= 1 - tolerance:
        yield 0
    elif common and precision > tolerance:
        whole = round(common / precision)
        if whole <= most and abs(common / whole - precision) <= tolerance:
            yield whole


def counts_of(rating: FactRating, *, facts_per_word: float = 1.0) -> list[RateCounts]:
    """The counts that can have made one judgement's rates.

    Parameters
    ----------
    facts_per_word : bounds the counts by the texts' words. Where no counts are within the bound, those up to
        ten facts a word are tried: a bound on style must not be taken for a contradiction.
    """
    words = [max(1, len(reveal(text).split())) for text in (rating.reference, rating.candidate)]
    for bound in (facts_per_word, 10.0):
        most_reference, most_generated = (max(1, int(bound * number)) for number in words)
        found = possible_counts(
            rating.precision,
            rating.recall,
            hallucination=rating.hallucination,
            omission=rating.omission,
            most_reference=most_reference,
            most_generated=most_generated,
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
    """Numbers of facts of one reference that fit all the judgements of its summaries; empty where none do."""
    if len({reveal(rating.reference) for rating in ratings}) != 1:
        raise MetricError(
            "these judgements are about different references", f"judgement {ratings[0].id}" if ratings else ""
        )
    sizes = [{one.reference for one in counts_of(rating)} for rating in ratings]
    return sorted(set.intersection(*sizes))
