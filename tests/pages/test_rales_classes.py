"""Classes with few documents, read fairly."""

import numpy as np
import pandas as pd
import pytest

from radeval_lib.pages.rales.procedure_selection import by_class, confident, shrunken


def test_counts_of_a_class_follow_from_the_predictions() -> None:
    table = by_class([0, 0, 0, 1, 1], [0, 0, 1, 1, 0], ["head", "chest", "unseen"])
    assert table.index.tolist() == ["head", "chest"]
    assert table["N"].tolist() == [3, 2]
    assert table.loc["head", ["precision", "recall"]].tolist() == pytest.approx([200 / 3, 200 / 3])
    assert table.loc["chest", ["precision", "recall", "F1"]].tolist() == pytest.approx([50, 50, 50])


def test_few_cases_are_drawn_further_than_many() -> None:
    hits, totals = np.array([2, 100, 5, 30, 1]), np.array([2, 200, 20, 40, 4])
    raw, found = hits / totals, shrunken(hits, totals)
    assert ((found > 0) & (found < 1)).all()
    assert abs(found[0] - raw[0]) > abs(found[1] - raw[1])
    assert found[0] < raw[0]


def test_shares_that_differ_by_chance_alone_become_nearly_one() -> None:
    rng = np.random.default_rng(1)
    totals = np.full(60, 12)
    hits = rng.binomial(12, 0.6, 60)
    assert np.ptp(shrunken(hits, totals)) < 0.4 * np.ptp(hits / totals)


def test_more_hits_than_cases_are_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and the total"):
        shrunken([3], [2])


def test_the_surest_are_chosen_among_right_and_wrong() -> None:
    rows = pd.DataFrame(
        {"reference": list("aabb"), "predicted": list("abba"), "P(predicted)": [0.6, 0.7, 0.9, 0.8]}
    )
    assert confident(rows, right=True, number=1)["P(predicted)"].tolist() == [0.9]
    assert confident(rows, right=False)["P(predicted)"].tolist() == [0.8, 0.7]
