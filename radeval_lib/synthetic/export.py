"""Reports as JSON lines; annotations as IOB (RaTE-NER), spans (PURE, DyGIE++) and RadGraph JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from radeval_lib.lexicon.markup import tokenize
from radeval_lib.synthetic.records import (
    AnnotatedText,
    Denial,
    Normal,
    PlannedFinding,
    Remark,
    SyntheticReport,
)

_KINDS = {PlannedFinding: "finding", Denial: "denial", Normal: "normal", Remark: "remark"}


def radgraph_json(text: AnnotatedText, split: str = "inference") -> dict[str, Any]:
    """RadGraph's form: tokens joined by blanks, entities by 1-based id, inclusive token positions."""
    return {
        "text": " ".join(tokenize(text.text)),
        "entities": {
            str(number): {
                "tokens": entity.tokens,
                "label": entity.label,
                "start_ix": entity.start_ix,
                "end_ix": entity.end_ix,
                "relations": [list(relation) for relation in entity.relations],
            }
            for number, entity in enumerate(text.radgraph, start=1)
        },
        "data_source": "synthetic",
        "data_split": split,
    }


def sentence_tokens(text: AnnotatedText) -> Iterator[tuple[list[str], list[tuple[int, int, str]]]]:
    """Each sentence's tokens, and its RaTE entities as (first token, last token, type)."""
    for sentence in text.sentences:
        tokens: list[str] = []
        starts: dict[int, int] = {}
        ends: dict[int, int] = {}
        at = sentence.start
        for token in tokenize(text.text[sentence.start : sentence.end]):
            at = text.text.index(token, at)
            starts[at], ends[at + len(token)] = len(tokens), len(tokens)
            tokens.append(token)
            at += len(token)
        inside = (e for e in text.entities if sentence.start <= e.start < sentence.end)
        yield tokens, [(starts[e.start], ends[e.end], e.label) for e in inside]


def iob(text: AnnotatedText) -> Iterator[tuple[list[str], list[str]]]:
    """Each sentence's tokens and IOB tags, types in capitals as in RaTE-NER ("B-NON-ABNORMALITY")."""
    for tokens, entities in sentence_tokens(text):
        tags = ["O"] * len(tokens)
        for first, last, label in entities:
            tags[first] = f"B-{label.upper()}"
            for index in range(first + 1, last + 1):
                tags[index] = f"I-{label.upper()}"
        yield tokens, tags


def span_document(key: str, text: AnnotatedText) -> dict[str, Any]:
    """PURE's and DyGIE++'s form: sentences of tokens, entities by inclusive positions in the document."""
    sentences, ner, offset = [], [], 0
    for tokens, entities in sentence_tokens(text):
        sentences.append(tokens)
        ner.append([[first + offset, last + offset, label.upper()] for first, last, label in entities])
        offset += len(tokens)
    return {"doc_key": key, "sentences": sentences, "ner": ner, "relations": [[] for _ in sentences]}


def section_json(text: AnnotatedText) -> dict[str, Any]:
    """A section with all of its annotations."""
    return {
        "text": text.text,
        "sentences": [asdict(sentence) for sentence in text.sentences],
        "entities": [asdict(entity) for entity in text.entities],
        "radgraph": radgraph_json(text),
        "roles": [asdict(role) for role in text.roles],
    }


def report_json(report: SyntheticReport) -> dict[str, Any]:
    """A report with its meaning and gold, ready for JSON; the wording's bits are left out."""
    return {
        "report_id": report.report_id,
        "style": report.style,
        "modality": report.modality,
        "anatomy": report.anatomy,
        "sex": report.sex,
        "age": report.age,
        "procedure": report.procedure,
        "procedure_title": report.procedure_title,
        "indication": report.indication,
        "comparison": report.comparison,
        "technique": report.technique,
        "findings": section_json(report.findings),
        "impression": section_json(report.impression),
        "chexpert": dict(report.chexpert),
        "plan": [{"uid": s.uid, "kind": _KINDS[type(s.content)], **asdict(s.content)} for s in report.plan],
    }


def json_line(report: SyntheticReport) -> str:
    """One line of JSON, keys in a fixed order, without a line end."""
    return json.dumps(report_json(report), ensure_ascii=False, separators=(",", ":"))


def write_jsonl(reports: Iterable[SyntheticReport], target: Path | TextIO) -> int:
    """Write one report a line (UTF-8, LF) and return how many; memory use does not grow with their number."""
    if isinstance(target, Path):
        with target.open("w", encoding="utf-8", newline="\n") as stream:
            return write_jsonl(reports, stream)
    count = 0
    for report in reports:
        target.write(json_line(report) + "\n")
        count += 1
    return count
