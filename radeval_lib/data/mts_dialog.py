"""MTS-Dialog: 400 automatic summaries with rates of facts that experts counted (Ben Abacha et al. 2023).

Row i of the file of rates belongs to row i of the file of summaries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from radeval_lib.data import reading
from radeval_lib.data.readers import Find
from radeval_lib.data.recorded import Recording, make_pair_placeholders
from radeval_lib.data.records import FactRating
from radeval_lib.placeholders import make_placeholder

SCORES = "MTS-Dialog-Manual-Scores4CorrelationStudy.csv"
SUMMARIES = "MTS-Dialog-Automatic-Summaries-ValidationSet.csv"
_RATES = {
    "precision": "FactualPrecision",
    "recall": "FactualRecall",
    "f1": "FactualF1",
    "hallucination": "HallucinationRate",
}
_OMISSION = "OmissionRate"
_NO_RATE = -1.0  # the impossible value of two omission rates in the file


def load(scores: Path, summaries: Path) -> list[FactRating]:
    """Return the ratings, in the files' order.

    Systems, which the files do not name, are numbered from 1 in the order of a case's rows. An omission rate
    of -1 becomes None.

    Raises
    ------
    FormatError
        If a column is missing or a rate is not a number.
    ValueError
        If the files have different numbers of rows, or a rate is not from 0 to 1.
    """
    rate_rows = reading.read_csv(scores, (*_RATES.values(), _OMISSION))
    text_rows = reading.read_csv(summaries, ("ID", "Dialogue", "Reference Summary", "Automatic Summary"))
    row_counts: Counter[str] = Counter()  # number of rows so far, by case
    ratings = []
    for row, text in zip(rate_rows, text_rows, strict=True):
        case, omission = text["ID"], row.take(_OMISSION, reading.Number)
        row_counts[case] += 1
        ratings.append(
            FactRating(
                id=f"{case}/{row_counts[case]}",
                case=case,
                group=f"system {row_counts[case]}",
                reference=text.text("Reference Summary"),
                candidate=text.text("Automatic Summary"),
                source=text.text("Dialogue"),
                omission=None if omission == _NO_RATE else omission,
                **{name: row.take(column, reading.Number) for name, column in _RATES.items()},
            )
        )
    return ratings


def read(find: Find) -> list[FactRating]:
    """Return the ratings; empty unless both files exist."""
    scores, summaries = find(SCORES), find(SUMMARIES)
    return load(scores, summaries) if scores and summaries else []


def restore_ratings(recording: Recording) -> Iterator[FactRating]:
    """Yield the ratings of a stored set, with placeholders as texts."""
    for row in recording.table.itertuples():
        reference, candidate = make_pair_placeholders(recording.name, row)
        yield FactRating(
            id=f"{row.case}/{row.system}",
            case=str(row.case),
            group=f"system {row.system}",
            reference=reference,
            candidate=candidate,
            source=make_placeholder(recording.name, "source", row.case, row.source_words),
            omission=None if np.isnan(row.omission) else row.omission,
            **{name: getattr(row, name) for name in _RATES},
        )
