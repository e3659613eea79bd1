"""Records check themselves, and IOB tags decode into spans."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radeval_lib.data import iob_tags
from radeval_lib.data.records import (
    AnnotatedSentence,
    Document,
    Entity,
    ErrorCount,
    FactRating,
    JudgedPair,
    NoteJudgement,
    RatedPair,
    Relation,
    Report,
    ReportPair,
    SystemReport,
    TextPair,
)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Report("", "a", "b"), "needs an id"),
        (lambda: ReportPair("1", "", "b"), "empty findings"),
        (lambda: ReportPair("1", "a", ""), "empty impression"),
        (lambda: Entity(2, 2, "A"), "empty or negative"),
        (lambda: Entity(-1, 2, "A"), "empty or negative"),
        (lambda: AnnotatedSentence("1", ()), "needs a token"),
        (lambda: AnnotatedSentence("1", ("a",), (Entity(0, 2, "A"),)), "leaves the sentence"),
        (
            lambda: AnnotatedSentence("1", ("a",), (Entity(0, 1, "A"),), (Relation(0, 1, "r"),)),
            "missing entity",
        ),
        (lambda: Relation(-1, 0, "r"), "negative index"),
        (lambda: Relation(0, 0, ""), "needs a label"),
        (lambda: SystemReport("1", "", "a"), "an id and a system"),
        (lambda: TextPair("1", "", "a", "b"), "an id and a case"),
        (lambda: RatedPair("", "a", "b", 1.0), "needs an id"),
        (lambda: RatedPair("1", "a", "b", float("nan")), "not a number"),
        (lambda: ErrorCount(0, "bleu", 1.5, "0", True, 1), "not 1 to 6"),  # type: ignore[arg-type]
        (lambda: ErrorCount(0, "bleu", 7, "0", True, 1), "not 1 to 6"),
        (lambda: ErrorCount(0, "bleu", 1, "0", True, -1), "negative"),
        (lambda: Document("", "a"), "needs an id"),
        (lambda: JudgedPair("1", "", "b"), "empty prompt"),
        (lambda: FactRating("1", "c", "a", "b", 1, 1, 1, 0, 0, 2, 3, 3), "3 common facts, but 2 in the ref"),
        (lambda: FactRating("1", "c", "a", "b", 1, 1, 1, 0, 0, 2, 3, -1), "-1 common facts"),
        (lambda: NoteJudgement("1", "g", "r", "a", "b", "c", (), (), -1.0), "a negative time"),
    ],
)
def test_record_refuses(make, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        ("O O", []),
        ("B-A I-A O", [(0, 2, "A")]),
        ("B-A B-A", [(0, 1, "A"), (1, 2, "A")]),
        ("I-A I-A", [(0, 2, "A")]),  # IOB1, or a stray I-
        ("B-A I-B", [(0, 1, "A"), (1, 2, "B")]),
        ("B-A I-A E-A S-B", [(0, 3, "A"), (3, 4, "B")]),
        ("S-A I-A", [(0, 1, "A"), (1, 2, "A")]),  # what is closed is not continued
        ("B-NON-A I-NON-A", [(0, 2, "NON-A")]),  # a label with a hyphen
    ],
)
def test_decode(tags: str, spans: list[tuple[int, int, str]]) -> None:
    assert [(one.start, one.end, one.label) for one in iob_tags.decode(tags.split())] == spans


@pytest.mark.parametrize("span", [(2, 5, "A"), (2, 2, "A"), (-2, 2, "A"), (3, 1, "A")])
def test_encode_refuses_spans_that_are_not_in_the_words(span: tuple[int, int, str]) -> None:
    assert iob_tags.encode([(1, 3, "A")], 4) == ["O", "B-A", "I-A", "O"]
    with pytest.raises(ValueError, match="is empty or leaves the 4 words"):
        iob_tags.encode([span], 4)


@pytest.mark.parametrize("tag", ["A", "X-A", "B-", ""])
def test_decode_refuses(tag: str) -> None:
    with pytest.raises(ValueError, match="not an IOB tag"):
        iob_tags.decode([tag])


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3), st.sampled_from(["A", "NON-A"])), max_size=8))
def test_labels_are_decoded_to_what_they_stand_for(pieces: list[tuple[int, int, str]]) -> None:
    position, entities = 0, []
    for gap, length, label in pieces:
        entities.append(Entity(position + gap, position + gap + length, label))
        position += gap + length
    labels = iob_tags.encode([(one.start, one.end, one.label) for one in entities], position)
    assert list(iob_tags.decode(labels)) == entities
