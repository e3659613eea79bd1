"""Explanations of differences: each whole, one thing that each changes, and places that can be met."""

from __future__ import annotations

from pathlib import Path

import pytest

from notebooks.summarization.dataset import check_openi
from radeval_lib import study
from radeval_lib.data import openi
from radeval_lib.errors import ResultError
from radeval_lib.papers.exhibits import load_paper
from radeval_lib.study import PAPERS, Key, check_value, ledger
from radeval_lib.study.results import DISCREPANCY_KINDS, SEVERITIES, judge, with_discrepancies

ENTRIES = [
    (key, name, entry) for key in PAPERS for name, entry in load_paper(key).get("discrepancies", {}).items()
]


def test_each_explanation_stands_once() -> None:
    explanations = [" ".join(entry["explanation"].split()) for _, _, entry in ENTRIES]
    assert len(set(explanations)) == len(explanations) == len({name for _, name, _ in ENTRIES})


@pytest.mark.parametrize(("key", "name", "entry"), ENTRIES, ids=[name for _, name, _ in ENTRIES])
def test_entries_are_whole(key: str, name: str, entry: dict) -> None:
    assert set(entry) - {"reply"} == {"checks", "kind", "severity", "explanation"}
    assert entry["kind"] in DISCREPANCY_KINDS
    assert entry["severity"] in SEVERITIES
    # The paper may have meant the reading that fits.
    assert (entry["kind"], entry["severity"]) != ("convention", "conclusion")
    assert entry["explanation"].strip()
    for entry_check in entry["checks"]:
        assert set(entry_check) <= {"exhibit", "evidence", "what", "row", "column"}
        assert ledger()[entry_check["exhibit"]].paper == key
        assert entry_check.get("evidence", "printed") in ("printed", "released", "data")
        for field in ("what", "row", "column"):
            assert isinstance(entry_check.get(field, []), list)


def test_causes_are_found_by_key_alone() -> None:
    def discrepancy(exhibit: str, key: Key, evidence: str = "printed") -> str:
        (named,), _ = with_discrepancies(exhibit, evidence, [check_value(key, "2", 3)])
        return named.discrepancy

    mean = "Avg as mean of seven columns"
    assert discrepancy("rales.table10", Key(mean, "RadBERT_1")) == "table10_radbert"
    assert discrepancy("rales.table10", Key(mean, "BERT_base")) == "table10_divisor"
    assert discrepancy("rales.table10", Key(f"{mean}, again", "BERT_base")) == ""
    assert discrepancy("rales.table10", Key(mean, "BERT_base"), "released") == ""
    assert discrepancy("rales.table9", Key(mean, "BERT_base")) == ""
    holds, discrepancies = with_discrepancies(
        "rales.table10", "printed", [check_value(Key(mean, "BERT_base"), "2", 2)]
    )
    assert (holds[0].discrepancy, discrepancies) == ("", {})


def test_explanations_of_data_meet_what_fails_there(data_root: Path) -> None:
    sizes = study.printed("rrs.table1")
    reports = openi.load(data_root / "openi" / "indiana_reports.csv")
    counted = check_openi(reports, study.cell(sizes, dataset="OpenI"))
    named_two, _ = with_discrepancies("rrs.table1", "open", counted)
    assert {(row.outcome, row.discrepancy) for row in named_two} == {("inconclusive", "openi_filter")}


def test_a_released_script_contradicts_what_the_paper_states() -> None:
    made = [study.check_setting("GREEN", name) for name in ("epochs of fine-tuning", "warm-up ratio")]
    checks, discrepancies = with_discrepancies("green.guide_training", "released", made)
    assert [check.outcome for check in checks] == ["fails", "holds"]
    assert judge("numbers", checks, discrepancies) == "inconsistent"


def test_two_causes_of_one_check_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = {
        name: {"kind": "paper", "explanation": "x", "checks": [{"exhibit": "rales.table9"}]} for name in "ab"
    }
    monkeypatch.setattr("radeval_lib.study.results.load_paper", lambda key: {"discrepancies": twice})
    with pytest.raises(ResultError):
        with_discrepancies("rales.table9", "printed", [check_value("mean", "2", 3)])
