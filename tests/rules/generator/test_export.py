"""The forms in which reports and annotations leave the generator."""

from __future__ import annotations

from radeval_lib.data.generated import encode_iob, make_radgraph_record
from radeval_lib.rules.generator import (
    Denial,
    Statement,
    generate,
    tokenize,
)
from radeval_lib.rules.generator.grammar import realize
from radeval_lib.rules.generator.records import tokenize_sentences


def test_iob_by_hand() -> None:
    text = realize((Statement(0, Denial(("pleural_effusion", "pneumonia")), 0),), "hospital")
    assert text.text == "No pleural effusion or pneumonia."
    ((tokens, tags),) = encode_iob(text)
    assert tokens == ["No", "pleural", "effusion", "or", "pneumonia", "."]
    assert tags == ["O", "B-NON-ABNORMALITY", "I-NON-ABNORMALITY", "O", "B-NON-DISEASE", "O"]


def test_radgraph_by_hand() -> None:
    text = realize((Statement(0, Denial(("pleural_effusion",)), 0),), "hospital")
    assert make_radgraph_record(text) == {
        "text": "No pleural effusion .",
        "entities": {
            "1": {"tokens": "pleural", "label": "ANAT-DP", "start_ix": 1, "end_ix": 1, "relations": []},
            "2": {
                "tokens": "effusion",
                "label": "OBS-DA",
                "start_ix": 2,
                "end_ix": 2,
                "relations": [["located_at", "1"]],
            },
        },
        "data_source": "synthetic",
        "data_split": "inference",
    }


def test_token_level_gold_matches_the_spans() -> None:
    for report in generate(300, 1):
        text = report.findings
        sentences = list(tokenize_sentences(text))
        assert [token for tokens, _ in sentences for token in tokens] == list(tokenize(text.text))
        spans = [" ".join(tokens[a : b + 1]) for tokens, result in sentences for a, b, _ in result]
        assert spans == [" ".join(tokenize(entity.text)) for entity in text.entities]
        begun = sum(tag.startswith("B-") for _, tags in encode_iob(text) for tag in tags)
        assert begun == len(text.entities)
