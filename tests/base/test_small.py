"""Placeholders, hidden counts, names in the registry and paths in messages: what each gives and refuses."""

from pathlib import Path

import pytest

from radeval_lib.paths import ROOT, display_path
from radeval_lib.placeholders import Placeholder, behind, placeholder


def test_a_placeholder_is_read_as_it_was_made_and_no_other_is_made() -> None:
    assert placeholder("radpref", "reference", 12, 3) == "⟦radpref:reference:12⟧ ⟦_⟧ ⟦_⟧"
    assert behind(placeholder("radpref", "reference", 12, 3)) == Placeholder("radpref", "reference", 12)
    for name, side, number, words in [("a-b", "reference", 1, 1), ("a", "Side", 1, 1), ("a", "side", 1, 0)]:
        with pytest.raises(ValueError):
            placeholder(name, side, number, words)


def test_a_path_outside_the_repository_is_shown_without_its_folders(tmp_path: Path) -> None:
    assert display_path(ROOT / "data" / "x") == "data/x"
    assert display_path(tmp_path / "x.csv") == "x.csv"
    assert display_path(Path("/")) == "/"
