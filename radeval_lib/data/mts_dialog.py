"""MTS-Dialog: 400 automatic summaries with fact-based rates by medical experts (Ben Abacha et al. 2023).

Two files are joined by the order of their rows: row i of the scores is about row i of the summaries.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.readers import Find, Reader
from radeval_lib.data.recorded import Recording, pair
from radeval_lib.data.records import FactRating
from radeval_lib.placeholders import placeholder

SCORES = "MTS-Dialog-Manual-Scores4CorrelationStudy.csv"
SUMMARIES = "MTS-Dialog-Automatic-Summaries-ValidationSet.csv"
_RATES = {
    "precision": "FactualPrecision",
    "recall": "FactualRecall",
    "f1": "FactualF1",
    "hallucination": "HallucinationRate",
}
_OMISSION = "OmissionRate"
_NO_RATE = -1.0  # what the file prints for two omission rates; no counts give it


def load(scores: Path, summaries: Path) -> list[FactRating]:
    """Return ratings in the files' order; systems, which the files do not name, are numbered from 1 by their
    order.

    An omission rate of -1 is kept as None, with a word in ``fault``.

    Raises
    ------
    FormatError
        If the files have different numbers of rows, a rate is none, or an ID has two dialogues.
    """
    rated = list(reading.read_csv(scores, (*_RATES.values(), _OMISSION)))
    written = list(reading.read_csv(summaries, ("ID", "Dialogue", "Reference Summary", "Automatic Summary")))
    if len(rated) != len(written):
        raise FormatError(
            f"{len(rated)} rows of scores but {len(written)} summaries, which are joined by their order",
            max(rated, written, key=len)[min(len(rated), len(written))].where,
            reading.CUT_SHORT,
        )
    dialogues: dict[str, list[str]] = defaultdict(list)  # of each case, one per system
    entries = []
    for row, text in zip(rated, written, strict=True):
        heard = dialogues[text["ID"]]
        heard.append(text["Dialogue"])
        if heard[-1] != heard[0]:
            raise FormatError("another dialogue stands above under the same ID", text.where)
        entries.append(reading.Entry({**row, **text, "system": len(heard)}, row.where))
    return reading.records(entries, _rating)


def _rating(row: reading.Entry) -> Iterator[FactRating]:
    case, system, omission = row["ID"], row["system"], row.take(_OMISSION, reading.Number)
    yield FactRating(
        id=f"{case}/{system}",
        case=case,
        group=f"system {system}",
        reference=row.text("Reference Summary"),
        candidate=row.text("Automatic Summary"),
        source=row.text("Dialogue"),
        omission=None if omission == _NO_RATE else omission,
        fault=f"{_OMISSION} {omission:g} is not a rate" if omission == _NO_RATE else "",
        **{name: row.take(column, reading.Number) for name, column in _RATES.items()},
    )


def _read(find: Find) -> list[FactRating]:
    scores, summaries = find(SCORES), find(SUMMARIES)
    return load(scores, summaries) if scores and summaries else []


def recorded_ratings(recording: Recording) -> Iterator[FactRating]:
    """Yield the ratings, from what is recorded of them."""
    for row in recording.table.itertuples():
        reference, candidate = pair(recording.name, row)
        no_rate = bool(np.isnan(row.omission))
        yield FactRating(
            id=f"{row.case}/{row.system}",
            case=str(row.case),
            group=f"system {row.system}",
            reference=reference,
            candidate=candidate,
            source=placeholder(recording.name, "source", row.case, row.source_words),
            omission=None if no_rate else row.omission,
            fault=f"{_OMISSION} is not a rate" if no_rate else "",
            **{name: getattr(row, name) for name in _RATES},
        )


READER = Reader(_read)
