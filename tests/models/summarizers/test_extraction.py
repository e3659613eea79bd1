"""Extraction: the first sentences, the central ones, the best ones, and those a model learned to keep."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from radeval_lib.data.records import ReportPair
from radeval_lib.errors import ModelError
from radeval_lib.models.extractive_summarizers import (
    ClusterExtractor,
    LeadSentences,
    SentenceSelector,
    choose_oracle,
    extract_oracle,
    split_sentences,
)

TEXT = "The heart is normal. There is a large effusion. No pneumothorax. The bones are intact."


def vectors(texts: Sequence[str]) -> np.ndarray:
    """Return a sentence's vector: whether it denies, how long it is, whether it says large."""
    rows = [["No" in text, len(text.split()) / 10, "large" in text] for text in texts]
    return np.array(rows, dtype=np.float64).reshape(len(texts), 3)


def pairs(n: int, start: int = 0) -> list[ReportPair]:
    """Return reports whose impression is their one sentence with "large", at any place."""
    kinds = ("Large effusion here is large.", "Large mass that is large.", "A large clot is seen.")
    made = []
    for number in range(start, start + n):
        rest = ["The heart is normal.", "No fracture.", "Bones are intact and normal."]
        rest.insert(number % 4, kinds[number % 3])
        made.append(ReportPair(id=str(number), findings=" ".join(rest), impression=kinds[number % 3]))
    return made


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("A 1.5 cm cyst. Seen by Dr. Smith.", ["A 1.5 cm cyst.", "Seen by Dr. Smith."]),
        ("1. Small effusion. 2. No fracture.", ["1. Small effusion.", "2. No fracture."]),
        ("heart normal .\nlungs clear .", ["heart normal .", "lungs clear ."]),
        ("heart size\nnormal. lungs  \r\nclear\n\nno mass", ["heart size normal.", "lungs clear", "no mass"]),
        ("no full stop", ["no full stop"]),
        ('Read as "normal." (See above.) Clear.', ['Read as "normal."', "(See above.)", "Clear."]),
        ("Fractures of ribs 7 and 8. No mass.", ["Fractures of ribs 7 and 8.", "No mass."]),
        ("It is grade 1. Small effusion 2. Clear.", ["It is grade 1.", "Small effusion 2. Clear."]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected


def test_lead_takes_the_first_sentences() -> None:
    assert LeadSentences(2).summarize([TEXT, "Short."]) == [
        "The heart is normal. There is a large effusion.",
        "Short.",
    ]
    with pytest.raises(ModelError, match="at least 1"):
        LeadSentences(0)


def test_the_oracle_takes_what_raises_rouge_and_stops() -> None:
    assert choose_oracle(TEXT, "large effusion, no pneumothorax") == [1, 2]
    assert choose_oracle(TEXT, "nothing of this") == [0]  # nothing helps: one sentence all the same
    assert extract_oracle([TEXT], ["large effusion"]) == ["There is a large effusion."]


def test_clusters_give_one_sentence_each_in_report_order() -> None:
    text = "No a. No b. A large clot is seen in this large vessel today. No c."
    summaries = ClusterExtractor(vectors, count=2).summarize([text, "Only one."])
    assert summaries[1] == "Only one."
    kept = split_sentences(summaries[0])
    assert len(kept) == 2
    assert kept[0].startswith("No")
    assert kept[1].startswith("A large clot")


def test_equal_sentences_are_kept_once() -> None:
    assert ClusterExtractor(vectors, count=3).summarize(["No a. No a. No a."]) == ["No a."]


def test_a_selector_learns_what_impressions_keep() -> None:
    learned = SentenceSelector(vectors).fit(pairs(24), pairs(8, 24))
    held_out = pairs(8, 40)
    written = learned.summarize([pair.findings for pair in held_out])
    assert written == [pair.impression for pair in held_out]
