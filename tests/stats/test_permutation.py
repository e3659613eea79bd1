"""The exact permutation distribution against all permutations of a small matrix."""

from itertools import permutations

import numpy as np
import pytest

from radeval_lib.stats.permutation import shuffled


def test_moments_and_p_against_all_permutations():
    table = np.random.default_rng(0).normal(size=(5, 5))
    means = [table[range(5), list(order)].mean() for order in permutations(range(5))]
    found = shuffled(table, permutations=20_000, rng=np.random.default_rng(1))
    assert found.mean == pytest.approx(np.mean(means))
    assert found.sd == pytest.approx(np.std(means))
    assert found.observed == pytest.approx(np.diagonal(table).mean())
    assert found.p == pytest.approx(np.mean(np.array(means) >= found.observed - 1e-12), abs=0.01)


def test_shares_of_the_gain_average_to_it():
    table = np.random.default_rng(2).uniform(size=(7, 7))
    found = shuffled(table, permutations=1, rng=np.random.default_rng(0))
    assert (np.diagonal(table) - found.expected).mean() == pytest.approx(found.observed - found.mean)


def test_one_text_for_all_gains_nothing():
    table = np.repeat(np.arange(4.0)[:, None], 4, axis=1)
    found = shuffled(table, permutations=100, rng=np.random.default_rng(0))
    assert (found.observed - found.mean, found.sd, found.p) == (0.0, 0.0, 1.0)


def test_a_matrix_that_is_not_square_is_refused():
    with pytest.raises(ValueError, match="shape"):
        shuffled(np.ones((2, 3)), permutations=1, rng=np.random.default_rng(0))
