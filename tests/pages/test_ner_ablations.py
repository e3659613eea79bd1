"""Recognisers by measure, and the reach of their intervals."""

import pandas as pd
import pytest
from scipy import stats

from radeval_lib.pages.ratescore.ner_ablations import by_measure, precision_recall_f1, with_wilson

MODELS = pd.DataFrame(
    {
        "scheme": ["IOB", "Span", "Span"],
        "model": ["A", "B", "C"],
        "precision": [0.5, 0.8, 0.8],
        "recall": [0.4, 0.2, 0.3],
        "F1": [0.44, 0.32, 0.44],
        "accuracy": [0.9, 0.8, 0.7],
    }
)


def test_each_measure_has_ranges_best_models_and_a_rank() -> None:
    table = by_measure(MODELS, chosen="A")
    assert table.loc["precision"].tolist() == [0.5, 0.5, 0.8, 0.8, "B, C", "3"]
    assert table["best model"].to_dict() == {
        "precision": "B, C",
        "recall": "A",
        "F1": "A, C",
        "accuracy": "A",
    }


def test_wilson_intervals_count_what_is_there_and_what_was_reported() -> None:
    row = with_wilson(MODELS, entities=100).iloc[0]
    recall = stats.binomtest(40, 100).proportion_ci(method="wilson")
    precision = stats.binomtest(40, 80).proportion_ci(method="wilson")
    assert row["recall"] - row["recall_low"] == pytest.approx(recall.low)
    assert row["precision"] + row["precision_high"] == pytest.approx(precision.high)


def test_f1_is_the_harmonic_mean() -> None:
    (row,) = precision_recall_f1(pd.DataFrame({"matched": [4], "predicted": [8], "gold": [10]})).itertuples()
    assert (row.precision, row.recall, row.F1) == (0.5, 0.4, pytest.approx(2 * 0.5 * 0.4 / 0.9))
