"""MIMIC-III procedure selection: reasons for CT examinations with procedure codes (RaLEs, Appendix A)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.records import Document
from radeval_lib.data.restricted import mark

NAME = "mimic3_procedure"


def load(path: Path) -> list[Document]:
    """Documents of ``annotated_dataset.csv``: reason and code."""
    rows = reading.read_csv(path, ("ROW_ID", "indication", "procedure_label"))
    return reading.records(rows, _document, name="ROW_ID")


def _document(row: reading.Entry) -> Iterator[Document]:
    row_id, reason, code = row.whole("ROW_ID"), row.text("indication"), row.text("procedure_label")
    if not (reason and code):
        raise FormatError("a document needs an indication and a procedure_label", row.where)
    yield Document(str(row_id), mark(reason, NAME, True), label=code, patient=row.get("SUBJECT_ID", ""))
