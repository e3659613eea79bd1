"""Simulated fact raters: limits by hand, and what must hold for any draw."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from radeval_lib.synthetic.fact_raters import Description, count_facts, draw_descriptions

TEXT = Description(report=0, reference=6, copied=4, own=3, wrong=(False,) * 4 + (True, False, True))


def test_limits_of_granularity() -> None:
    fine, coarse = count_facts(np.random.default_rng(0), [TEXT], (1.0, 0.0))
    # Every statement a fact; or each run of statements one fact.
    assert (fine[0].reference, fine[0].generated, fine[0].common, fine[0].correct) == (6, 7, 4, 5)
    assert (coarse[0].reference, coarse[0].generated, coarse[0].common, coarse[0].correct) == (1, 2, 1, 1)


@given(st.integers(0, 2**32), st.lists(st.floats(0, 1), min_size=1, max_size=4))
def test_counts_are_possible_for_any_draw(seed: int, granularity: list[float]) -> None:
    rng = np.random.default_rng(seed)
    texts = draw_descriptions(rng, 5, (0.0, 0.5, 1.0))
    counted = count_facts(rng, texts, granularity)  # FactCounts refuses impossible counts
    assert [len(rater) for rater in counted] == [15] * len(granularity)
    assert all(counts.generated >= 1 for rater in counted for counts in rater)


def test_same_seed_same_counts_and_bad_granularity() -> None:
    texts = [TEXT] * 3
    assert count_facts(np.random.default_rng(5), texts, (0.5,)) == count_facts(
        np.random.default_rng(5), texts, (0.5,)
    )
    with pytest.raises(ValueError, match="between 0 and 1"):
        count_facts(np.random.default_rng(5), texts, (1.5,))
