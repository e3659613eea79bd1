"""Shares with intervals from drawing groups."""

import numpy as np
import pytest

from radeval_lib.stats.resampling import share_interval


def test_share_of_equal_groups_has_no_width():
    share = share_interval([1, 0, 1, 0], ["a", "a", "b", "b"], resamples=50, rng=np.random.default_rng(0))
    assert share == (0.5, 0.5, 0.5)


def test_share_interval_covers_the_share_and_widens_with_fewer_groups():
    rng = np.random.default_rng(0)
    hits = rng.random(400) < 0.7
    alone = share_interval(hits, [str(i) for i in range(400)], resamples=500, rng=np.random.default_rng(1))
    clustered = share_interval(
        np.sort(hits), [str(i // 40) for i in range(400)], resamples=500, rng=np.random.default_rng(1)
    )
    assert alone[1] < hits.mean() < alone[2]
    assert clustered[2] - clustered[1] > alone[2] - alone[1]


@pytest.mark.parametrize(
    ("hits", "groups"), [([], []), ([1, 0], ["a"]), ([1, np.nan], ["a", "b"]), ([1, 0], ["a", None])]
)
def test_shares_of_nothing_are_refused(hits, groups) -> None:
    with pytest.raises(ValueError, match=r"(hits|groups) (has|holds)"):
        share_interval(hits, groups, resamples=5, rng=np.random.default_rng(0))
