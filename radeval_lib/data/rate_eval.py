"""RaTE-Eval: pairs of sentences and of paragraphs with human ratings (Zhao et al. 2024, Section 3).

The files were not accessible when this module was written. Columns are those that public code reads for task
2, and are assumed for task 1. Task 3, texts with rewrites, is not read, since no page uses it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import Field

from radeval_lib.data import reading
from radeval_lib.data.manifests import load_manifest
from radeval_lib.data.readers import Find, Records, make_reader
from radeval_lib.data.records import RatedPair
from radeval_lib.data.restricted import mark_restricted

NAME = "rate_eval"
PAIR_COLUMNS = ("gt_report", "similar_report", "Score")
Rating = Annotated[float, Field(ge=0, le=5)]  # 0: nothing correct; 5: perfect (Section 3)


def load_pairs(path: Path) -> list[RatedPair]:
    """Return the rated pairs of ``rate_<split>.csv`` (task 1 or 2), in the file's order.

    The id is the row's number, from 1. The rating is from 0 to 5; in task 2, higher is better.

    Raises
    ------
    FormatError
        If a column is missing, a rating is out of range, or a row is repeated.
    """

    def parse_pair(row: reading.Entry) -> RatedPair:
        reference, candidate = (mark_restricted(row[column], NAME) for column in PAIR_COLUMNS[:2])
        return RatedPair(str(row.number), reference, candidate, row.take("Score", Rating))

    rows = reading.read_csv(path, PAIR_COLUMNS)
    return reading.parse_records(reading.require_distinct(rows, *PAIR_COLUMNS), parse_pair)


_SCALES = {"Task1_sentence_rate": "sentence", "Task2_paragraph_rate": "paragraph"}


def _load_with_task(path: Path) -> Records:
    """Return the pairs of a file, with the split, the task as ``group``, and the scale of the task."""
    split, task = path.stem.removeprefix("rate_"), path.parent.name
    scale = _SCALES[task]
    return [
        replace(pair, id=f"{split}-{pair.id}", group=task, split=split, scale=scale)
        for pair in load_pairs(path)
    ]


def read(find: Find) -> Records:
    """Return the pairs of both tasks; ``group`` is the task, ``scale`` is ``sentence`` or ``paragraph``."""
    return make_reader(_load_with_task, *(file.path for file in load_manifest(NAME).files))(find)
