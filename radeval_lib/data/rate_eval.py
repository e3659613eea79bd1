"""RaTE-Eval: sentence and paragraph pairs with human ratings, and triads (Zhao et al. 2024, Section 3).

Task 2's columns are those that public code reads; we have not seen the other files. A missing column
raises an error that lists what was found.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import Field

from radeval_lib.data import reading
from radeval_lib.data.manifests import load_manifest
from radeval_lib.data.readers import Find, Reader, Records, each
from radeval_lib.data.records import RatedPair, Triad
from radeval_lib.data.restricted import mark

NAME = "rate_eval"
PAIR_COLUMNS = ("gt_report", "similar_report", "Score")
TRIAD_COLUMNS = ("gt_report", "synonymous_report", "opposite_report")
Rating = Annotated[float, Field(ge=0, le=5)]  # 0 is nothing correct, 5 perfect; Section 3


def load_pairs(path: Path) -> list[RatedPair]:
    """Return rated pairs of ``rate_<split>.csv`` (task 1 or 2), in the file's order; ids are row numbers."""

    def pair(row: reading.Entry) -> RatedPair:
        reference, candidate = (mark(row[column], NAME, True) for column in PAIR_COLUMNS[:2])
        return RatedPair(str(row.at), reference, candidate, row.take("Score", Rating))

    return reading.records(reading.distinct(reading.read_csv(path, PAIR_COLUMNS), *PAIR_COLUMNS), pair)


def load_triads(path: Path) -> list[Triad]:
    """Return triads of task 3, from JSON: report, synonymous rewrite and opposite."""
    return [
        Triad(str(item.at), *(mark(item.take(column, str), NAME, True) for column in TRIAD_COLUMNS))
        for item in reading.distinct(reading.read_objects(path), *TRIAD_COLUMNS)
    ]


_SCALES = {"Task1_sentence_rate": "sentence", "Task2_paragraph_rate": "paragraph"}


def _pairs_of_file(path: Path) -> Records:
    split, task = path.stem.removeprefix("rate_"), path.parent.name
    scale = _SCALES[task]
    return [
        replace(pair, id=f"{split}-{pair.id}", group=task, split=split, scale=scale)
        for pair in load_pairs(path)
    ]


def _read(find: Find) -> Records:
    tables = [file.path for file in load_manifest(NAME).files if file.path.endswith(".csv")]
    return each(_pairs_of_file, *tables)(find) + each(load_triads, "triads.json")(find)


READER = Reader(_read)
