"""Explanations of differences: none without a difference, on the results that the small profile recorded."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from radeval_lib.papers.printed_numbers import paper
from radeval_lib.study import PAPERS, audit, ledger, read_all
from radeval_lib.study.conclusions import CHANGES
from radeval_lib.study.results import CAUSES
from radeval_lib.study.verdicts import FAILS

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
    assert entry["explanation"].strip()


def test_no_explanation_is_stale(smoke: Path) -> None:
    checks = audit(read_all(smoke))
    failing = checks[checks["outcome"] == FAILS]
    stale = [
        f"{entry['exhibit']}: {pattern}"
        for _, _, entry in ENTRIES
        for pattern in entry["checks"]
        if entry.get("evidence", "print") == "print"
        and not any(
            row.exhibit == entry["exhibit"] and fnmatchcase(row.check, pattern)
            for row in failing.itertuples()
        )
    ]
    assert not stale
