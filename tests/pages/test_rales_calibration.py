"""Average ranks within rounding, and classifiers before and after temperature scaling."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax
from scipy.stats import rankdata

from notebooks.rales.calibration import (
    rank_range,
    ranks_above,
    temperature_effect,
)


@pytest.mark.parametrize(
    ("low", "high", "ranks"),
    [
        ([0, 4, 2], [1, 5, 3], ([1, 3, 2], [1, 3, 2])),
        # printed .003, .003, .002: the first two stand for overlapping intervals
        ([0.0025, 0.0025, 0.0015], [0.0035, 0.0035, 0.0025], ([2, 2, 1], [3, 3, 1])),
        # .047 and .046 touch at .0465
        ([0.047 - 0.0005, 0.046 - 0.0005], [0.047 + 0.0005, 0.046 + 0.0005], ([2, 1], [2, 1])),
        ([1, 1, 2], [1, 1, 2], ([1, 1, 3], [2, 2, 3])),
    ],
)
def test_ranks_of_intervals_by_hand(
    low: list[float], high: list[float], ranks: tuple[list[int], list[int]]
) -> None:
    assert tuple(end.tolist() for end in rank_range(low, high)) == ranks


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), min_size=1, max_size=8), st.randoms())
def test_ranks_of_numbers_inside_lie_in_the_range(pairs: list[tuple[int, int]], random: object) -> None:
    low = np.array([start for start, _ in pairs], dtype=float)
    high = low + [width for _, width in pairs]
    inside = np.array([random.uniform(a, b) for a, b in zip(low, high, strict=True)])  # type: ignore[attr-defined]
    lowest, highest = rank_range(low, high)
    assert (rankdata(inside, "max") >= lowest).all()
    assert (rankdata(inside, "min") <= highest).all()


@pytest.mark.parametrize(
    ("low", "high", "above"),
    [
        (7.2, 7.8, False),  # at best shared with the rival's worst
        (7.1, 7.8, None),
        (4.0, 5.2, None),  # at worst shared with the rival's best
        (4.0, 5.1, True),
        (np.nan, np.nan, None),
    ],
)
def test_a_rank_that_can_be_shared_at_best_is_not_above(low: float, high: float, above: bool | None) -> None:
    rival = pd.Series({"low": 5.2, "high": 7.2})
    assert ranks_above(pd.Series({"low": low, "high": high}), rival) is above


def _outputs(validation: int, sharpness: float, seed: int) -> pd.DataFrame:
    """Return logits of three classes, ``sharpness`` times those from which the labels were drawn."""
    rng, cases = np.random.default_rng(seed), validation + 300
    logits = rng.normal(size=(cases, 3))
    labels = (softmax(logits, axis=1).cumsum(axis=1) < rng.random((cases, 1))).sum(axis=1)
    return pd.DataFrame(sharpness * logits, columns=["c0", "c1", "c2"]).assign(
        split=["dev"] * validation + ["test"] * 300, case=[str(case) for case in range(cases)], label=labels
    )


def _rescaled(outputs: pd.DataFrame) -> pd.Series:
    streams = {"documents": np.random.default_rng(0), "refits": np.random.default_rng(1)}
    return temperature_effect(outputs, resamples=200, **streams)


def test_the_temperature_undoes_what_was_done_to_the_logits() -> None:
    row = _rescaled(_outputs(300, 3, seed=0))
    assert row["temperature"] == pytest.approx(3, rel=0.3)
    assert row["ECE after"] < row["ECE before"]
    assert row["NLL after"] < row["NLL before"]
    assert row["high"] < 0
    assert not row["constant"]
