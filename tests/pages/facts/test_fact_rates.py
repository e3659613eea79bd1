"""Counts behind rates: by hand, recovered from known counts, and refused where there are none."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from notebooks.facts.real_counts import RateCounts, counts_of, possible_counts
from radeval_lib.data.records import FactRating
from radeval_lib.labs.fact_cases import fact_cases, facts
from radeval_lib.metrics.base import MetricError

# Row 8 of MTS-Dialog's scores: 2 of 3 facts are in the reference's 7, of which 4 were left out.
RATING = FactRating(
    id="8/1",
    case="8",
    reference="one two three four five six seven eight",
    candidate="one two three",
    precision=0.66666667,
    recall=0.28571429,
    f1=0.4,
    hallucination=0,
    omission=0.571428571,
)


def test_a_row_by_hand() -> None:
    (first,) = counts_of(RATING)
    assert first == RateCounts(reference=7, generated=3, common=2, invented=0, omitted=4)
    assert (first.counted_twice, first.neither) == (0, 1)
    twice = replace(RATING, precision=1.0, recall=0.5, f1=2 / 3, omission=1.0)
    assert counts_of(twice)[0] == RateCounts(2, 1, 1, 0, 2)
    assert counts_of(twice)[0].counted_twice == 1


def test_smallest_first_and_within_bounds() -> None:
    result = possible_counts(0.5, 0.25, most_reference=12, most_generated=4)
    assert [(item.reference, item.generated, item.common) for item in result] == [(4, 2, 1), (8, 4, 2)]
    # Six facts of which a third is invented are not four.
    assert possible_counts(0.5, 0.5, hallucination=1 / 3, most_reference=9, most_generated=9) == [
        RateCounts(6, 6, 3, 2)
    ]


def test_nothing_over_nothing() -> None:
    result = possible_counts(1.0, 0.0, omission=1.0, most_reference=2, most_generated=5)
    assert result == [RateCounts(1, 0, 0, 0, 1), RateCounts(2, 0, 0, 0, 2)]


def test_rates_that_no_counts_give() -> None:
    assert possible_counts(0.123456, 0.5, most_reference=40, most_generated=40) == []
    impossible = replace(RATING, precision=0.123456, f1=2 * 0.123456 * 0.28571429 / (0.123456 + 0.28571429))
    with pytest.raises(MetricError, match=r"judgement 8/1: no counts give precision 0.123456"):
        counts_of(impossible)


def test_a_bound_on_words_is_no_contradiction() -> None:
    short = replace(RATING, candidate="Dilaudid 4 mg.", precision=0.25, recall=0.25, f1=0.25, omission=0.75)
    assert counts_of(short)[0] == RateCounts(4, 4, 1, 0, 3)


@given(st.integers(1, 30), st.integers(0, 30), st.data())
def test_counts_are_among_those_that_their_rates_allow(
    reference: int, generated: int, data: st.DataObject
) -> None:
    common = data.draw(st.integers(0, min(reference, generated)))
    assume(generated or not common)
    invented = data.draw(st.integers(0, generated - common))
    omitted = data.draw(st.integers(0, reference))
    result = possible_counts(
        round(common / generated, 8) if generated else 1.0,
        round(common / reference, 8),
        hallucination=round(invented / generated, 9) if generated else 0.0,
        omission=round(omitted / reference, 9),
        most_reference=30,
        most_generated=30,
    )
    assert RateCounts(reference, generated, common, invented, omitted) in result


def test_the_generators_counts_are_among_those_that_its_rates_allow() -> None:
    for case in fact_cases(10, seed=5):
        for item in case:
            texts = (item.reference.findings.text, item.candidate.findings.text)
            reference, candidate = len(facts(item.reference.plan)), len(facts(item.candidate.plan))
            settings = (reference, candidate, len(item.common))
            most = [3 * len(text.split()) for text in texts]
            result = possible_counts(
                len(item.common) / candidate if candidate else 1.0,
                len(item.common) / reference,
                hallucination=len(item.invented) / candidate if candidate else 0.0,
                omission=len(item.omitted) / reference,
                most_reference=most[0],
                most_generated=most[1],
            )
            assert settings in {(item.reference, item.generated, item.common) for item in result}
