"""The pair of A.1 from its printed numbers."""

import numpy as np
import pandas as pd
import pytest

from radeval_lib.pages.ratescore.worked_example import PrintedPair

ROWS = pd.DataFrame(
    {
        "reference_entity": ["Catheter", "in situ"],
        "reference_type": ["Anatomy", "Non-Abnormality"],
        "candidate_entity": ["Catheter", "not in place"],
        "candidate_type": ["Anatomy", "Abnormality"],
    }
)


def test_the_pair_is_scored_from_five_numbers() -> None:
    found = PrintedPair.of(ROWS).by_hand(np.array([1.0, 3.0, 1.0, 0.5, 0.4]))
    assert found.precision is not None
    assert found.recall is not None
    assert found.precision.value == pytest.approx((1 + 3 * 0.4 * 0.5) / 4)
    assert found.recall.value == pytest.approx((1 + 0.4 * 0.5) / 2)


def test_types_are_listed_side_by_side() -> None:
    pair = PrintedPair.of(ROWS)
    types = pair.types_found(pair.by_hand(np.ones(5)))
    assert (types["printed"] == types["found"]).all()
    assert list(types["entity"]) == ["catheter", "in situ", "catheter", "not in place"]
