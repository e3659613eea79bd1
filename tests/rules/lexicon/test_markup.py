"""The lexicon's markup and the tokens; every expected value worked out by hand."""

from __future__ import annotations

import pytest

from radeval_lib.errors import LexiconError
from radeval_lib.rules.generator.builder import build_size_phrase, choose_article
from radeval_lib.rules.lexicon.entries import parse_name, parse_sentence, tokenize
from radeval_lib.rules.lexicon.loading import pluralize


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        # hyphen and semicolon do not split, decimals and slashes do (released RadGraph pre-tokenisation)
        ("L4-L5; 2.5 cm", ["L4-L5;", "2", ".", "5", "cm"]),
        ("T2/FLAIR (new).", ["T2", "/", "FLAIR", "(", "new", ")", "."]),
        ("a, b: c!", ["a", ",", "b", ":", "c", "!"]),
        ("", []),
    ],
)
def test_tokens(text: str, tokens: list[str]) -> None:
    assert list(tokenize(text)) == tokens


def test_name_with_anatomy() -> None:
    phrase = parse_name("{pleural} effusion")
    assert phrase.text == "pleural effusion"
    assert [(m.tokens, m.label) for m in phrase.marks] == [("pleural", "ANAT-DP"), ("effusion", "")]
    assert phrase.relations == ((1, "located_at", 0),)


def test_name_head_and_function_words() -> None:
    phrase = parse_name("*loss of the {disc} height")
    assert [m.tokens for m in phrase.marks] == ["loss", "disc", "height"]
    assert phrase.relations == ((2, "modify", 0), (0, "located_at", 1))


def test_joined_words_are_one_entity() -> None:
    phrase = parse_name("within_normal_limits")
    assert [(m.tokens, m.first, m.last) for m in phrase.marks] == [("within normal limits", 0, 2)]


@pytest.mark.parametrize(
    "bad",
    [
        *("{pleural effusion", "pleural} effusion", "{pleural {space} effusion}", "{pleural}} effusion"),
        *("*loss of disc *height", "<pleural> effusion", "@ effusion", "of the", ""),
    ],
)
def test_broken_markup_is_refused(bad: str) -> None:
    with pytest.raises(LexiconError, match="phrase"):
        parse_name(bad)


@pytest.mark.parametrize(
    "bad", ["the <lungs are (clear)", "the <lungs> are (clear", "the lungs> are (clear)", "no ~effusion", ""]
)
def test_a_sentence_with_broken_markup_is_refused(bad: str) -> None:
    with pytest.raises(LexiconError, match="sentence"):
        parse_sentence(bad)


def test_sentence_of_normality() -> None:
    phrase = parse_sentence("the <heart> and <mediastinum> are (normal)")
    assert phrase.text == "The heart and mediastinum are normal"
    assert [phrase.text[a:b] + "/" + label for a, b, label in phrase.spans] == [
        "heart/Anatomy",
        "mediastinum/Anatomy",
        "normal/Non-Abnormality",
    ]
    assert phrase.relations == ((2, "located_at", 0), (2, "located_at", 1))


def test_state_before_its_anatomy_and_denied_words() -> None:
    phrase = parse_sentence("(clear) <lungs> but no ~d:{pulmonary} embolism~")
    assert [label for _, _, label in phrase.spans] == ["Non-Abnormality", "Anatomy", "Non-Disease"]
    assert [(m.tokens, m.label) for m in phrase.marks] == [
        ("Clear", "OBS-DP"),
        ("lungs", "ANAT-DP"),
        ("pulmonary", "ANAT-DP"),
        ("embolism", "OBS-DA"),
    ]
    assert phrase.relations == ((0, "located_at", 1), (3, "located_at", 2))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("opacity", "an"),
        ("unilateral effusion", "a"),
        ("8 mm nodule", "an"),
        ("18 mm nodule", "an"),
        ("1.2 cm nodule", "a"),
        ("NG tube", "an"),
        ("ureteral stone", "a"),
    ],
)
def test_article_follows_the_sound(text: str, expected: str) -> None:
    assert choose_article(text) == expected


@pytest.mark.parametrize(
    ("item", "many"),
    [
        ("effusion", "effusions"),
        ("opacity", "opacities"),
        ("mass", "masses"),
        ("pneumothorax", "pneumothoraces"),
        ("thrombus", "thrombi"),
        ("bladder diverticulum", "bladder diverticula"),
    ],
)
def test_plural(item: str, many: str) -> None:
    assert pluralize(item) == many


def test_sizes() -> None:
    assert build_size_phrase((8,), False).text == "8 mm"
    assert build_size_phrase((23, 18), True).text == "2.3 x 1.8 cm"
    assert build_size_phrase((20,), True).text == "2 cm"
    assert len(build_size_phrase((23, 18), True).marks) == 1
