"""Procedure selection from MIMIC-III's CT reports: reason for examination -> procedure code (RaLEs, App. A).

The codes rest on a mapping that was made by hand and is not public, so the authors' documents are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.readers import Find, Reader
from radeval_lib.data.records import Document
from radeval_lib.data.restricted import mark

NAME = "mimic3_procedure"
SEED = 28102022  # of both draws of the split, so that it is the same wherever it is made
_FEWEST = 5  # one document each for development and testing, and three for training


def load(path: Path) -> list[Document]:
    """Return documents of ``annotated_dataset.csv``: reason and code."""
    rows = reading.read_csv(path, ("ROW_ID", "indication", "procedure_label"))
    return reading.records(rows, _document, name="ROW_ID")


def _document(row: reading.Entry) -> Iterator[Document]:
    row_id, reason, code = (
        row.take("ROW_ID", reading.Count),
        row.text("indication"),
        row.text("procedure_label"),
    )
    if not (reason and code):
        raise FormatError("a document needs an indication and a procedure_label", row.where)
    yield Document(str(row_id), mark(reason, NAME, True), label=code, patient=row.get("SUBJECT_ID", ""))


def report_split(documents: Sequence[Document]) -> list[Document]:
    """Return the paper's split: 60/20/20 by report, stratified by code; patients may stand in several
    splits."""
    from sklearn.model_selection import train_test_split

    if (count := min(Counter(document.label for document in documents).values())) < _FEWEST:
        raise FormatError(
            f"a code has {count} documents, too few for a split by code",
            "annotated_dataset.csv",
            f"Merge codes of fewer than {_FEWEST} documents into one.",
        )
    labels = [document.label for document in documents]
    rest, test = train_test_split(list(documents), test_size=0.2, random_state=SEED, stratify=labels)
    labels = [document.label for document in rest]
    train, dev = train_test_split(rest, test_size=0.25, random_state=SEED, stratify=labels)
    parts = {"train": train, "dev": dev, "test": test}
    return [replace(document, split=name) for name, part in parts.items() for document in part]


def _read(find: Find) -> list[Document]:
    """Return the documents with the paper's split."""
    path = find("annotated_dataset.csv")
    return report_split(load(path)) if path else []


READER = Reader(
    _read,
    lambda records: {"documents": len(records), "classes": len({record.label for record in records})},
)
