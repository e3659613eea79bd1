"""The two examples of a card."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from notebooks.across.metric_cards import SETS, Nearest, five_lines, read_five_lines
from radeval_lib.data import recorded
from radeval_lib.data.manifests import data_root
from radeval_lib.metric_cards.measurements import select_half
from radeval_lib.study import recordings


def test_a_denial_is_one_word() -> None:
    assert five_lines("No effusion. Edema.", "No effusion. Edema.") == 1
    assert five_lines("No effusion.", "Effusion.") == 0
    assert five_lines("no\neffusion and edema", "no effusion") == pytest.approx(1 / 3)
    assert five_lines("", "") == 0


def test_what_is_recorded_of_the_five_lines_is_what_they_give() -> None:
    settings = read_five_lines()
    for name, values in settings.items():
        assert len(values) == len(recorded.load(name).table)
    root = data_root(os.environ.get("RADEVAL_DATA_ROOT"))
    if root is None:
        pytest.skip("the texts are not here")
    for name in SETS:
        texts = recordings.read_texts(name, Path(root))
        assert settings[name] == pytest.approx([five_lines(*pair) for pair in texts], abs=1e-9)


def test_the_metric_that_is_built_to_win_reads_the_grades_of_its_half_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = recorded.load("radpref").table
    of = select_half(table["case"].to_numpy(), "development")
    first = Nearest().score_rows(table)
    assert first[of] == pytest.approx(table.loc[of, ["grade_1", "grade_2", "grade_3"]].mean(axis=1))
    changed = table.copy()
    changed.loc[~of, ["grade_1", "grade_2", "grade_3"]] = 1
    fake = recorded.Recording("radpref", changed, recorded.load("radpref").description)
    monkeypatch.setattr(recorded, "load", lambda name: fake)
    assert (Nearest().score_rows(table) == first).all()
