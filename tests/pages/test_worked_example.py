"""The pair of A.1 from its printed numbers."""

import numpy as np
import pandas as pd
import pytest

from notebooks.ratescore.how_it_works import (
    count_matching_weights,
    score_inputs,
    select_printed_inputs,
)
from radeval_lib.metrics.ratescore import TYPES, Weights
from radeval_lib.papers.printed_numbers import printed

ROWS = pd.DataFrame(
    {
        "reference_entity": ["Catheter", "in situ"],
        "reference_type": ["Anatomy", "Non-Abnormality"],
        "candidate_entity": ["Catheter", "not in place"],
        "candidate_type": ["Anatomy", "Abnormality"],
    }
)


def test_the_pair_is_scored_from_five_numbers() -> None:
    result = score_inputs(ROWS, np.array([1.0, 3.0, 1.0, 0.5, 0.4]))
    assert result.precision is not None
    assert result.recall is not None
    assert result.precision.value == pytest.approx((1 + 3 * 0.4 * 0.5) / 4)
    assert result.recall.value == pytest.approx((1 + 0.4 * 0.5) / 2)


def test_the_inputs_are_in_their_order() -> None:
    formula = printed("ratescore.example_a1").query("place == 'formula' and quantity != 'weight in sum'")
    assert select_printed_inputs(formula)["printed"].tolist() == ["0.91", "0.94", "0.83", "0.83", "0.36"]


def test_the_weights_must_stand_in_one_set_and_one_order() -> None:
    formula = printed("ratescore.example_a1").query("place == 'formula' and quantity != 'weight in sum'")
    weights = select_printed_inputs(formula).iloc[:3]
    position, result, normal = (TYPES.index(kind) for kind in ("ANATOMY", "ABNORMALITY", "NON-ABNORMALITY"))
    whole, part, rest = np.zeros((3, 5, 5))
    whole[[position, normal, result], [position, result, normal]] = 0.91, 0.94, 0.83
    part[position, position] = 0.91
    rest[[normal, result], [result, normal]] = 0.94, 0.83
    for matrices, stand in (([whole], 3), ([whole.T], 3), ([part, rest], 2), ([part], 1), ([part * 0], 0)):
        sets = {str(number): Weights("w", matrix, 0.4) for number, matrix in enumerate(matrices)}
        assert count_matching_weights(weights, sets) == stand
