"""Extraction: the first sentences, the central ones, the best ones, and those a model learned to keep."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from radeval_lib.data.records import ReportPair
from radeval_lib.errors import ModelError
from radeval_lib.models.summarizers.base import Summarizer, rouge_l, sentences
from radeval_lib.models.summarizers.extractive import (
    ClusterExtractor,
    LeadSentences,
    SentenceSelector,
    oracle,
    oracle_sentences,
)
from radeval_lib.stats.tokens import rouge_l as rouge_of_words

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
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_lead_takes_the_first_sentences() -> None:
    assert LeadSentences(2).summarize([TEXT, "Short."]) == [
        "The heart is normal. There is a large effusion.",
        "Short.",
    ]


def test_the_oracle_takes_what_raises_rouge_and_stops() -> None:
    assert oracle_sentences(TEXT, "large effusion, no pneumothorax") == [1, 2]
    assert oracle_sentences(TEXT, "nothing of this") == [0]  # nothing helps: one sentence all the same
    assert oracle([TEXT], ["large effusion"]) == ["There is a large effusion."]


def test_rouge_l_equals_its_definition_where_stemming_changes_nothing() -> None:
    reference, candidate = "large left effusion", "large effusion on left"
    expected = rouge_of_words(reference.split(), candidate.split())
    assert rouge_l([reference], [candidate])[0] == pytest.approx(expected)  # 2 * 2 / 7
    assert expected == pytest.approx(4 / 7)


def test_clusters_give_one_sentence_each_in_report_order() -> None:
    text = "No a. No b. A large clot is seen in this large vessel today. No c."
    found = ClusterExtractor(vectors, count=2).summarize([text, "Only one."])
    assert found[1] == "Only one."
    kept = sentences(found[0])
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


def test_nothing_to_learn_is_said() -> None:
    with pytest.raises(ModelError, match="no pairs"):
        SentenceSelector(vectors).fit([], pairs(2))
    single = [ReportPair(id="1", findings="A large clot.", impression="Clot.")]
    with pytest.raises(ModelError, match="every sentence is kept"):
        SentenceSelector(vectors).fit(single, single)
    with pytest.raises(ModelError, match="learned nothing"):
        SentenceSelector(vectors).summarize([TEXT])


@pytest.mark.parametrize("summarizer", [LeadSentences(), ClusterExtractor(vectors)], ids=["lead", "clusters"])
def test_bad_input_names_the_position(summarizer: Summarizer) -> None:
    with pytest.raises(ModelError, match="position 1 are empty"):
        summarizer.summarize([TEXT, "  "])
    with pytest.raises(ModelError, match="list of texts"):
        summarizer.summarize(TEXT)
    assert summarizer.summarize([]) == []


def test_no_sentences_are_refused() -> None:
    with pytest.raises(ModelError, match="count is 0"):
        LeadSentences(0)
    with pytest.raises(ModelError, match="most is 0"):
        SentenceSelector(vectors, most=0)


def test_vectors_and_impressions_are_as_many_as_they_should_be() -> None:
    with pytest.raises(ModelError, match="1 vectors of 3 sentences"):
        ClusterExtractor(lambda texts: vectors(texts)[:1]).summarize(["A clot. A mass. A cyst."])
    with pytest.raises(ModelError, match="1 findings and 0 impressions"):
        oracle([TEXT], [])
