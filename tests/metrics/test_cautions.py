"""Cautions: what they are told of, in which rows, and that nothing that says nothing is called better."""

from __future__ import annotations

import json
import warnings

import pandas as pd
import pytest
from click.testing import CliRunner

import radeval_lib
from radeval_lib import compare
from radeval_lib.cli import main
from radeval_lib.metrics import cautions as cautioning
from radeval_lib.metrics import create, score_file
from radeval_lib.metrics.cautions import Cautions, Rows
from radeval_lib.rules.reader import reader

RULES = "green_rules_errors"
CHINESE = "右侧少量胸腔积液。"
FRENCH = "Épanchement pleural à gauche, œdème élevé"
SHORT = (
    "a text has fewer than 4 words, so that no 4 in a row can match: alone, even identical texts score near 0"
)
HALF = "the rules read less than half of what a text says"
LATIN = "a text is mostly in another script than the Latin one"
ROUGE = "a text has letters that ROUGE does not read, which keeps a to z and digits"


def _rows(*texts: str) -> list[str]:
    """24 reports of which no two are alike."""
    return [f"{texts[row % len(texts)]} Granuloma of {row + 2} mm." for row in range(24)]


SAID = _rows("Small left pleural effusion.", "Cardiomegaly.", "Right pneumothorax.", "Mild edema.")
WRONG = _rows("Left pneumothorax. Large mass.", "Pneumonia. Nodule.", "Severe edema.", "Rib fracture. Mass.")


@pytest.mark.parametrize(
    ("metric", "reference", "candidate", "told"),
    [
        ("rouge_l", "", "Clear lungs.", ["the reference is empty"]),
        ("rouge_l", "Clear lungs.", " \n", ["the candidate is empty"]),
        ("rouge_l", CHINESE, "Clear lungs.", [LATIN, f"rouge_l: {ROUGE}"]),
        ("rouge_1", FRENCH, "Clear lungs.", [f"rouge_1: {ROUGE}"]),
        ("meteor", FRENCH, "Clear lungs.", []),
        ("bleu", "No effusion.", "No effusion.", [f"bleu: {SHORT}"]),
        ("bleu", "No effusion is seen.", "No effusion was seen.", []),
        (RULES, "Right pneumothorax.", "Cat.", [f"{RULES}: the rules can read nothing of the candidate"]),
        (RULES, "Cat.", "Right pneumothorax.", [f"{RULES}: the rules can read nothing of the reference"]),
        (RULES, "Right pneumothorax. Cats chase angry birds.", "Right pneumothorax.", [f"{RULES}: {HALF}"]),
        (RULES, "Right pneumothorax.", "No pneumothorax.", []),
    ],
)
def test_cautions_by_kind(metric: str, reference: str, candidate: str, told: list[str]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        (pair,) = radeval_lib.explain([reference], [candidate], metrics=metric)
    assert pair["cautions"] == told
    assert [str(one.message) for one in caught] == [f"{what}: 1 row (1)" for what in told]


@pytest.mark.usefixtures("one_thread")
def test_a_text_that_a_model_cuts_is_reported() -> None:
    metric = create("bertscore", encoder="packaged-minilm-1", layer=None, device="cpu")
    cut = "a text is longer than the 512 tokens that the model reads, and was cut"
    for words, told in ((510, ()), (511, (cut,))):
        pairs = [("Clear lungs.", "no " * words)]
        (score,) = metric.score(*map(list, zip(*pairs, strict=True))).each(pairs)
        assert score.cautions == told


def test_what_the_reader_remarks_of_a_text_is_reported(monkeypatch) -> None:
    found = reader.coverage("Right pneumothorax.")
    word = reader.ReadInPart((0, 5), ((0, 5),), ("word",))
    part = reader.ReadInPart((0, 5), ((0, 5),), ("side",))
    changed = {
        "a": found._replace(remarks=("not read: not English",), in_part=(word,)),
        "b": found._replace(in_part=(word, part), remarks=('"effussion" read as "effusion"',)),
    }
    monkeypatch.setattr(cautioning, "coverage", changed.__getitem__)
    assert list(cautioning.of_rules("a", "a")) == ["not read: not English"]
    assert list(cautioning.of_rules("a", "b")) == [
        "the rules read a text in part: they left a word of degree, side, size, place, negation or change",
        "not read: not English",
        "a word is read as one of the lexicon that it is a letter off",  # which it is not to repeat
    ]


def test_rows_are_counted_and_the_first_are_named() -> None:
    rows = Rows()
    for row in (2, 3, 5, 8, 13, 21):
        rows.add(row)
    assert str(rows) == "6 rows (2, 3, 5, 8, 13, ...)"


def test_cautions_of_a_system() -> None:
    alike = Cautions(["m"])
    for row in range(1, 21):
        alike.add("s", row, (f"reference {row}", "other" if row == 7 else "the same"), {})
    assert alike.lines() == ["s: one text for 19 of 20 candidates"]
    repeated = Cautions(["m"])
    for row, text in enumerate("abcacb", start=1):
        repeated.add("", row, (text, text), {})
    assert repeated.lines() == [
        "pairs that an earlier row has too, so that intervals may be too narrow: 3 rows (4, 5, 6)"
    ]


def test_better_names_a_constant_text_or_repeated_pairs() -> None:
    constant = "Small left effusion."
    references = [constant] * 20 + ["Large right pneumothorax."] * 4
    found = compare(references, {"constant": [constant] * 24, "wrong": ["Mass."] * 24}, metrics=RULES)
    (one,) = _told(found)
    assert "but for constant, one text for 24 of 24 candidates and pairs that an earlier row has" in one


def test_five_in_a_hundred_need_no_words_and_more_do() -> None:
    for doubtful, silent in ((1, False), (2, False), (11, True)):
        found = Cautions(["m", "n"])
        for row in range(1, 21):
            candidate = "" if row <= doubtful else f"text {row}"
            found.add("s", row, (f"reference {row}", candidate), {"n": ["odd"] if row < 20 else []})
        expected = f"in {doubtful} of its 20 pairs the candidate is empty" if doubtful > 1 else ""
        assert found.of("s", "m") == expected
        assert found.of("s", "n").startswith("in 19 of its 20 pairs odd")
        assert found.is_silent("s", "m") == silent


def _told(found) -> list[str]:
    return [one for one in found.verdicts if "better" in one]


def test_a_system_that_writes_nothing_is_never_called_better() -> None:
    for nothing in ("", "Cat."):
        found = compare(SAID, {"mute": [nothing] * 24, "wrong": WRONG}, metrics=RULES)
        # By the number alone it would be.
        assert found.systems["value"].is_monotonic_increasing
        assert found.pairs["p"][0] < 0.05
        assert not _told(found)
        (verdict,) = [one for one in found.verdicts if "mute" in one]
        assert verdict.startswith(f"{RULES}: mute is not ranked, because in 24 of its 24 pairs the ")
        assert verdict in found.methods()
        assert found.systems["cluster"].isna().tolist() == [True, False]


def test_better_comes_with_its_cautions_in_one_sentence() -> None:
    part = ["" if row % 6 == 0 else text for row, text in enumerate(SAID)]
    (one,) = _told(compare(SAID, {"part": part, "wrong": WRONG}, metrics=RULES))
    assert one.startswith(f"{RULES}: part is better than wrong (")
    assert one.endswith(", but for part, in 4 of its 24 pairs the candidate is empty.")
    (plain,) = _told(compare(SAID, {"right": SAID, "wrong": WRONG}, metrics=RULES))
    assert "but" not in plain


def test_bleu_of_a_corpus_has_the_cautions_of_its_pairs(tmp_path) -> None:
    """What few words do to a pair, they do to its part of the corpus: it has no four words to match."""
    short = ["No effusion." if row % 3 == 0 else text for row, text in enumerate(SAID)]
    frame = pd.DataFrame({"reference": SAID, "candidate:short": short, "candidate:right": SAID})
    found = compare(frame, metrics="bleu")
    assert found.metrics["bleu"]["value"] == "corpus"
    line = f"bleu: short: {SHORT}: 8 rows (1, 4, 7, 10, 13, ...)"
    assert line in found.cautions
    (verdict,) = [one for one in found.verdicts if "right" in one]
    assert f"for short, in 8 of its 24 pairs {SHORT}" in verdict
    frame.to_csv(tmp_path / "in.csv", index=False)
    assert line in score_file(["bleu"], tmp_path / "in.csv", tmp_path / "out.csv").cautions


def test_the_same_cautions_everywhere(tmp_path) -> None:
    frame = pd.DataFrame({"reference": SAID, "candidate:a": ["", *SAID[1:]], "candidate:b": WRONG})
    source, page = tmp_path / "in.csv", tmp_path / "page.html"
    frame.to_csv(source, index=False)
    scored = score_file([RULES, "rouge_l"], source, tmp_path / "out.csv", report=page)
    assert "a: the candidate is empty: 1 row (1)" in scored.cautions
    assert json.loads((tmp_path / "out.csv.about.json").read_text())["cautions"] == scored.cautions
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        radeval_lib.score(frame, metrics=[RULES, "rouge_l"])
    assert [str(one.message) for one in caught] == scored.cautions
    compared = compare(frame, metrics=[RULES, "rouge_l"])
    assert compared.cautions[: len(scored.cautions)] == scored.cautions
    html = page.read_text(encoding="utf-8")
    options = ["--input", str(source), "--metric", RULES, "--metric", "rouge_l"]
    by_score = CliRunner().invoke(main, ["score", *options, "--output", str(tmp_path / "again.csv")])
    by_compare = CliRunner().invoke(main, ["compare", *options])
    for line in scored.cautions:
        assert f"<li>{line}.</li>" in html
        assert f"Caution: {line}.\n" in by_score.stderr
        assert f"Caution: {line}.\n" in by_compare.stdout
