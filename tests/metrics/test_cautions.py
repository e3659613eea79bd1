"""Cautions: what they are given for, in which rows, and that nothing that says nothing is called better."""

from __future__ import annotations

import json
import warnings

import pandas as pd
import pytest

import radeval_lib
from radeval_lib import compare
from radeval_lib.metrics import cautions, create, score_file
from radeval_lib.metrics.cautions import EMPTY_CANDIDATE, Cautions

RULES = "green_rules_errors"
CHINESE = "右侧少量胸腔积液。"
FRENCH = "Épanchement pleural à gauche, œdème élevé"
LINE = "Small left pleural effusion."


def _rows(*texts: str) -> list[str]:
    """24 reports of which no two are alike."""
    return [f"{texts[row % len(texts)]} Granuloma of {row + 2} mm." for row in range(24)]


SAID = _rows("Small left pleural effusion.", "Cardiomegaly.", "Right pneumothorax.", "Mild edema.")
WRONG = _rows("Left pneumothorax. Large mass.", "Pneumonia. Nodule.", "Severe edema.", "Rib fracture. Mass.")


@pytest.mark.parametrize(
    ("reference", "candidate", "expected"),
    [
        ("", "Clear lungs.", [cautions.EMPTY_REFERENCE]),
        ("Clear lungs.", " \n", [EMPTY_CANDIDATE]),
        (CHINESE, "Clear lungs.", [cautions.NOT_LATIN]),
        (LINE, "NaN", [cautions.NO_TEXT]),
        (LINE, "nothing", [cautions.NO_TEXT]),
        (LINE, "I'm sorry, but I cannot interpret this image.", [cautions.NO_TEXT]),
        (LINE, "I cannot exclude a small left pleural effusion.", []),
        ("N/A", LINE, [cautions.NO_TEXT]),
        (LINE, "<p>Small left <b>pleural</b> effusion.</p>", [cautions.TAGS]),
        (LINE, "**Findings:** Small left pleural effusion.", [cautions.TAGS]),
        (LINE, "# Findings\nSmall left pleural effusion.", [cautions.TAGS]),
        (LINE, "<NAME> has a small effusion since ___, [**Hospital 1**].", []),
        (LINE, "Small left pleural effusion.<|im_end|>", [cautions.TAGS]),
        (LINE, "Nodule <5 mm.", []),
        (LINE, "n.a.", [cautions.NO_TEXT]),
        (LINE, "-", [cautions.NO_TEXT]),
        (LINE, "<think>It says left.</think> Small left effusion.", [cautions.THINKING]),
        (LINE, "effusion " * 140_000, [cautions.LONG]),
        (LINE, "Lungs are clear. " * 3, [cautions.REPEATED]),
        (LINE, "Lungs are clear. Heart is normal. Lungs are clear.", []),
        (LINE, "Small  left pleural\neffusion.", [cautions.EQUAL]),
        ("There is a small effusion in the", LINE, [cautions.CUT]),
        ("There is a small effusion,", LINE, [cautions.CUT]),
        ("There is a small effusion on the left", LINE, []),
    ],
)
def test_cautions_of_texts(reference: str, candidate: str, expected: list[str]) -> None:
    assert list(cautions.find_text_cautions(reference, candidate)) == expected


@pytest.mark.parametrize(
    ("reference", "candidate", "expected"),
    [
        ("Right pneumothorax.", "Cat.", [cautions.UNREAD_CANDIDATE]),
        ("Cat.", "Right pneumothorax.", [cautions.UNREAD_REFERENCE]),
        ("Right pneumothorax. Cats chase angry birds.", "Right pneumothorax.", [cautions.MOSTLY_UNREAD]),
        ("Right pneumothorax.", "No pneumothorax.", []),
        (LINE, "Small left pleural effusion. No pleural effusion.", [cautions.CONTRADICTED]),
        (LINE, "Small left pleural effusion. No right pleural effusion.", []),
    ],
)
def test_cautions_of_the_rules(reference: str, candidate: str, expected: list[str]) -> None:
    assert list(cautions.find_rule_cautions(reference, candidate)) == expected


@pytest.mark.parametrize(
    ("metric", "text", "has"),
    [
        ("rouge_1", FRENCH, True),
        ("meteor", FRENCH, False),
        ("bleu", "No effusion.", True),
        ("bleu", LINE, False),
    ],
)
def test_cautions_that_only_a_metric_knows(metric: str, text: str, has: bool) -> None:
    assert bool(list(create(metric).cautions(text, "No effusion was seen.", None))) == has


def test_cautions_of_all_pairs() -> None:
    alike = Cautions(["m"])
    for row in range(1, 21):
        alike.add("s", row, (f"reference {row}", "other" if row == 7 else "the same"), {})
    assert alike.lines() == ["s: one text for 19 of 20 candidates"]
    repeated = Cautions(["m", "n"])
    for row, text in enumerate("abcacb", start=1):
        repeated.add_ids([row if row < 6 else 1])
        repeated.add("s", row, (text, f"{text}!"), {name: ["odd"] for name in "mn"})
        repeated.add("t", row, (text, f"{text}!"), {})
    lines = repeated.lines()
    assert "m, n: s: odd: 6 rows (1, 2, 3, 4, 5, ...)" in lines  # once
    assert [line.rpartition(": ")[2] for line in lines if "pairs that" in line] == ["3 rows (4, 5, 6)"] * 2
    assert any(line.startswith("s and t have the same candidate") for line in lines)
    assert any("rows with the id of an earlier row" in line and line.endswith("1 row (6)") for line in lines)


def test_five_in_a_hundred_need_no_words_and_more_do() -> None:
    for doubtful, silent in ((1, False), (2, False), (11, True)):
        counted = Cautions(["m", "n"])
        for row in range(1, 21):
            candidate = "" if row <= doubtful else f"text {row}"
            counted.add("s", row, (f"reference {row}", candidate), {"n": ["odd"] if row < 20 else []})
        expected = f"in {doubtful} of its 20 pairs {EMPTY_CANDIDATE}" if doubtful > 1 else ""
        assert counted.summarize("s", "m") == expected
        assert counted.summarize("s", "n").startswith("in 19 of its 20 pairs odd")
        assert counted.is_silent("s", "m") == silent


@pytest.mark.parametrize(("nothing", "metrics"), [("", RULES), ("Cat.", RULES), ("", "all")])
def test_a_system_that_writes_nothing_is_never_called_better(nothing: str, metrics: str) -> None:
    compared = compare(SAID, {"mute": [nothing] * 24, "wrong": WRONG}, metrics=metrics)
    # By the number alone it would be.
    assert compared.systems.set_index("metric").loc[RULES, "value"].is_monotonic_increasing
    assert compared.pairs.set_index("metric")["p"][RULES] < 0.05
    assert "better" not in compared.verdicts[RULES]
    assert "mute is not ranked" in compared.verdicts[RULES]
    assert compared.systems.set_index("metric").loc[RULES, "cluster"].isna().tolist() == [True, False]


def test_better_comes_with_its_cautions_in_one_sentence() -> None:
    part = ["" if row % 6 == 0 else text for row, text in enumerate(SAID)]
    sentence = compare(SAID, {"part": part, "wrong": WRONG}, metrics=RULES).verdicts[RULES]
    assert sentence.startswith(f"{RULES}: part is better than wrong (")
    assert sentence.endswith(f", but for part, in 4 of its 24 pairs {EMPTY_CANDIDATE}.")
    plain = compare(SAID, {"right": SAID, "wrong": WRONG}, metrics=RULES).verdicts[RULES]
    assert " but " not in plain


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_same_cautions_everywhere(tmp_path) -> None:
    frame = pd.DataFrame({"reference": SAID, "candidate:a": ["", *SAID[1:]], "candidate:b": WRONG})
    source, page = tmp_path / "in.csv", tmp_path / "page.html"
    frame.to_csv(source, index=False)
    scored = score_file([RULES, "rouge_l"], source, tmp_path / "out.csv", report=page)
    assert f"a: {EMPTY_CANDIDATE}: 1 row (1)" in scored.cautions
    assert json.loads((tmp_path / "out.csv.about.json").read_text())["cautions"] == scored.cautions
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        radeval_lib.score(frame, metrics=[RULES, "rouge_l"])
    assert [str(warning.message) for warning in caught] == scored.cautions
    assert compare(frame, metrics=[RULES, "rouge_l"]).cautions[: len(scored.cautions)] == scored.cautions
    html = page.read_text(encoding="utf-8")
    assert all(f"<li>{line}.</li>" in html for line in scored.cautions)
