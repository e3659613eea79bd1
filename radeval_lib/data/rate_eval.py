"""RaTE-Eval: sentence and paragraph pairs with human ratings, and triads (Zhao et al. 2024, Section 3).

Task 2's columns are those that public code reads; the other files were not seen. A missing column raises an
error that lists what was found.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.records import RatedPair, Triad
from radeval_lib.data.restricted import mark

NAME = "rate_eval"
PAIR_COLUMNS = ("gt_report", "similar_report", "Score")
TRIAD_COLUMNS = ("gt_report", "synonymous_report", "opposite_report")
HIGHEST = 5.0  # ratings of task 2 run from 0 (nothing correct) to 5 (perfect); Section 3


def load_pairs(
    path: Path, *, group: str = "", split: str = "", scale: str = "grade", highest: float = HIGHEST
) -> list[RatedPair]:
    """Rated pairs of ``rate_<split>.csv`` (task 1 or 2), in the file's order; ids are row numbers."""
    return reading.unique(
        _pairs(path, (group, split, scale), highest),
        lambda pair: (pair.reference, pair.candidate, pair.rating),
        "row",
    )


def _pairs(path: Path, kept: tuple[str, str, str], highest: float) -> Iterator[tuple[str, RatedPair]]:
    reference, candidate, score = PAIR_COLUMNS
    group, split, scale = kept
    for number, (line, row) in enumerate(reading.read_csv(path, PAIR_COLUMNS), start=1):
        where = f"{path.name}, line {line}"
        rating = reading.number(row[score], score, where, low=0, high=highest)
        yield (
            where,
            RatedPair(
                id=str(number),
                reference=mark(row[reference], NAME, True),
                candidate=mark(row[candidate], NAME, True),
                rating=rating,
                group=group,
                split=split,
                scale=scale,
            ),
        )


def load_triads(path: Path, columns: tuple[str, str, str] = TRIAD_COLUMNS) -> list[Triad]:
    """Triads of task 3, from JSON; ``columns`` name report, synonym rewrite and opposite."""
    return reading.unique(
        _triads(path, columns), lambda triad: (triad.reference, triad.synonymous, triad.opposite), "triad"
    )


def _triads(path: Path, columns: tuple[str, str, str]) -> Iterator[tuple[str, Triad]]:
    for position, item in reading.read_objects(path):
        where = f"{path.name}, record {position}"
        texts = [mark(reading.take(item, column, str, where), NAME, True) for column in columns]
        yield where, Triad(str(position), *texts)
