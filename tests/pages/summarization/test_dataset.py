"""The page on the size of MIMIC-RRS: pairs read from the paper's sentences, and their places in its lists."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

from notebooks.summarization import dataset, pair_lists
from notebooks.summarization.dataset import check_headings
from notebooks.summarization.pair_lists import (
    PairLists,
    check_numbers_of_kinds,
    listed,
    named_kinds,
)
from radeval_lib.papers.printed_numbers import parse, released
from radeval_lib.study.judging import by_key, statement_outcome

LISTS = PairLists(
    ["CT Head", "CT Chest"], ["MR Head", "MR Pelvis"], ["CT Head", "CT Chest", "MR Head"], ["MR Pelvis"]
)


def test_pairs_of_a_sentence_are_read_in_one_spelling() -> None:
    assert listed("“CT ab- domen/pelvis” and “MR Head”, but not head") == ["CT Abdomen-pelvis", "MR Head"]


def test_the_papers_lists_name_every_pair_of_the_released_counts() -> None:
    lists = PairLists.read()
    assert set(lists.from_mimic_iii) == set(released("mimic_rrs_counts")["pair"])
    assert set(lists.all) == {*lists.trained, *lists.unseen}


def test_each_pair_has_its_place_in_both_lists() -> None:
    roles = LISTS.roles(pd.DataFrame({"suitable": {"CT Head": 10, "MR Pelvis": 2}}))
    assert roles.loc["MR Head"].drop("reports").tolist() == ["out of domain", "trained", "", ""]
    assert roles.loc["MR Pelvis"].tolist() == ["out of domain", "out of domain", 2, "yes", "no"]
    assert LISTS.in_both == ["MR Head"]


def test_kinds_are_counted_and_x_ray_and_chest_may_not_be_new() -> None:
    told = {check.name: check for check in check_numbers_of_kinds(LISTS)}
    assert told["anatomies in all"].computed == "3: chest, head, pelvis"
    assert told["anatomies in all"].outcome == "fails"  # Section 1 names others
    assert (told["new anatomies (beside chest)"].computed, told["new anatomies (with chest)"].computed) == (
        "2",
        "3",
    )
    assert told["pairs in all, conclusion"].computed == "4 listed"
    assert (
        told["pairs of MIMIC-III, Section 2.1"].outcome,
        told["pairs of MIMIC-III, Section 2.1"].value,
    ) == (
        "fails",
        4,
    )


def test_new_pairs_contradict_one_another_under_either_reading() -> None:
    checks = by_key(check_numbers_of_kinds(PairLists.read()))
    found = {str(rows[0].key): statement_outcome(rows) for rows in checks}
    assert found["pairs of MIMIC-III, Section 2.1"] == "holds"
    assert [name for name, outcome in found.items() if outcome == "fails"] == [
        "new pairs, Section 1 against Section 4"
    ]
    assert [name for name, outcome in found.items() if outcome == "inconclusive"] == [
        "new modalities",
        "new anatomies",
        "new pairs, introduction",
        "new pairs, related work",
    ]


def test_section_1_names_the_kinds_that_the_lists_have() -> None:
    assert named_kinds() == pair_lists.kinds(PairLists.read().all)


def test_multiple_means_several() -> None:
    assert [check.outcome for check in pair_lists.check_rows(PairLists.read())] == ["holds"] * 4
    one = PairLists(["CT Head"], [], ["CT Head"], [])
    assert [check.outcome for check in pair_lists.check_rows(one)] == ["fails", "holds"] * 2


def test_the_row_of_mimic_cxr_is_what_the_text_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_lists, "quotations", lambda _: [("Section 2.1", "Studies are head CT.")])
    found = [check.outcome for check in pair_lists.check_rows(LISTS) if "MIMIC-CXR" in check.name]
    assert found == ["fails", "fails"]


def test_section_2_1_lists_five_pairs_and_six() -> None:
    counted, *_ = pair_lists.check_lists(PairLists.read())
    assert (counted.outcome, counted.computed) == ("holds", "5 and 6")
    counted, *_ = pair_lists.check_lists(LISTS)
    assert (counted.outcome, counted.computed) == ("fails", "2 and 2")


def test_released_splits_are_those_of_trained_and_other_pairs() -> None:
    counts = released("mimic_rrs_counts").set_index("pair")
    for changed, outcome in ((counts, "holds"), (counts.assign(validate=0), "fails")):
        *_, splits = pair_lists.check_released_sizes(PairLists.read(), changed)
        assert splits.outcome == outcome
    assert splits.computed == "none of 6; all 5"


def test_headings_count_once_or_with_each_pair_and_their_yield_is_compared() -> None:
    headers, counts = released("mimic_rrs_findings_headers"), released("mimic_rrs_counts")
    *headings, pairs, kept = check_headings(headers, counts)
    assert [(check.outcome, check.computed) for check in headings] == [("holds", "537"), ("fails", "516")]
    assert (pairs.outcome, kept.outcome, kept.computed) == ("holds", "fails", "79,790")


@pytest.mark.parametrize(
    ("long", "short", "printed", "outcome"),
    [(2, 0, "2", "holds"), (1, 1, "2", "inconclusive"), (2, 1, "2", "inconclusive"), (1, 1, "3", "fails")],
)
def test_reports_are_counted_in_both_ways(
    long: int, short: int, printed: str, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [SimpleNamespace(findings="word " * 10, impression="no change")] * long
    pairs += [SimpleNamespace(findings="word", impression="none")] * short
    monkeypatch.setattr(dataset.openi, "pairs", lambda reports: pairs)
    monkeypatch.setattr(dataset, "reveal", str)
    assert statement_outcome(dataset.check_openi([], parse(printed))) == outcome
