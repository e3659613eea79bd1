"""What must hold of every annotated text, whatever made it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from radeval_lib.categories import RATE_TYPES
from radeval_lib.data.generated import make_radgraph_record
from radeval_lib.data.radgraph import ENTITY_LABELS
from radeval_lib.rules.generator import (
    AnnotatedText,
    Denial,
    Normal,
    PlannedFinding,
    Remark,
    SyntheticReport,
    tokenize,
)

LONGEST_SPAN = 8  # words; the span scheme of RaTEScore looks at no longer ones (Zhao et al. 2024, A.9)


def check_text(text: AnnotatedText) -> None:
    """Spans equal their text, tokens their positions, relations join existing entities of the right kinds."""
    _check_sentences(text)
    _check_entities(text)
    _check_radgraph(text)
    for role in text.roles:
        for span in (role.indicator, role.trajector, role.landmark, role.diagnosis, role.hedge):
            if span is not None:
                assert text.text[span[0] : span[1]].strip()
        assert _sentence_of(text, role.indicator) == _sentence_of(text, role.landmark)
        assert any((e.start, e.end) == role.landmark and e.label == "Anatomy" for e in text.entities)
        assert any((e.start, e.end) == role.trajector for e in text.entities)


def _check_sentences(text: AnnotatedText) -> None:
    assert text.sentences, "no sentence"
    assert text.sentences[0].start == 0
    assert text.sentences[-1].end == len(text.text)
    for first, two in zip(text.sentences, text.sentences[1:], strict=False):
        assert text.text[first.end : two.start] == " "
    for sentence in text.sentences:
        texts = text.text[sentence.start : sentence.end]
        assert texts[0].isupper() or texts[0].isdigit(), texts
        assert texts.endswith("."), texts
        assert sentence.statements
        assert "  " not in texts, texts
        assert " ," not in texts, texts


def _check_entities(text: AnnotatedText) -> None:
    end = 0
    for entity in text.entities:
        assert text.text[entity.start : entity.end] == entity.text
        assert entity.label in RATE_TYPES
        assert entity.start >= end, "RaTE entities overlap or are out of order"
        assert 1 <= len(entity.text.split()) <= LONGEST_SPAN, entity.text
        assert _sentence_of(text, (entity.start, entity.end))
        end = entity.end


def _check_radgraph(text: AnnotatedText) -> None:
    tokens = tokenize(text.text)
    last = -1
    for number, entity in enumerate(text.radgraph, start=1):
        assert " ".join(tokens[entity.start_ix : entity.end_ix + 1]) == entity.tokens
        assert " ".join(tokenize(text.text[entity.start : entity.end])) == entity.tokens
        assert entity.label in ENTITY_LABELS
        assert entity.start_ix > last, "RadGraph entities overlap or are out of order"
        last = entity.end_ix
        for name, target in entity.relations:
            assert name in ("modify", "located_at", "suggestive_of")
            assert 1 <= int(target) <= len(text.radgraph)
            assert int(target) != number
            kinds = entity.label[:4], text.radgraph[int(target) - 1].label[:4]
            expected = {
                "modify": {("ANAT", "ANAT"), ("OBS-", "OBS-")},
                "located_at": {("OBS-", "ANAT")},
                "suggestive_of": {("OBS-", "OBS-")},
            }
            assert kinds in expected[name], (entity, text.radgraph[int(target) - 1])


def _sentence_of(text: AnnotatedText, span: tuple[int, int]) -> int:
    """Return the 1-based number of the sentence that holds the span."""
    for number, sentence in enumerate(text.sentences, start=1):
        if sentence.start <= span[0] and span[1] <= sentence.end:
            return number
    raise AssertionError(f"span {span} is in no sentence")


_KINDS = {PlannedFinding: "finding", Denial: "denial", Normal: "normal", Remark: "remark"}


def json_line(report: SyntheticReport) -> str:
    """Return a report with its meaning and gold as one line of JSON, but for the wording's bits."""
    plain = {key: getattr(report, key) for key in report.__slots__ if key != "wording_seed"}
    plain |= {
        "findings": _section(report.findings),
        "impression": _section(report.impression),
        "chexpert": dict(report.chexpert),
        "plan": [{"uid": s.uid, "kind": _KINDS[type(s.content)], **asdict(s.content)} for s in report.plan],
    }
    order = [key for key in plain if key != "plan"] + ["plan"]
    return json.dumps({key: plain[key] for key in order}, ensure_ascii=False, separators=(",", ":"))


def _section(text: AnnotatedText) -> dict[str, Any]:
    return {
        "text": text.text,
        "sentences": [asdict(sentence) for sentence in text.sentences],
        "entities": [asdict(entity) for entity in text.entities],
        "radgraph": make_radgraph_record(text),
        "roles": [asdict(role) for role in text.roles],
    }
