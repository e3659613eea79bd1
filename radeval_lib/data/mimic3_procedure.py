"""Procedure selection from MIMIC-III's CT reports: the procedure code for a reason (RaLEs, Appendix A).

The authors mapped titles to codes by hand and did not publish the mapping; :func:`title_counts` lists the
titles for those who make their own.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.manifests import load_manifest
from radeval_lib.data.mimic3_rrs import radiology_notes
from radeval_lib.data.readers import Find
from radeval_lib.data.records import Document
from radeval_lib.data.restricted import mark, reveal

NAME = "mimic3_procedure"
RARE = 100  # codes with fewer reports become OTHER (Appendix A; not in the released code)
OTHER = "Other"
SEED = 28102022  # of both draws of the split, so that it is the same wherever it is made
_FEWEST = 5  # documents of a code: one each for development and testing, and three for training

# Headings of the section with the reason, in order of preference, each with the marker that ends it.
_RULE = "__________"
_SECTIONS = (
    ("MEDICAL CONDITION", _RULE),
    ("CLINICAL INFORMATION & QUESTIONS TO BE ANSWERED", _RULE),
    ("INDICATION", "COMPARISON"),
    ("HISTORY", "TECHNIQUE"),
)
# As in the released code, the reason ends with its line; the other markers count only without a line break.
_AFTER_REASON = ("\n", "Admitting Diagnosis:", "Field", "____")
_HEADER_ENDS = ("_____", "Reason:", "Admitting Diagnosis:", "Field of view:")


def indication(text: str) -> str:
    """Return a report's reason for the examination; empty if it gives none."""
    _, heading, after = text.partition("Reason:")
    if heading:
        marker = next((marker for marker in _AFTER_REASON if marker in after), None)
        return (after.partition(marker)[0] if marker else after).strip()
    for header, end_marker in _SECTIONS:
        _, heading, after = text.partition(header)
        if heading:
            return re.sub(r"^\s*(\(S\))?\s*:?\s*", "", after.partition(end_marker)[0]).strip()
    return ""


def titles(text: str) -> frozenset[str]:
    """Return the procedure titles in the report's header: pieces that begin with CT and contain no digit."""
    begin = text.find("CT")
    if begin < 0:
        return frozenset()
    end = min((at for marker in _HEADER_ENDS if (at := text.find(marker, begin)) >= 0), default=None)
    header = text[begin:end].replace("Clip #", "")
    pieces = map(str.strip, re.split(r";|\n|\s{2,}|\t+", re.sub(r"\[\*\*.*?\*\*\]", ";", header)))
    return frozenset(piece for piece in pieces if piece.startswith("CT") and not re.search(r"\d", piece))


def load(path: Path) -> list[Document]:
    """Return the documents of ``annotated_dataset.csv``, each a reason with its code."""

    def document(row: reading.Entry) -> Document:
        reason, code = (row.take(name, reading.Filled) for name in ("indication", "procedure_label"))
        name, patient = str(row.take("ROW_ID", reading.Count)), row.get("SUBJECT_ID", "")
        return Document(name, mark(reason, NAME, True), label=code, patient=patient)

    return reading.records(
        reading.read_csv(path, ("ROW_ID", "indication", "procedure_label")), document, name="ROW_ID"
    )


def load_mapping(path: Path) -> dict[frozenset[str], str]:
    """Return the code of each set of titles, from a CSV with the columns ``procedure_titles`` (a Python list)
    and ``LOINC_NUM``."""

    def mapped(row: reading.Entry) -> tuple[frozenset[str], str]:
        try:
            listed = ast.literal_eval(row["procedure_titles"])
        except (ValueError, SyntaxError):
            raise FormatError("procedure_titles must be a list", row.where, "Write a Python list.") from None
        code = row.take("LOINC_NUM", reading.Filled)
        return frozenset(reading.value(listed, list[str], "procedure_titles", row.where)), code

    columns = ("procedure_titles", "LOINC_NUM")
    return dict(reading.records(reading.read_csv(path, columns), mapped, itemgetter(0), "procedure_titles"))


def title_counts(notes: Iterable[Document]) -> Counter[frozenset[str]]:
    """Return the number of CT reports with a reason, for each set of titles that a mapping must cover."""
    texts = (reveal(note.text) for note in notes if note.label.startswith("CT"))
    return Counter(named for text in texts if (named := titles(text)) and indication(text))


def build(
    notes: Iterable[Document], mapping: Mapping[frozenset[str], str], rare: int = RARE
) -> list[Document]:
    """Return the reason and procedure code of the CT reports that have both. Codes of fewer than ``rare``
    reports become :data:`OTHER`."""
    documents = []
    for note in (note for note in notes if note.label.startswith("CT")):
        text = reveal(note.text)
        reason, code = indication(text), mapping.get(titles(text))
        if reason and code:
            documents.append(Document(note.id, mark(reason, NAME, True), label=code, patient=note.patient))
    frequency = Counter(document.label for document in documents)
    return [
        replace(document, label=document.label if frequency[document.label] >= rare else OTHER)
        for document in documents
    ]


def report_split(documents: Sequence[Document]) -> list[Document]:
    """Return the paper's split: 60/20/20 by report, stratified by code. A patient may be in several
    splits."""
    from sklearn.model_selection import train_test_split

    if not documents:
        return []
    if (count := min(Counter(document.label for document in documents).values())) < _FEWEST:
        raise FormatError(
            f"a code has {count} documents, too few for a split by code",
            "annotated_dataset.csv, or the mapping of titles",
            f"Merge codes of fewer than {_FEWEST} documents into {OTHER!r}.",
        )
    labels = [document.label for document in documents]
    rest, test = train_test_split(list(documents), test_size=0.2, random_state=SEED, stratify=labels)
    labels = [document.label for document in rest]
    train, dev = train_test_split(rest, test_size=0.25, random_state=SEED, stratify=labels)
    parts = {"train": train, "dev": dev, "test": test}
    return [replace(document, split=name) for name, part in parts.items() for document in part]


def read(find: Find) -> list[Document]:
    """Return the documents of ``annotated_dataset.csv``, else of the notes, with the paper's split."""
    events, mapping, built = (find(file.path) for file in load_manifest(NAME).files)
    if built:
        return report_split(load(built))
    if not (events and mapping):
        return []
    return report_split(build(radiology_notes(events), load_mapping(mapping)))
