"""What a choice of RaTEScore's settings does to the same pairs."""

import numpy as np
import pytest

from radeval_lib.pages.ratescore.how_it_works import choice_table


def test_choices_are_told_against_the_first() -> None:
    base = np.array([0.1, 0.2, 0.4])
    table = choice_table({"base": base, "turned": base[::-1]}, {"turned": "all of it"})
    assert table["what is changed"].tolist() == ["–", "all of it"]
    assert table.loc["turned", "pairs that change"] == "2 of 3"
    assert table.loc["turned", "largest change"] == pytest.approx(0.3)
    assert table.loc["turned", "tau with the baseline"] == pytest.approx(-1)
