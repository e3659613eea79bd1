"""MTSamples: medical transcriptions of many specialties, each with a description, as redistributed in CSV."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.readers import Find
from radeval_lib.data.recorded import Recording
from radeval_lib.data.records import Document
from radeval_lib.placeholders import placeholder

COLUMNS = ("description", "medical_specialty", "sample_name", "transcription", "keywords")


def load(path: Path, *, partial: bool = False) -> list[Document]:
    """Return transcriptions in the file's order; the description is the summary and the specialty the group.

    Rows without a transcription are kept, with empty text. The id is the row's number, from its first column.
    A ``partial`` file may end within a row, which is left out.
    """

    def document(row: reading.Entry) -> Document:
        texts = row.text("transcription"), row.text("description")
        name = str(reading.value(row[""], reading.Count, "row number", row.where))
        return Document(name, *texts, label=row.text("sample_name"), group=row.text("medical_specialty"))

    rows: list[reading.Entry] = []
    try:
        for row in reading.read_csv(path, ("", *COLUMNS)):
            rows.append(row)
    except FormatError:  # the row that is cut
        if not partial:
            raise
    return reading.records(rows, document, name="row number")


def with_long_descriptions(documents: list[Document]) -> list[Document]:
    """Return the documents with a description of at least 12 words, which the paper keeps (Section 3)."""
    return [document for document in documents if len(str(document.summary).split()) >= 12]


def read(find: Find) -> list[Document]:
    """Return the whole collection, or else the part of it that is present."""
    if whole := find("mtsamples.csv"):
        return load(whole)
    part = find("mtsamples_part.csv")
    return load(part, partial=True) if part else []


def recorded_documents(recording: Recording) -> Iterator[Document]:
    """Yield documents with the recorded numbers of words and specialties."""
    for row in recording.table.itertuples():
        text = placeholder(recording.name, "text", row.case, row.text_words)
        summary = placeholder(recording.name, "candidate", row.number, row.description_words)
        yield Document(id=str(row.number), text=text, summary=summary, group=f"specialty {row.specialty}")
