"""Predictions of a class against counts worked out by hand."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from radeval_lib.stats.printed_counts import predictions_that_print


def test_by_hand() -> None:
    # RaLEs, Table 15, CT UE WO contr: recall 55.9% of 34 is 19 hits; precision 55.9% is 19 of 34
    assert predictions_that_print(0.559, 0.559, 34, 0.0005) == (34, 34)
    # CT Pelvis W contr IV: recall 7.4% of 27 is 2 hits, precision 100%
    assert predictions_that_print(1.0, 0.074, 27, 0.0005) == (2, 2)


def test_nothing_fits() -> None:
    assert predictions_that_print(0.5, 0.0, 22, 0.0005) is None  # never right
    assert predictions_that_print(0.5, 0.559, 33, 0.0005) is None  # 55.9% is no share of 33


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 200))
def test_the_true_number_is_in_the_range(hits: int, missed: int, false_alarms: int) -> None:
    n, predictions = hits + missed, hits + false_alarms
    precision, recall = round(hits / predictions, 3), round(hits / n, 3)
    assume(precision > 0.01)
    found = predictions_that_print(precision, recall, n, 0.0005)
    assert found is not None
    assert found[0] <= predictions <= found[1]
