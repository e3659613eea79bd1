"""Records check themselves, and IOB tags decode into spans."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from radeval_lib.data import iob_tags
from radeval_lib.data.records import (
    AnnotatedSentence,
    Entity,
    ErrorCount,
    RatedPair,
    Relation,
    Report,
    ReportPair,
)
from radeval_lib.data.restricted import RestrictedText


@pytest.mark.parametrize(
    "make",
    [
        lambda: Report("", "a", "b"),
        lambda: ReportPair("1", "a", RestrictedText("", "x")),
        lambda: Entity(2, 2, "A"),
        lambda: AnnotatedSentence("1", ()),
        lambda: AnnotatedSentence("1", ("a",), (Entity(0, 2, "A"),)),
        lambda: AnnotatedSentence("1", ("a",), (Entity(0, 1, "A"),), (Relation(0, 1, "r"),)),
        lambda: RatedPair("1", "a", "b", float("nan")),
        lambda: ErrorCount(0, "bleu", 7, "0", True, 1),
    ],
)
def test_record_refuses(make: Callable[[], object]) -> None:
    with pytest.raises(ValueError):
        make()


def test_no_error_of_a_record_repeats_its_text() -> None:
    with pytest.raises(ValidationError) as caught:
        RatedPair("", "spiculated", ["spiculated"], "spiculated", scale=1)  # type: ignore[arg-type]
    assert "spiculated" not in str(caught.value)


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
    assert [(entity.start, entity.end, entity.label) for entity in iob_tags.decode(tags.split())] == spans


@pytest.mark.parametrize("span", [(2, 5, "A"), (2, 2, "A"), (-2, 2, "A"), (3, 1, "A")])
def test_encode_refuses_spans_that_are_not_in_the_words(span: tuple[int, int, str]) -> None:
    assert iob_tags.encode([(1, 3, "A")], 4) == ["O", "B-A", "I-A", "O"]
    with pytest.raises(ValueError):
        iob_tags.encode([span], 4)


@pytest.mark.parametrize("tag", ["A", "X-A", "B-", ""])
def test_decode_refuses(tag: str) -> None:
    with pytest.raises(ValueError):
        iob_tags.decode([tag])


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3), st.sampled_from(["A", "NON-A"])), max_size=8))
def test_labels_are_decoded_to_what_they_stand_for(pieces: list[tuple[int, int, str]]) -> None:
    position, entities = 0, []
    for gap, length, label in pieces:
        entities.append(Entity(position + gap, position + gap + length, label))
        position += gap + length
    labels = iob_tags.encode([(entity.start, entity.end, entity.label) for entity in entities], position)
    assert list(iob_tags.decode(labels)) == entities
