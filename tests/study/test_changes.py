"""What changed between two editions, and the page that says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from radeval_lib.study.scorecards import compare_editions

TABLE, CLAIM, SAME = "facts.table1", "facts.claim_agreement", "facts.def_recall"


def _edition(folder: Path, results: dict[str, tuple[str, str]], holds: bool, flat: bool = False) -> Path:
    """Return results by exhibit, with a verdict and what its one check computed, and a finding."""
    results_folder = folder / "results" / ("" if flat else "facts/real_counts")
    results_folder.mkdir(parents=True)
    for exhibit, (verdict, computed) in results.items():
        outcome = "fails" if verdict == "inconsistent" else "holds"
        check = {"key": {"what": "a | b", "row": ""}, "computed": computed, "outcome": outcome}
        content: dict[str, Any] = {"exhibit": exhibit, "evidence": "printed", "verdict": verdict}
        content |= {"checks": [check], "provenance": {"code": str(folder)}}
        (results_folder / f"{exhibit}.printed.json").write_text(json.dumps(content))
    (results_folder / "headline_rexval.json").write_text(json.dumps({"holds": holds}))
    return folder


@pytest.mark.parametrize("flat", [False, True])  # a rendered book has the results of its build in one folder
def test_the_page_names_what_changed_and_nothing_else(tmp_path: Path, flat: bool) -> None:
    old = {TABLE: ("consistent", "0.62"), CLAIM: ("inconclusive", "3"), SAME: ("consistent", "1")}
    new = {TABLE: ("inconsistent", "0.70"), "facts.gone": ("consistent", "1"), SAME: ("consistent", "2")}
    editions = _edition(tmp_path / "old", old, True, flat), _edition(tmp_path / "new", new, False)
    rows = [line for line in compare_editions(*editions).splitlines()[4:] if line]
    assert len(rows) == 5
    for end in (
        "Table 1, facts.table1 (printed) | consistent | inconsistent |",
        "Table 1, facts.table1 (printed): a \\| b | holds (0.62) | fails (0.70) |",
        "facts.gone (printed) | – | consistent |",
        "facts.claim_agreement (printed) | inconclusive | – |",
        "| finding rexval | borne out | not borne out |",
    ):
        assert [row for row in rows if row.endswith(end)]
