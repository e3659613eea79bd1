"""Simulated fact raters: limits by hand, and what must hold for any draw."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from radeval_lib.data.fact_raters import Description, count_facts, draw_descriptions

TEXT = Description(report=0, reference=6, copied=4, added=3, wrong=(False,) * 4 + (True, False, True))


def _four(counts: object) -> tuple[int, ...]:
    return tuple(getattr(counts, name) for name in ("reference", "generated", "common", "correct"))


def test_limits_of_granularity() -> None:
    fine, coarse = count_facts(np.random.default_rng(0), [TEXT], (1.0, 0.0))
    # Every statement a fact; or each run of statements one fact.
    assert _four(fine[0]) == (6, 7, 4, 5)
    assert _four(coarse[0]) == (1, 2, 1, 1)


def test_limits_of_slips() -> None:
    # Whoever always slips takes the three own facts for common ones, and the four common ones for own.
    (always,) = count_facts(np.random.default_rng(0), [TEXT], (1.0,), slips=1.0)
    assert _four(always[0])[:3] == (6, 7, 3)


@given(
    st.integers(0, 2**32), st.lists(st.floats(0, 1), min_size=1, max_size=4), st.floats(0, 1), st.floats(0, 1)
)
def test_counts_are_possible_for_any_draw(
    seed: int, granularity: list[float], consistency: float, slips: float
) -> None:
    rng = np.random.default_rng(seed)
    texts = draw_descriptions(rng, 5, (0.0, 0.5, 1.0))
    # FactCounts refuses impossible counts.
    counted = count_facts(rng, texts, granularity, consistency=consistency, slips=slips)
    assert [len(rater) for rater in counted] == [15] * len(granularity)
    assert all(counts.generated >= 1 for rater in counted for counts in rater)
