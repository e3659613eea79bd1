"""What the reading used of a text, and what it left."""

import doctest
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import radeval_lib.rules.reader.sentence
import radeval_lib.rules.report_text
from radeval_lib.rules.reader import coverage, read
from radeval_lib.rules.reader.reader import LOOP, NOT_ENGLISH, OTHER_IMAGE


def left(text):
    return [
        (kind, text[slice(*where)])
        for part in coverage(text).in_part
        for where, kind in zip(part.unused, part.kinds, strict=True)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Small left pleural effusion.",
        "No pneumothorax. The lungs are clear. PA and lateral views.",
        "8 mm nodule in the right upper lobe, previously 6 mm.",
        "No worsening of the right basilar opacity.",
        "ET tube tip 4 cm above the carina.",
        "Pneumothorax: none. Effusion: small left.",
        "No significant effusion. Calcified granuloma. Significant increase in the left effusion.",
    ],
)
def test_what_is_read_whole(text):
    result = coverage(text)
    assert (result.share, result.unread, result.in_part, result.remarks) == (1.0, (), (), ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Left effusion and blarney.", [("word", "blarney")]),
        ("Clear lungs, moderate.", [("degree", "moderate")]),
        ("Clear lungs and 3 cm.", [("size", "3"), ("size", "cm")]),
        ("Scoliosis, but the left hip is not a problem.", [("place", "left"), ("place", "hip")]),
        ("Right kidney measures 11 cm, mild hydronephrosis.", [("size", "11"), ("size", "cm")]),
        ("Scoliosis of 30 degrees.", [("word", "30")]),
        ("Very low lung volumes.", [("degree", "Very")]),
        ("Significant scoliosis.", [("degree", "Significant")]),
        ("Cardiomegaly and tortuous calcified thoracic aorta.", [("word", "calcified")]),
        ("Convexity of the mediastinum, possible aneurysm.", [("word", "Convexity")]),
        # one of two findings that may have changed, a side where another one is
        ("Effusion with atelectasis that has increased.", [("change", "increased")]),
        ("Patchy left upper right basilar atelectasis.", [("side", "left")]),
    ],
)
def test_what_is_left_of_a_statement_is_listed(text, expected):
    assert set(expected) <= set(left(text))
    assert (coverage(text).share or 1.0) < 1.0


def test_a_statement_in_which_nothing_is_read():
    text = "Clear lungs. Meniscal root avulsion."
    result = coverage(text)
    assert [text[slice(*span)] for span in result.unread] == ["Meniscal root avulsion"]
    assert result.share == pytest.approx(2 / 5)


@pytest.mark.parametrize(
    "module",
    [
        radeval_lib.rules.reader,
        radeval_lib.rules.reader.sentence,
        radeval_lib.rules.report_text,
    ],
)
def test_examples_in_docstrings_are_right(module):
    assert doctest.testmod(module) == (0, doctest.testmod(module).attempted)
    assert doctest.testmod(module).attempted


def test_nothing_to_read():
    assert coverage("").share is None
    assert coverage("XXXX. 12. PA and lateral views.").share is None


def test_sections_are_found_and_only_findings_are_read():
    text = "HISTORY: Large effusion. FINDINGS: Clear lungs."
    assert [section.kind for section in coverage(text).sections] == ["history", "findings"]
    assert read(text).findings == ()
    assert coverage(text).share == 1.0


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("Kein Pneumothorax. Herz normal.", NOT_ENGLISH),
        ("Derrame pleural izquierdo. No se observa consolidación.", NOT_ENGLISH),
        ("Pas de pneumothorax. Épanchement pleural gauche.", NOT_ENGLISH),
        ("Пневмоторакс не выявлен.", NOT_ENGLISH),
        ("胸部X線写真に異常なし", NOT_ENGLISH),
        ("pneumothorax " * 20, LOOP),
        ("No effusion. " + "no pneumothorax " * 30, LOOP),
        ("Microscopic sections show a nodule. Immunohistochemistry is positive.", OTHER_IMAGE),
    ],
)
def test_what_is_no_report_that_the_reader_knows_is_not_read(text, remark):
    assert read(text).findings == read(text).normals == ()
    assert coverage(text).remarks == (f"not read: {remark}",)
    assert not coverage(text).share


def test_a_misspelt_name_is_read_and_named():
    assert coverage("Left effussion.").remarks == ('"effussion" read as "effusion"',)
    assert coverage("Pleural effusion of a deceased patient.").remarks == ()


@pytest.mark.parametrize("word", ["symmetry", "injection", "particular", "confusion", "singular", "standing"])
def test_a_long_word_one_letter_off_a_name_may_be_a_word(word):
    assert coverage(f"Left effusion, {word}.").remarks == ()


@given(st.text(max_size=200))
def test_any_text_is_covered(text):
    result = coverage(text)
    assert result.share is None or 0 <= result.share <= 1
    for part in result.in_part:
        assert all(part.span[0] <= start < end <= part.span[1] for start, end in part.unused)


def test_what_is_reported_of_sentences_drawn_is_what_was_noted_of_each():
    drawn = pd.read_csv(Path(__file__).with_name("drawn_sentences.csv"))
    assert not drawn.duplicated(["set", "report", "section", "start"]).any()
    labels = Path(radeval_lib.rules.reader.sentence.__file__).parent / "labels"
    checks = pd.read_csv(labels / "hand_checks.csv", dtype={"seed": "Int64"})
    of_draws = checks[checks["what"].str.contains("of six draws")].set_index(["seed", "what"])
    assert len(of_draws) == 2 * drawn["seed"].nunique()
    for (seed, label), row in of_draws.iterrows():
        values = drawn[drawn["seed"] == seed]
        values = values[values["whole"] == 1] if "whole" in label else values
        assert (row["number"], row["right"]) == (len(values), values["right"].sum())
    letters = drawn[drawn["set"] == "mtsamples"]
    (row,) = checks[checks["drawn"].str.startswith("MTSamples")].itertuples()
    assert (row.number, row.right, letters["whole"].sum()) == (len(letters), letters["right"].sum(), 1)
