"""Procedure selection from MIMIC-III's CT reports: reasons for examinations with procedure codes.

Source: RaLEs, Appendix A. The authors mapped procedure titles to codes by hand and did not publish the
mapping. :func:`count_titles` lists the titles that your mapping must cover.
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
from radeval_lib.data.mimic3_rrs import read_radiology_notes
from radeval_lib.data.readers import Find
from radeval_lib.data.records import Document
from radeval_lib.data.restricted import mark_restricted, reveal

NAME = "mimic3_procedure"
MIN_REPORTS = 100  # codes with fewer reports become OTHER (Appendix A; not in the released code)
OTHER = "Other"
SEED = 28102022  # of both random splits, so that they are the same on every machine
_MIN_DOCUMENTS = 5  # documents per code: one each for development and testing, and three for training

# Headings of the section with the reason, in order of preference, each with the marker that ends it.
_RULE = "__________"
_SECTIONS = (
    ("MEDICAL CONDITION", _RULE),
    ("CLINICAL INFORMATION & QUESTIONS TO BE ANSWERED", _RULE),
    ("INDICATION", "COMPARISON"),
    ("HISTORY", "TECHNIQUE"),
)
# As in the released code, the reason ends at the line break; the other markers count only if there is none.
_AFTER_REASON = ("\n", "Admitting Diagnosis:", "Field", "____")
_HEADER_ENDS = ("_____", "Reason:", "Admitting Diagnosis:", "Field of view:")


def find_reason(text: str) -> str:
    """Return the reason for the examination from the text of a report; empty if the report gives none.

    The reason is the text after ``Reason:``, else the first section with a heading in :data:`_SECTIONS`.
    """
    _, heading, rest = text.partition("Reason:")
    if heading:
        marker = next((marker for marker in _AFTER_REASON if marker in rest), None)
        return (rest.partition(marker)[0] if marker else rest).strip()
    for header, end_marker in _SECTIONS:
        _, heading, rest = text.partition(header)
        if heading:
            return re.sub(r"^\s*(\(S\))?\s*:?\s*", "", rest.partition(end_marker)[0]).strip()
    return ""


def find_titles(text: str) -> frozenset[str]:
    """Return the procedure titles in a report's header: its pieces that begin with CT and contain no digit.

    The set is empty if the text does not contain ``CT``.
    """
    begin = text.find("CT")
    if begin < 0:
        return frozenset()
    end = min((end for marker in _HEADER_ENDS if (end := text.find(marker, begin)) >= 0), default=None)
    header = text[begin:end].replace("Clip #", "")
    pieces = map(str.strip, re.split(r";|\n|\s{2,}|\t+", re.sub(r"\[\*\*.*?\*\*\]", ";", header)))
    return frozenset(piece for piece in pieces if piece.startswith("CT") and not re.search(r"\d", piece))


def load(path: Path) -> list[Document]:
    """Return the documents of ``annotated_dataset.csv``: a reason as text, its procedure code as label.

    Raises
    ------
    FormatError
        If a column is missing, a reason or code is empty, or a ``ROW_ID`` is not a number or repeated.
    """

    def parse_document(row: reading.Entry) -> Document:
        reason, code = (row.take(name, reading.Filled) for name in ("indication", "procedure_label"))
        name, patient = str(row.take("ROW_ID", reading.Count)), row.get("SUBJECT_ID", "")
        return Document(name, mark_restricted(reason, NAME), label=code, patient=patient)

    return reading.parse_records(
        reading.read_csv(path, ("ROW_ID", "indication", "procedure_label")), parse_document, name="ROW_ID"
    )


def load_mapping(path: Path) -> dict[frozenset[str], str]:
    """Return a mapping from sets of procedure titles to procedure codes (LOINC), read from a CSV file.

    The file has the columns ``procedure_titles`` (a Python list of strings) and ``LOINC_NUM``.

    Raises
    ------
    FormatError
        If a column is missing, titles are not a list of strings, a code is empty, or a set of titles is
        repeated.
    """

    def parse_row(row: reading.Entry) -> tuple[frozenset[str], str]:
        try:
            titles_in_row = ast.literal_eval(row["procedure_titles"])
        except (ValueError, SyntaxError):
            remedy = "Write a Python list of strings, such as ['CT HEAD W/O CONTRAST']."
            raise FormatError("procedure_titles is not a list", row.where, remedy) from None
        code = row.take("LOINC_NUM", reading.Filled)
        return frozenset(reading.convert_value(titles_in_row, list[str], "procedure_titles", row.where)), code

    rows = reading.read_csv(path, ("procedure_titles", "LOINC_NUM"))
    return dict(reading.parse_records(rows, parse_row, itemgetter(0), "procedure_titles"))


def count_titles(notes: Iterable[Document]) -> Counter[frozenset[str]]:
    """Return, for each set of procedure titles, the number of CT reports with these titles and a reason.

    ``notes`` are those of :func:`~radeval_lib.data.mimic3_rrs.read_radiology_notes`. A mapping must cover all
    sets.
    """
    texts = (reveal(note.text) for note in notes if note.label.startswith("CT"))
    return Counter(titles for text in texts if (titles := find_titles(text)) and find_reason(text))


def build_documents(
    notes: Iterable[Document], mapping: Mapping[frozenset[str], str], min_reports: int = MIN_REPORTS
) -> list[Document]:
    """Return one document for each CT report with a reason and a code: the reason as text, the code as label.

    ``mapping`` has the code of each set of titles. Codes of fewer than ``min_reports`` reports become
    :data:`OTHER`.
    """
    documents = []
    for note in (note for note in notes if note.label.startswith("CT")):
        text = reveal(note.text)
        reason, code = mark_restricted(find_reason(text), NAME), mapping.get(find_titles(text))
        if len(reason) and code:
            documents.append(Document(note.id, reason, label=code, patient=note.patient))
    frequency = Counter(document.label for document in documents)
    return [
        replace(document, label=document.label if frequency[document.label] >= min_reports else OTHER)
        for document in documents
    ]


def assign_splits(documents: Sequence[Document]) -> list[Document]:
    """Return the documents with the paper's split: 60% ``train``, 20% ``dev`` and 20% ``test``.

    Reports are drawn at random within each code, so a patient may be in several splits.

    Raises
    ------
    FormatError
        If a code has fewer than five documents.
    """
    from sklearn.model_selection import train_test_split

    if not documents:
        return []
    if (count := min(Counter(document.label for document in documents).values())) < _MIN_DOCUMENTS:
        raise FormatError(
            f"a procedure code has {count} documents; a split within codes needs {_MIN_DOCUMENTS}",
            "annotated_dataset.csv, or the mapping of titles",
            f"Replace codes of fewer than {_MIN_DOCUMENTS} documents with {OTHER!r}, or leave them out.",
        )
    labels = [document.label for document in documents]
    not_test, test = train_test_split(list(documents), test_size=0.2, random_state=SEED, stratify=labels)
    labels = [document.label for document in not_test]
    train, dev = train_test_split(not_test, test_size=0.25, random_state=SEED, stratify=labels)
    parts = {"train": train, "dev": dev, "test": test}
    return [replace(document, split=name) for name, part in parts.items() for document in part]


def read(find: Find) -> list[Document]:
    """Return the documents with the paper's split, from ``annotated_dataset.csv`` if the file exists.

    Otherwise, the documents are made from MIMIC-III's notes and a mapping of titles; if either is absent, the
    list is empty.
    """
    notes_path, mapping_path, documents_path = (find(file.path) for file in load_manifest(NAME).files)
    if documents_path:
        return assign_splits(load(documents_path))
    if not (notes_path and mapping_path):
        return []
    return assign_splits(build_documents(read_radiology_notes(notes_path), load_mapping(mapping_path)))
