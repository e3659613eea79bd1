"""MTSamples: medical transcriptions of many specialties, each with a description, as redistributed in CSV."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

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


def assign_splits(documents: list[Document], rng: np.random.Generator) -> list[Document]:
    """Return the documents, in their order, each with a split: 80, 10 and 10 % within every specialty.

    Of n documents of a specialty, floor(0.8 n) are for training; of the r others, floor(r / 2) are for
    development. The paper prints shares and sizes but not its rounding. These are the sizes of two successive
    splits by scikit-learn, and their sums can be the printed 2,576, 323 and 343.
    """
    chosen: dict[str, str] = {}
    groups: dict[str, list[str]] = {}
    for document in documents:
        groups.setdefault(document.group, []).append(document.id)
    for ids in groups.values():
        shuffled = [ids[index] for index in rng.permutation(len(ids))]
        splits = np.repeat(["train", "dev", "test"], split_sizes(len(ids))).tolist()
        chosen.update(zip(shuffled, splits, strict=True))
    return [replace(document, split=chosen[document.id]) for document in documents]


def split_sizes(n: int) -> tuple[int, int, int]:
    """Return how many of a specialty's ``n`` documents are for training, development and testing."""
    train = 4 * n // 5
    development = (n - train) // 2
    return train, development, n - train - development


def count_documents(documents: list[Document]) -> dict[str, int]:
    """Return the numbers that the paper prints: of reports, of specialties, and of the splits of the reports
    that it keeps."""
    kept = with_long_descriptions(documents)
    sizes = Counter(document.group for document in documents)
    splits = [split_sizes(size) for size in Counter(document.group for document in kept).values()]
    train, development, test = (sum(part) for part in zip(*splits, strict=True)) if splits else (0, 0, 0)
    return {
        "reports": len(documents),
        "specialties": len(sizes),
        "reports of the smallest specialty": min(sizes.values(), default=0),
        "reports of the largest specialty": max(sizes.values(), default=0),
        "reports kept": len(kept),
        "training": train,
        "development": development,
        "test": test,
    }


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
