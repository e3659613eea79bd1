"""What a choice of RaTEScore's settings does to the same pairs."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from notebooks.ratescore.how_it_works import (
    choice_table,
    pair_with_penalty,
    strongest,
)
from radeval_lib.models.encoders import Encoder
from radeval_lib.rules.generator import SyntheticError, error_pairs


def test_choices_are_reported_against_the_first() -> None:
    base = np.array([0.1, 0.2, 0.4])
    table = choice_table({"base": base, "turned": base[::-1]}, {"turned": "all of it"})
    assert table["what is changed"].tolist() == ["–", "all of it"]
    assert table.loc["turned", "pairs that change"] == "2 of 3"
    assert table.loc["turned", "largest change"] == pytest.approx(0.3)
    assert table.loc["turned", "tau with the baseline"] == pytest.approx(-1)


def test_choices_that_no_interval_tells_apart_are_named_together() -> None:
    rng, run = np.random.default_rng(0), SimpleNamespace()
    run.rng, run.profile = (lambda name: np.random.default_rng(1)), SimpleNamespace(resamples=200)
    base = rng.normal(size=60)
    far = [base + rng.normal(0, 2, 60) for _ in range(2)]
    scores = {"base": base, "one": far[0], "two": far[1], "near": base + rng.normal(0, 0.05, 60)}
    chosen, taus = strongest(scores, ["one", "two", "near"], [str(row // 2) for row in range(60)], run)
    assert sorted(chosen) == ["one", "two"]
    assert len(taus) == 2


def test_a_pair_is_shown_whose_candidate_meets_the_penalty() -> None:
    class AllAlike:
        def encode(self, names: Sequence[str]) -> NDArray[np.float32]:
            return np.ones((len(names), 1), dtype=np.float32)

    errors = [("a", True), ("d", True)]
    stream = error_pairs(300, 0, errors=errors, modality_anatomy=("X-Ray", "CHEST"))
    pair, result = pair_with_penalty(cast(Encoder, AllAlike()), stream)
    assert len(pair.reference.findings.sentences) <= 3 <= len(pair.candidate.findings.entities) <= 5
    assert result.precision is not None
    assert min(result.precision.penalties) < 1
    with pytest.raises(SyntheticError, match="no short pair"):
        pair_with_penalty(cast(Encoder, AllAlike()), [])
