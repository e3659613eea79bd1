"""MIMIC-III procedure selection: reasons for CT examinations with procedure codes (RaLEs, Appendix A)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.records import Document
from radeval_lib.data.restricted import mark

NAME = "mimic3_procedure"
COLUMNS = ("ROW_ID", "indication", "procedure_label")


def load(path: Path, split: str = "") -> list[Document]:
    """Documents of ``annotated_dataset.csv`` or ``mimiciii_ct_procedure_<split>.csv``: reason and code."""
    return reading.unique(_documents(path, split), lambda document: document.id, "ROW_ID")


def _documents(path: Path, split: str) -> Iterator[tuple[str, Document]]:
    for line, row in reading.read_csv(path, COLUMNS):
        where = f"{path.name}, line {line}"
        row_id = reading.whole(row["ROW_ID"], "ROW_ID", where)
        if not row["indication"].strip() or not row["procedure_label"].strip():
            raise FormatError("a document needs an indication and a procedure_label", where)
        yield (
            where,
            Document(
                id=str(row_id),
                text=mark(row["indication"].strip(), NAME, True),
                label=row["procedure_label"].strip(),
                patient=row.get("SUBJECT_ID", ""),
                split=split,
            ),
        )


def counts(documents: Sequence[Document]) -> dict[str, int]:
    """Documents and patients by split, and classes, named as in the manifest's printed counts."""
    result = {"documents": len(documents), "classes": len({document.label for document in documents})}
    for split in sorted({document.split for document in documents} - {""}):
        chosen = [document for document in documents if document.split == split]
        result[f"{split}, samples"] = len(chosen)
        if patients := {document.patient for document in chosen} - {""}:
            result[f"{split}, patients"] = len(patients)
    return result
