"""Average ranks within rounding, and classifiers before and after temperature scaling."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from scipy.stats import rankdata

from notebooks.rales.calibration import bound_correlation, bound_ranks, measure_scaling_effect, ranks_above


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
    assert tuple(end.tolist() for end in bound_ranks(low, high)) == ranks


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), min_size=1, max_size=8), st.randoms())
def test_ranks_of_numbers_inside_lie_in_the_range(pairs: list[tuple[int, int]], random: object) -> None:
    low = np.array([start for start, _ in pairs], dtype=float)
    high = low + [width for _, width in pairs]
    inside = np.array([random.uniform(a, b) for a, b in zip(low, high, strict=True)])  # type: ignore[attr-defined]
    lowest, highest = bound_ranks(low, high)
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
    return measure_scaling_effect(outputs, resamples=200, **streams)


def test_the_temperature_undoes_what_was_done_to_the_logits() -> None:
    row = _rescaled(_outputs(300, 3, seed=0))
    assert row["temperature"] == pytest.approx(3, rel=0.3)
    assert row["ECE after"] < row["ECE before"]
    assert row["NLL after"] < row["NLL before"]
    assert row["high"] < 0
    assert not row["constant"]


def _cells(values: list[float], half_width: float) -> pd.DataFrame:
    return pd.DataFrame({"value": values, "half_width": half_width})


def test_correlation_of_three_points_by_hand() -> None:
    # x = 0, 1, 2 and y = 0, b, 2: r = 2 / sqrt(2 (b² + 4 - (b + 2)² / 3)), which is 1 for b = 1, and
    # 2 / sqrt(7) = 0.7559 for b = 2.5, further down than 0.9608 for b = 0.5.
    y = pd.DataFrame({"value": [0.0, 1.5, 2.0], "half_width": [0.0, 1.0, 0.0]})
    range_of_r = bound_correlation(_cells([0.0, 1.0, 2.0], 0.0), y)
    assert (range_of_r.low, range_of_r.high) == pytest.approx((0.755929, 1.0))
    on_a_line = bound_correlation(_cells([0.0, 1.0, 2.0], 0.0), y.assign(value=[0.0, 1.0, 2.0]))
    assert (on_a_line.value, on_a_line.low) == pytest.approx((1.0, np.sqrt(3) / 2))  # b = 0 or 2


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=12, max_size=12), st.integers(0, 2**32 - 1))
def test_no_columns_that_round_to_the_printed_ones_correlate_outside_the_range(
    printed: list[float], seed: int
) -> None:
    columns = np.round(np.array(printed).reshape(2, 6), 2)
    assume((columns.std(axis=1) > 0.01).all())
    first, second = (_cells(list(column), 0.005) for column in columns)
    range_of_r = bound_correlation(first, second)
    assert range_of_r.value == pytest.approx(np.corrcoef(columns)[0, 1])
    drawn = columns + np.random.default_rng(seed).uniform(-0.005, 0.005, (200, 2, 6))
    values = [np.corrcoef(pair)[0, 1] for pair in drawn]
    assert range_of_r.low - 1e-6 <= min(values)
    assert max(values) <= range_of_r.high + 1e-6
