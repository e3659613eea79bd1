"""What tests come to in words, from tables made by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from radeval_lib.metrics.cautions import Cautions
from radeval_lib.metrics.verdicts import cautions_on_intervals, ranked


def _pairs(**p_values: float) -> pd.DataFrame:
    """Tests of the pairs of A 0.9, B 0.8 and C 0.6, by their names together."""
    values = {"A": 0.9, "B": 0.8, "C": 0.6}
    rows = [
        {
            "metric": "m", "first": pair[0], "second": pair[1],
            "difference": values[pair[0]] - values[pair[1]],
            "low": -0.1, "high": 0.5, "p": p / 3, "p_holm": p,
        }
        for pair, p in p_values.items()
    ]  # fmt: skip
    return pd.DataFrame(rows)


SYSTEMS = pd.DataFrame({"metric": "m", "system": ["C", "A", "B"], "value": [0.6, 0.9, 0.8]})


def test_of_one_cluster_the_clearest_pair_is_named() -> None:
    found, verdicts = ranked(SYSTEMS, _pairs(AB=0.5, AC=0.02, BC=0.3), {"m": {}}, Cautions(["m"]))
    assert found["cluster"].tolist() == [1, 1, 1]
    assert verdicts == [
        "m: A scores higher than C (0.9 against 0.6, a difference of 0.3 [-0.1, 0.5], p = 0.02)."
    ]
    _, lower = ranked(SYSTEMS, _pairs(AB=0.02, AC=0.5, BC=0.3), {"m": {"better": "lower"}}, Cautions(["m"]))
    assert [one.partition(" (")[0] for one in lower] == ["m: B is better than A"]


def test_neighbours_in_different_clusters_are_named_alone() -> None:
    found, verdicts = ranked(SYSTEMS, _pairs(AB=0.5, AC=0.02, BC=0.03), {"m": {}}, Cautions(["m"]))
    assert found["cluster"].tolist() == [2, 1, 1]
    assert [one.partition(" (")[0] for one in verdicts] == ["m: B scores higher than C"]
    _, nothing = ranked(SYSTEMS, _pairs(AB=0.5, AC=0.2, BC=0.3), {"m": {}}, Cautions(["m"]))
    assert nothing == ["m: no difference between systems is established after correction."]


def test_equal_scores_are_a_caution_and_none_an_error() -> None:
    tables = {"A": np.array([[1.0, 2.0], [0.5, 1.0]]), "B": np.array([[0.0, 1.0], [1.0, 1.0]])}
    (told,) = cautions_on_intervals("m", tables, mean=True)
    assert told.startswith("m: all 2 cases of A have the same score: at most 1 of all cases score otherwise")
    with pytest.raises(ValueError, match="m: A has no case"):
        list(cautions_on_intervals("m", {"A": np.zeros((0, 2))}, mean=True))
    with pytest.raises(ValueError, match="m: A has a case without a score"):
        list(cautions_on_intervals("m", {"A": np.array([[1.0, 1.0], [0.0, 0.0]])}, mean=True))
