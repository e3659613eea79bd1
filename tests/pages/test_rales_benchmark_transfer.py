"""Slopes of NLU scores on other benchmarks, and when they decide what the paper says of them."""

import numpy as np
import pandas as pd
import pytest

from notebooks.rales.benchmark_transfer import check_slopes, lies_within, slopes


def fitted(low: float, high: float, nlu: float = 100.0) -> pd.Series:
    return pd.Series({"n": 5, "slope": (low + high) / 2, "low": low, "high": high, "r": 0.5, "nlu": nlu})


def test_a_slope_by_hand() -> None:
    scores = pd.DataFrame({"value": [70.0, 80, 90, 100], "nlu": [81.0, 82, 85, 86]})
    found = slopes(scores, {"GLUE, all": np.ones(4, bool), "GLUE, three": scores["value"] < 95})
    # Sums of squares and products about the means: 500, 90 and 17; of three: 200, 40 and 26/3.
    assert found["slope"].tolist() == pytest.approx([1.8, 2.0])
    assert found["n"].tolist() == [4, 3]
    error = np.sqrt((17 - 90**2 / 500) / 2 / 500)
    assert found.loc["GLUE, all", ["low", "high"]].tolist() == pytest.approx(
        [1.8 - 10 * 4.30265 * error, 1.8 + 10 * 4.30265 * error], abs=1e-4
    )


@pytest.mark.parametrize(
    ("row", "decided"),
    [
        (fitted(0.6, 2.4), True),  # one to two percent, printed in whole percents, are 0.5 to 2.5
        (fitted(0.6, 2.4, nlu=80), None),  # 2.4 points are 3% of a score of 80
        (fitted(0.4, 1.5), None),
        (fitted(2.2, 2.45, nlu=80), None),
        (fitted(-0.9, 0.3), False),
        (fitted(-0.9, 0.45, nlu=80), None),  # 0.45 points are 0.56% of a score of 80
        (fitted(2.6, 4.0), False),
    ],
)
def test_printed_percents_are_intervals_and_of_two_kinds(row: pd.Series, decided: bool | None) -> None:
    assert lies_within(row, 1, 2) is decided


def test_one_choice_of_models_decides_nothing_alone() -> None:
    rows = {
        "GLUE, all": fitted(0.6, 2.4),
        "GLUE, some": fitted(0, 3),
        "BLURB, all": fitted(3, 4),
        "BLURB, some": fitted(-1, 0.1),
        "third, all": fitted(1, 2),
    }
    checks = check_slopes(pd.DataFrame(rows).T, 1, 2)
    found = {check.key.row: check.outcome for check in checks}
    assert found == {"GLUE": "inconclusive", "BLURB": "fails", "third": "holds"}
    assert checks[0].computed == "all +1.50 [+0.60, +2.40]; some +1.50 [+0.00, +3.00]"


def test_two_models_have_no_slope_with_an_interval() -> None:
    scores = pd.DataFrame({"value": [70.0, 80, np.nan], "nlu": [81.0, 82, 85]})
    for chosen in (np.array([True, True, False]), np.ones(3, bool)):
        with pytest.raises(ValueError, match=r"GLUE, some: .* three models or more"):
            slopes(scores, {"GLUE, some": chosen})
