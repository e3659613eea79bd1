"""Nested subsets keep the share of every stratum."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from notebooks.rales.subsets import first_share, stratified_order


@settings(deadline=None, max_examples=80)
@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=80), st.integers(0, 99))
def test_every_beginning_holds_each_stratum_in_its_share(strata: list[str], seed: int) -> None:
    order = stratified_order(strata, np.random.default_rng(seed))
    assert sorted(order) == list(range(len(strata)))
    whole = Counter(strata)
    for size in range(1, len(strata) + 1):
        held = Counter(strata[place] for place in order[:size])
        for stratum, count in whole.items():
            assert abs(held[stratum] - size * count / len(strata)) < 2


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 300), st.integers(0, 9))
def test_smaller_subsets_are_within_larger_ones(size: int, seed: int) -> None:
    order = stratified_order([place % 3 for place in range(size)], np.random.default_rng(seed))
    hundredth, tenth, everything = (set(first_share(order, share)) for share in (0.01, 0.1, 1.0))
    assert hundredth <= tenth <= everything == set(range(size))
    assert len(tenth) == -(-size // 10)  # rounded up, never empty
    assert len(hundredth) == -(-size // 100)
