"""The page on the size of MIMIC-RRS: pairs read from the paper's sentences, and their places in its lists."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from notebooks.summarization import dataset
from radeval_lib.papers.printed_numbers import parse
from radeval_lib.study.results import statement_outcome


def test_pairs_of_a_sentence_are_read_in_one_spelling() -> None:
    text = "“CT ab- domen/pelvis” and “MR Head”, but not head"
    assert dataset.parse_pairs(text) == ["CT Abdomen-pelvis", "MR Head"]


@pytest.mark.parametrize(
    ("long", "short", "printed", "outcome"),
    [(2, 0, "2", "holds"), (1, 1, "2", "inconclusive"), (2, 1, "2", "inconclusive"), (1, 1, "3", "fails")],
)
def test_reports_are_counted_in_both_ways(
    long: int, short: int, printed: str, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [SimpleNamespace(findings="word " * 10, impression="no change")] * long
    pairs += [SimpleNamespace(findings="word", impression="none")] * short
    monkeypatch.setattr(dataset.openi, "make_pairs", lambda reports: pairs)
    monkeypatch.setattr(dataset, "reveal", str)
    assert statement_outcome(dataset.check_openi([], parse(printed))) == outcome
