"""What a choice of RaTEScore's settings does to the same pairs."""

from collections.abc import Sequence
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from notebooks.ratescore.how_it_works import (
    find_pair_with_penalty,
    tabulate_choices,
)
from radeval_lib.models.encoders import Encoder
from radeval_lib.rules.generator import SyntheticError, error_pairs


def test_choices_are_reported_against_the_first() -> None:
    base = np.array([0.1, 0.2, 0.4])
    table = tabulate_choices({"base": base, "turned": base[::-1]}, {"turned": "all of it"})
    assert table["what is changed"].tolist() == ["–", "all of it"]
    assert table.loc["turned", "pairs that change"] == "2 of 3"
    assert table.loc["turned", "largest change"] == pytest.approx(0.3)
    assert table.loc["turned", "tau with the baseline"] == pytest.approx(-1)


def test_a_pair_is_shown_whose_candidate_meets_the_penalty() -> None:
    class AllAlike:
        def encode(self, names: Sequence[str]) -> NDArray[np.float32]:
            return np.ones((len(names), 1), dtype=np.float32)

    errors = [("a", True), ("d", True)]
    stream = error_pairs(300, 0, errors=errors, modality_anatomy=("X-Ray", "CHEST"))
    pair, result = find_pair_with_penalty(cast(Encoder, AllAlike()), stream)
    assert len(pair.reference.findings.sentences) <= 3 <= len(pair.candidate.findings.entities) <= 5
    assert result.precision is not None
    assert min(result.precision.penalties) < 1
    with pytest.raises(SyntheticError, match="none of the pairs"):
        find_pair_with_penalty(cast(Encoder, AllAlike()), [])
