"""The page on consultation notes: its sentence in every branch, and its tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from radeval_lib.pages.facts import consultation_notes
from radeval_lib.roles import load

RATIO = "share of errors that are omissions"


def _agreed(ratio: tuple[float, float, float] | None) -> pd.DataFrame:
    rows = {"incorrect statements": (0.4, 0.3, 0.5), "omissions": (0.6, 0.5, 0.7)}
    if ratio:
        rows[RATIO] = ratio
    return pd.DataFrame.from_dict(rows, orient="index", columns=["alpha", "low", "high"])


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        ((0.9, 0.8, 0.95), "agree at 0.90 [0.80, 0.95], better than on either count."),
        ((0.1, 0.0, 0.2), "worse than on either count."),
        ((0.55, 0.4, 0.8), "neither clearly better nor clearly worse than on the counts."),
        (None, "No note has an error by all of them, so that no share of errors can be compared."),
    ],
)
def test_conclusion_in_every_branch(ratio: tuple[float, float, float] | None, words: str) -> None:
    said = consultation_notes.conclusion(_agreed(ratio), "PriMock57")
    assert said.startswith("On notes from PriMock57 the clinicians agree at an alpha of 0.40")
    assert said.endswith(words)


def test_tables_from_simulated_clinicians() -> None:
    judgements = load("note_judgements", "synthetic", size=8, seed=1, root=None)
    listed = consultation_notes.by_rater(judgements)
    assert listed.index.tolist() == ["1", "2", "3", "4", "5"]
    assert listed["notes with a critical error"].between(0, 1).all()
    found = consultation_notes.metric_correlations(judgements, resamples=20, rng=np.random.default_rng(0))
    assert found["n"].tolist() == [32] * len(found)
    assert found["groups"].tolist() == [8] * len(found)
