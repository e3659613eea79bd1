"""Placeholders, hidden counts, names in the registry and paths in messages: what each gives and refuses."""

from pathlib import Path

import pytest

from radeval_lib import registry, small_counts
from radeval_lib.paths import ROOT, display_path
from radeval_lib.placeholders import Placeholder, behind, placeholder


def test_a_placeholder_is_read_as_it_was_made_and_no_other_is_made() -> None:
    assert placeholder("radpref", "reference", 12, 3) == "⟦radpref:reference:12⟧ ⟦_⟧ ⟦_⟧"
    assert behind(placeholder("radpref", "reference", 12, 3)) == Placeholder("radpref", "reference", 12)
    for name, side, number, words in [("a-b", "reference", 1, 1), ("a", "Side", 1, 1), ("a", "side", 1, 0)]:
        with pytest.raises(ValueError, match="cannot stand for"):
            placeholder(name, side, number, words)


def test_a_negative_threshold_is_refused() -> None:
    with pytest.raises(ValueError, match="no count is below -1"):
        small_counts.hide_below(-1)
    assert small_counts.smallest_shown() == 0


def test_what_the_registry_names_is_found() -> None:
    assert registry.find("radeval_lib.registry:is_recorded")("recorded/radpref")


def test_a_path_outside_the_repository_is_shown_without_its_folders(tmp_path: Path) -> None:
    assert display_path(ROOT / "data" / "x") == "data/x"
    assert display_path(tmp_path / "x.csv") == "x.csv"
    assert display_path(Path("/")) == "/"
