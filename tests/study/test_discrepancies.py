"""Explanations of differences: each whole, one thing that each changes."""

from __future__ import annotations

import pytest

from radeval_lib.papers.printed_numbers import paper
from radeval_lib.study import PAPERS, ledger
from radeval_lib.study.pages import CHANGES
from radeval_lib.study.results import CAUSES

ENTRIES = [
    (key, number, e) for key in PAPERS for number, e in enumerate(paper(key).get("discrepancies") or [])
]


def test_one_explanation_changes_one_thing() -> None:
    told: dict[tuple[str, str], set[str]] = {}
    for key, _, entry in ENTRIES:
        told.setdefault((key, " ".join(entry["explanation"].split())), set()).add(entry["changes"])
    assert {words: changes for words, changes in told.items() if len(changes) > 1} == {}


@pytest.mark.parametrize(("key", "number", "entry"), ENTRIES, ids=[f"{k}-{n}" for k, n, _ in ENTRIES])
def test_entries_are_whole(key: str, number: int, entry: dict) -> None:
    assert set(entry) <= {"exhibit", "checks", "cause", "changes", "explanation", "evidence"}
    assert entry["exhibit"] in ledger()
    assert entry["cause"] in CAUSES
    assert entry["changes"] in CHANGES
    # The paper may have meant the reading that fits.
    assert (entry["cause"], entry["changes"]) != ("definition", "conclusion")
    assert entry["explanation"].strip()
