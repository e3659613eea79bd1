"""A small part of the attacks that ``python -m tests.robustness`` runs whole, every night."""

from __future__ import annotations

from pathlib import Path

from tests.robustness import inputs, leaks, names, wrapped
from tests.robustness.__main__ import BEGIN, END, with_rows


def test_planted_leaks_of_every_kind_are_found(tmp_path: Path) -> None:
    assert not [kind for kind, held in leaks.tries(tmp_path, each=1, pages=3) if not held]


def test_spoiled_files_are_read_or_refused_in_one_line(tmp_path: Path) -> None:
    assert not [found for found in inputs.tries(tmp_path, each=10) if found[1]]


def test_reports_read_alike_however_they_are_laid_out(tmp_path: Path) -> None:
    assert not [found for found in wrapped.tries(tmp_path, reports=25) if found[1]]


def test_hostile_names_run_nothing(tmp_path: Path) -> None:
    assert not [found for found in names.tries(tmp_path, names.NAMES[::12]) if found[1]]


def test_a_run_of_one_attack_leaves_the_rows_of_others() -> None:
    page = f"Before.\n\n{BEGIN}\n| --- |\n| inputs | old |\n| names | old |\n{END}\n\nAfter.\n"
    told = with_rows(page, {"names": "| names | new |", "leaks": "| leaks | new |"})
    lines = told.splitlines()
    assert lines[2] == BEGIN
    assert lines[4:7] == ["| inputs | old |", "| leaks | new |", "| names | new |"]
    assert with_rows(told, {}) == told
