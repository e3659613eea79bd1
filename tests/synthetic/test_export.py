"""The forms in which reports and annotations leave the generator."""

from __future__ import annotations

import io
import json
from pathlib import Path

from radeval_lib.synthetic import (
    Denial,
    Statement,
    generate,
    iob,
    json_line,
    radgraph_json,
    span_document,
    tokenize,
    write_jsonl,
)
from radeval_lib.synthetic.grammar import realize


def test_iob_by_hand() -> None:
    text = realize((Statement(0, Denial(("pleural_effusion", "pneumonia")), 0),), "hospital")
    assert text.text == "No pleural effusion or pneumonia."
    ((tokens, tags),) = iob(text)
    assert tokens == ["No", "pleural", "effusion", "or", "pneumonia", "."]
    assert tags == ["O", "B-NON-ABNORMALITY", "I-NON-ABNORMALITY", "O", "B-NON-DISEASE", "O"]


def test_radgraph_by_hand() -> None:
    text = realize((Statement(0, Denial(("pleural_effusion",)), 0),), "hospital")
    assert radgraph_json(text) == {
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
        document = span_document(report.report_id, text)
        tokens = [token for sentence in document["sentences"] for token in sentence]
        assert tokens == list(tokenize(text.text))
        spans = [" ".join(tokens[a : b + 1]) for sentence in document["ner"] for a, b, _ in sentence]
        assert spans == [" ".join(tokenize(entity.text)) for entity in text.entities]
        begun = sum(tag.startswith("B-") for _, tags in iob(text) for tag in tags)
        assert begun == len(text.entities)


def test_json_lines(tmp_path: Path) -> None:
    target = tmp_path / "reports.jsonl"
    assert write_jsonl(generate(20, 2), target) == 20
    lines = target.read_bytes().split(b"\n")
    assert lines[-1] == b""
    assert len(lines) == 21
    first = json.loads(lines[0])
    assert first["report_id"] == "s2-00000000"
    for section in ("findings", "impression"):
        for entity in first[section]["entities"]:
            assert first[section]["text"][entity["start"] : entity["end"]] == entity["text"]
    stream = io.StringIO()
    write_jsonl(generate(20, 2), stream)
    assert stream.getvalue().encode() == target.read_bytes()


def test_lines_have_no_line_ends() -> None:
    assert all("\n" not in json_line(report) for report in generate(50, 3))
