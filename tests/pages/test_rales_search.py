"""A search that is killed goes on where it stopped, and ends where an uninterrupted one ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from notebooks.rales.fitting import Tables, Trial, search
from radeval_lib.errors import SearchError
from radeval_lib.jobs.rales import Dimension

SPACE = {
    "rate": Dimension(low=1e-5, high=1e-1, log=True),
    "epochs": Dimension(low=3, high=5, whole=True),
    "batch": Dimension(choices=(32, 64, 128)),
}


class Objective:
    """Counts its calls, and dies at one of them."""

    def __init__(self, dies_at: int = -1) -> None:
        self.tried: list[dict[str, Any]] = []
        self.dies_at = dies_at

    def __call__(self, given: dict[str, Any]) -> tuple[float, Tables]:
        self.tried.append(given)
        if len(self.tried) - 1 == self.dies_at:
            raise KeyboardInterrupt
        value = -abs(given["rate"] - 0.01) - given["epochs"]
        return value, {"counts": pd.DataFrame({"case": ["007"], "matched": [given["epochs"]]})}


def run(objective: Objective, folder: Path, trials: int = 6, **label: Any) -> list[Trial]:
    return search(objective, SPACE, trials=trials, folder=folder, inputs=label, seed=3, startup=2)


def told(trials: list[Trial]) -> list[tuple[dict[str, Any], float]]:
    return [(trial.parameters, trial.value) for trial in trials]


@pytest.mark.parametrize("dies_at", [0, 1, 4])
def test_a_killed_search_loses_and_repeats_nothing(tmp_path: Path, dies_at: int) -> None:
    whole = run(Objective(), tmp_path / "whole")
    killed = Objective(dies_at)
    with pytest.raises(KeyboardInterrupt):
        run(killed, tmp_path / "killed")
    again = Objective()
    result = run(again, tmp_path / "killed")
    assert told(result) == told(whole)
    assert all(trial.tables["counts"]["case"].tolist() == ["007"] for trial in result)
    assert len(again.tried) == 6 - dies_at  # the finished ones are not made again
    assert len({json.dumps(item.parameters) for item in result}) == 6  # nor tried twice under another number


def test_a_trial_that_was_removed_is_made_again(tmp_path: Path) -> None:
    whole = told(run(Objective(), tmp_path))
    (tmp_path / "trial-3.pickle").unlink()
    again = Objective()
    assert told(run(again, tmp_path)) == whole
    assert len(again.tried) == 1


def test_a_study_of_something_else_is_begun_anew(tmp_path: Path) -> None:
    run(Objective(), tmp_path, trials=2, data="one")
    other = Objective()
    run(other, tmp_path, trials=2, data="two")
    assert len(other.tried) == 2
    (tmp_path / "search.json").write_bytes(b"\xff")
    run(other, tmp_path, trials=2, data="two")
    assert len(other.tried) == 4


def test_a_value_that_is_not_finite_ends_the_search(tmp_path: Path) -> None:
    with pytest.raises(SearchError):
        search(lambda given: (float("nan"), {}), SPACE, trials=1, folder=tmp_path, inputs={}, seed=0)
