"""The table of significance is whole, and mistakes in it name the file and the entry."""

from __future__ import annotations

from pathlib import Path

import pytest

from radeval_lib.errors import LexiconError
from radeval_lib.findings.vocabulary import vocabulary
from radeval_lib.lexicon.loading import FOLDER
from radeval_lib.lexicon.significance import FACTORS, factor, read_table

FILE = FOLDER / "significance.yml"


def test_every_finding_is_one_that_the_reader_knows() -> None:
    table = read_table(FILE)
    names = vocabulary().observations
    known = {sense.key for words in names.entries() for sense in names.get(words) or ()}
    for entry in (*table["classes"], *table["context"]):
        assert set(entry["findings"]) <= known


def test_factors_are_shares() -> None:
    assert all(0 < factor(name) <= 1 for name in FACTORS)


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("factors:", "factor:", "the file: unknown keys: factor"),
        (
            "class: urgent",
            "class: urgend",
            "class 'urgend' is not one of urgent, actionable, notable, benign",
        ),
        ("minor: notable", "minor: notabel", "otherwise: minor 'notabel' is not one of"),
        ("  kin: 0.3", "  kind: 0.3", "factors: unknown keys: kind"),
        ("benign: 0.1}", "benign: low}", "weights: benign is not a number"),
        ("findings: [granuloma,", "finding: [granuloma,", "classes 4: unknown keys: finding"),
        ("findings: [granuloma,", "findings: [pneumothorax,", "'pneumothorax' is of two classes"),
        ("    below: 40", "    bellow: 40", "context 1: unknown keys: bellow"),
        ("    below: 40\n", "", "context 1: needs either what the indication asks or an age"),
    ],
)
def test_mistakes_name_file_and_entry(tmp_path: Path, old: str, new: str, match: str) -> None:
    text = FILE.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / FILE.name
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(LexiconError) as caught:
        read_table(path)
    assert match in caught.value.what
    assert caught.value.where == "lexicon/significance.yml"
