"""Planted leaks of every kind that an accident of this project can make are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.robustness import leaks


def test_planted_leaks_of_every_kind_are_found(tmp_path: Path) -> None:
    assert not [kind for kind, held in leaks.recall(tmp_path, each=4, reports=300) if not held]


@pytest.mark.nightly
def test_leaks_of_six_hundred_reports_of_each_kind_are_found(tmp_path: Path) -> None:
    assert not list(leaks.measured(tmp_path))
