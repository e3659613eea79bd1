"""MTS-Dialog: 400 automatic summaries with fact-based rates by medical experts (Ben Abacha et al. 2023).

Two files are joined by the order of their rows: row i of the scores is about row i of the summaries.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.records import FactRating

SCORES = "MTS-Dialog-Manual-Scores4CorrelationStudy.csv"
SUMMARIES = "MTS-Dialog-Automatic-Summaries-ValidationSet.csv"
_RATES = {
    "precision": "FactualPrecision",
    "recall": "FactualRecall",
    "f1": "FactualF1",
    "hallucination": "HallucinationRate",
    "edit_distance": "Edit Distance (Correction)",
}
_OMISSION = "OmissionRate"
_TEXTS = ("ID", "Dialogue", "Reference Summary", "Automatic Summary")
_NO_RATE = -1.0  # what the file prints for two omission rates; no counts give it


def load(scores: Path, summaries: Path) -> list[FactRating]:
    """Ratings in the files' order; systems are numbered from 1, for the files do not name them.

    An omission rate of -1 is kept as None, with a word in ``fault``.

    Parameters
    ----------
    scores, summaries : the two files, as the repository has them.
    """
    rated = list(reading.read_csv(scores, (*_RATES.values(), _OMISSION)))
    written = list(reading.read_csv(summaries, _TEXTS))
    if len(rated) != len(written):
        line = (rated if len(rated) > len(written) else written)[min(len(rated), len(written))][0]
        longer = scores if len(rated) > len(written) else summaries
        raise FormatError(
            f"{len(rated)} rows of scores but {len(written)} summaries, which are joined by their order",
            f"{longer.name}, line {line}",
            reading.CUT_SHORT,
        )
    return list(_ratings(scores, rated, summaries, written))


def _ratings(
    scores: Path,
    rated: list[tuple[int, reading.Row]],
    summaries: Path,
    written: list[tuple[int, reading.Row]],
) -> Iterator[FactRating]:
    order = [row["ID"] for _, row in written]
    size = next((place for place, case in enumerate(order) if case in order[:place]), len(order))
    if order and len(order) % size:
        raise FormatError(
            f"{len(order)} summaries are not the same {size} dialogues for every system",
            f"{summaries.name}, line {written[-1][0]}",
            reading.CUT_SHORT,
        )
    for number, ((line, row), (text_line, text)) in enumerate(zip(rated, written, strict=True)):
        block, place = divmod(number, size)
        where, text_where = f"{scores.name}, line {line}", f"{summaries.name}, line {text_line}"
        first = written[place][1]
        if text["ID"] != first["ID"] or text["Dialogue"] != first["Dialogue"]:
            raise FormatError(
                f"another dialogue than in line {written[place][0]}",
                text_where,
                "Every system must summarise the same dialogues in the same order.",
            )
        values = {
            name: reading.number(row[column], column, where, low=0, high=1) for name, column in _RATES.items()
        }
        omission = reading.number(row[_OMISSION], _OMISSION, where, low=_NO_RATE, high=1)
        if _NO_RATE < omission < 0:
            raise FormatError(f"{_OMISSION} must lie from 0 to 1, not {omission:g}", where)
        yield reading.make(
            FactRating,
            where,
            id=f"{text['ID']}/{block + 1}",
            case=text["ID"],
            group=f"system {block + 1}",
            reference=text["Reference Summary"].strip(),
            candidate=text["Automatic Summary"].strip(),
            source=text["Dialogue"].strip(),
            omission=None if omission == _NO_RATE else omission,
            fault=f"{_OMISSION} {omission:g} is no rate" if omission == _NO_RATE else "",
            **values,
        )
