"""What a metric does to committed outputs, on a few made ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from radeval_lib.metric_cards import systems


def test_no_study_gets_its_own_output() -> None:
    given = systems._dealt(590)
    assert sorted(given) == list(range(590))
    assert (given != np.arange(590)).all()


def test_effects_are_means_and_differences_of_the_same_studies() -> None:
    scores = {
        "MLRG": [1.0, 3.0, 5.0, 7.0],
        "MLRG, shuffled": [0.0, 0.0, 4.0, 4.0],
        "MoERad": [2.0, 2.0, 2.0, 2.0],
        systems.CONSTANT: [1.0, 1.0, 1.0, 5.0],
    }
    rows = [
        ("systems", f"reference {at // 2}", f"{name} {at if name == 'MLRG' else ''}", at, name)
        for name in scores
        for at in range(4)
    ]
    frame = pd.DataFrame(rows, columns=["part", "reference", "candidate", "row", "kind"])
    values = -np.concatenate(list(scores.values()))  # lower is better: oriented
    kinds = {"finding": [True, False, False, True]}
    found = systems.effects(frame, values, kinds, sign=-1, resamples=200, seed=0)
    assert found["kinds"] == {"all": 4, "finding": 2}
    assert (found["studies"], found["references"]) == (4, 2)
    mlrg, moerad, constant = found["files"]
    assert (mlrg["texts"], moerad["texts"]) == (4, 1)
    assert mlrg["means"]["all"]["value"] == pytest.approx(4.0)
    assert mlrg["means"]["finding"]["value"] == pytest.approx(4.0)
    assert mlrg["above_constant"]["all"]["value"] == pytest.approx(-2.0)
    assert mlrg["lost_if_shuffled"]["all"]["value"] == pytest.approx(-2.0)
    assert mlrg["lost_if_shuffled"]["finding"]["value"] == pytest.approx(-2.0)
    assert moerad["lost_if_shuffled"] is None
    assert constant["above_constant"] is None
    low, high = mlrg["means"]["all"]["low"], mlrg["means"]["all"]["high"]
    assert (low, high) == (2.0, 6.0)  # either reference drawn twice
