"""MTSamples: medical transcriptions of many specialties with a description each, as redistributed in CSV."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.records import Document

COLUMNS = ("description", "medical_specialty", "sample_name", "transcription", "keywords")
SHORTEST_DESCRIPTION = 12  # words; shorter ones are left out (Moramarco et al. 2021, Section 3)


def load(path: Path, *, partial: bool = False) -> list[Document]:
    """Transcriptions with their description as summary and the specialty as group, in the file's order.

    Rows without a transcription are kept, with empty text. A row's number, its first column, is its id.

    Parameters
    ----------
    path : the CSV.
    partial : whether the file is a cut-off part, whose last row is left out where it is incomplete.

    Raises
    ------
    FormatError
        Naming file and line: missing column, wrong type, cut short, wrong encoding, duplicate number.
    """
    return reading.unique(_documents(path, partial), lambda document: document.id, "row number")


def _documents(path: Path, partial: bool) -> Iterator[tuple[str, Document]]:
    for line, row in reading.read_csv(path, ("", *COLUMNS), partial=partial):
        where = f"{path.name}, line {line}"
        yield (
            where,
            Document(
                id=str(reading.whole(row[""], "row number", where)),
                text=row["transcription"].strip(),
                summary=row["description"].strip(),
                label=row["sample_name"].strip(),
                group=row["medical_specialty"].strip(),
            ),
        )


def with_long_descriptions(documents: list[Document], shortest: int = SHORTEST_DESCRIPTION) -> list[Document]:
    """The documents whose description has at least ``shortest`` words, as the paper keeps them."""
    return [document for document in documents if len(str(document.summary).split()) >= shortest]


def counts(documents: list[Document]) -> dict[str, int]:
    """Reports, specialties and reports kept, named as in the manifest's printed counts."""
    return {
        "reports": len(documents),
        "specialties": len({document.group for document in documents}),
        "reports kept": len(with_long_descriptions(documents)),
    }
