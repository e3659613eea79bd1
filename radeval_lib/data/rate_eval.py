"""RaTE-Eval: pairs of sentences and of paragraphs with human ratings (Zhao et al. 2024, Section 3).

Task 2's columns are those that public code reads; we have not seen the files of task 1. Task 3, texts with
rewrites, is not read, since no page uses it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import Field

from radeval_lib.data import reading
from radeval_lib.data.manifests import load_manifest
from radeval_lib.data.readers import Find, Records, load_each
from radeval_lib.data.records import RatedPair
from radeval_lib.data.restricted import mark

NAME = "rate_eval"
PAIR_COLUMNS = ("gt_report", "similar_report", "Score")
Rating = Annotated[float, Field(ge=0, le=5)]  # 0 is nothing correct, 5 perfect; Section 3


def load_pairs(path: Path) -> list[RatedPair]:
    """Return rated pairs of ``rate_<split>.csv`` (task 1 or 2), in the file's order; ids are row numbers."""

    def pair(row: reading.Entry) -> RatedPair:
        reference, candidate = (mark(row[column], NAME, True) for column in PAIR_COLUMNS[:2])
        return RatedPair(str(row.at), reference, candidate, row.take("Score", Rating))

    return reading.records(reading.distinct(reading.read_csv(path, PAIR_COLUMNS), *PAIR_COLUMNS), pair)


_SCALES = {"Task1_sentence_rate": "sentence", "Task2_paragraph_rate": "paragraph"}


def _pairs_of_file(path: Path) -> Records:
    split, task = path.stem.removeprefix("rate_"), path.parent.name
    scale = _SCALES[task]
    return [
        replace(pair, id=f"{split}-{pair.id}", group=task, split=split, scale=scale)
        for pair in load_pairs(path)
    ]


def read(find: Find) -> Records:
    """Return the pairs of both tasks; a record's ``group`` is the task, its scale the kind of text."""
    return load_each(_pairs_of_file, *(file.path for file in load_manifest(NAME).files))(find)
