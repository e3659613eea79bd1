"""Changed texts."""

import numpy as np
import pytest

from radeval_lib.pages.ratescore.rivals import ADDED, LEFT_OUT, SAME, SHUFFLED, SWAPPED, probes

TEXTS = ["One is here. Two is here.", "Alone.", "Three is there. Four is there. Five is there."]


def test_every_probe_changes_what_it_says() -> None:
    table = probes(TEXTS, np.random.default_rng(0)).set_index(["text", "probe"])
    assert len(table) == 10
    whole = TEXTS[0]
    assert tuple(table.loc[(0, SAME)]) == (whole, whole)
    assert tuple(table.loc[(0, LEFT_OUT)]) == (whole, "One is here.")
    assert tuple(table.loc[(0, ADDED)]) == (whole, f"{whole} Three is there.")
    assert tuple(table.loc[(0, SWAPPED)]) == (f"{whole} Three is there.", whole)
    assert sorted(table.loc[(0, SHUFFLED), "candidate"].split()) == sorted(whole.split())
    assert table.loc[(1, LEFT_OUT), "candidate"] == "Three is there. Four is there."


def test_one_text_is_too_few() -> None:
    with pytest.raises(ValueError, match="1 texts of two sentences"):
        probes(TEXTS[:2], np.random.default_rng(0))
