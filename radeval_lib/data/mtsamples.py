"""MTSamples: medical transcriptions of many specialties, each with a description, as redistributed in CSV."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.readers import Find
from radeval_lib.data.recorded import Recording
from radeval_lib.data.records import Document
from radeval_lib.placeholders import make_placeholder

COLUMNS = ("description", "medical_specialty", "sample_name", "transcription", "keywords")


def load(path: Path, *, partial: bool = False) -> list[Document]:
    """Return the transcriptions, in the file's order.

    The description is the summary, the sample's name the label, the specialty the group, and the number in
    the first column the id. Rows without a transcription are kept, with empty text. If ``partial`` is true,
    the file may end within a row: reading stops without an error at the first row that is malformed, or at
    the header if a column is missing.

    Raises
    ------
    FormatError
        If a row's number is not an integer or is repeated, or if ``partial`` is false and a column is missing
        or a row malformed.
    """

    def parse_document(row: reading.Entry) -> Document:
        texts = row.text("transcription"), row.text("description")
        name = str(reading.convert_value(row[""], reading.Count, "row number", row.where))
        return Document(name, *texts, label=row.text("sample_name"), group=row.text("medical_specialty"))

    rows: list[reading.Entry] = []
    try:
        for row in reading.read_csv(path, ("", *COLUMNS)):
            rows.append(row)
    except FormatError:  # A partial file ends within a row.
        if not partial:
            raise
    return reading.parse_records(rows, parse_document, name="row number")


def keep_long_descriptions(documents: list[Document]) -> list[Document]:
    """Return the documents whose description has at least 12 words, the paper's criterion.

    Source: Moramarco et al. 2021, Section 3.
    """
    return [document for document in documents if len(str(document.summary).split()) >= 12]


def read(find: Find) -> list[Document]:
    """Return the documents of the whole collection or, if its file is absent, those of the partial file."""
    if whole_path := find("mtsamples.csv"):
        return load(whole_path)
    part_path = find("mtsamples_part.csv")
    return load(part_path, partial=True) if part_path else []


def restore_documents(recording: Recording) -> Iterator[Document]:
    """Yield the documents of a stored set, with placeholders as texts and numbers as specialties."""
    for row in recording.table.itertuples():
        text = make_placeholder(recording.name, "text", row.case, row.text_words)
        summary = make_placeholder(recording.name, "candidate", row.number, row.description_words)
        yield Document(id=str(row.number), text=text, summary=summary, group=f"specialty {row.specialty}")
