"""A small part of the attacks that ``python -m tests.robustness`` runs whole, every night."""

from __future__ import annotations

from pathlib import Path

from tests.robustness import leaks


def test_planted_leaks_of_every_kind_are_found(tmp_path: Path) -> None:
    failed = [kind for kind, held in leaks.tries(tmp_path, each=1) if not held]
    assert not failed
