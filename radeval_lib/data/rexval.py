"""ReXVal (Yu et al. 2023): errors that six radiologists counted in candidate reports for 50 studies.

There are two data sets. ``rexval`` has PhysioNet's two files for credentialed users: the reports
(:func:`load_reports`) and the counts (:func:`load_counts`). ``rexval_counts`` is the table of counts that
GREEN's repository publishes (:func:`load_public_counts`).

Each study has four candidates, named by the metric that retrieved them (``ORIGINS``). An error has one of six
categories and is clinically significant or not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from radeval_lib.categories import LETTERS
from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.manifests import load_manifest
from radeval_lib.data.readers import Find, Records, make_reader
from radeval_lib.data.records import ErrorCount, RatedPair, TextPair
from radeval_lib.data.restricted import mark_restricted

NAME = "rexval"
RATERS = tuple(f"Expert {number}" for number in range(6))
ORIGINS = ("radgraph", "bertscore", "s_emb", "bleu")
Kind = Literal["significant", "insignificant", "total"]


def load_public_counts(path: Path) -> list[ErrorCount]:
    """Return every error count in GREEN's table (data set ``rexval_counts``), in the file's order.

    A row of the file has 12 counts of one category: of significant errors by each of the six raters, then of
    insignificant ones. Raters are called ``Expert 0`` to ``Expert 5``, as in the appendix of GREEN's paper.
    The manifest states the file's SHA-256, so its content is not checked here.
    """
    rows = pd.read_csv(path).to_dict("records")  # the second group of columns gets the names 0.1 to 5.1
    return [
        ErrorCount(
            row["study_number"],
            row["origin"],
            row["error_category"],
            rater,
            significant,
            float(row[f"{number}{suffix}"]),
        )
        for row in rows
        for significant, suffix in ((True, ""), (False, ".1"))
        for number, rater in enumerate(RATERS)
    ]


def make_counts_array(records: Iterable[ErrorCount], kind: Kind = "significant") -> np.ndarray:
    """Return the numbers of errors as a float64 array of shape (pairs, 6, 6).

    The axes are the pairs, sorted by study and then by origin; the categories, from 1 to 6; and the raters,
    sorted by name.

    Parameters
    ----------
    records : counts from :func:`load_public_counts` or :func:`load_counts`.
    kind : the errors to count; ``total`` adds significant and insignificant ones.

    Raises
    ------
    FormatError
        If the count of some pair, category and rater is missing.
    """
    frame = pd.DataFrame(records, columns=list(ErrorCount.__dataclass_fields__))
    if kind != "total":
        frame = frame[frame["significant"] == (kind == "significant")]
    sums = frame.groupby(["study", "origin", "category", "rater"])["count"].sum().sort_index()
    pairs = len(frame[["study", "origin"]].drop_duplicates())
    if len(sums) != pairs * len(LETTERS) * len(RATERS):
        problem = f"{len(sums)} {kind} counts; {pairs} pairs, 6 categories and 6 raters need {36 * pairs}"
        raise FormatError(problem, "ReXVal's counts", "Replace their file with a complete copy.")
    return sums.to_numpy(dtype=np.float64).reshape(-1, len(LETTERS), len(RATERS))


def load_reports(path: Path) -> list[TextPair]:
    """Return the candidates in ``50_samples_gt_and_candidates.csv``, four per row.

    ``case`` is the row's number, from 0, which the counts use as the study; ``group`` is the metric that
    retrieved the candidate.

    Raises
    ------
    FormatError
        If a column is missing, a text is empty, or a study is repeated.
    """

    def parse_candidates(row: reading.Entry) -> list[TextPair]:
        cells = [row.take(name, reading.Filled) and row[name] for name in ("gt_report", *ORIGINS)]
        reference, *texts = (mark_restricted(text, NAME) for text in cells)
        case = str(row.number - 1)
        pairs = zip(ORIGINS, texts, strict=True)
        return [TextPair(f"{case}/{name}", case, reference, text, group=name) for name, text in pairs]

    rows = reading.read_csv(path, ("study_id", "gt_report", *ORIGINS))
    return reading.parse_records(reading.require_distinct(rows, "study_id"), parse_candidates)


COUNT_COLUMNS = (
    "study_number",
    "candidate_type",
    "error_category",
    "rater_index",
    "clinically_significant",
    "num_errors",
)


def load_counts(path: Path) -> list[ErrorCount]:
    """Return the error counts in ``6_valid_raters_per_rater_error_categories.csv``, in the file's order.

    Raises
    ------
    FormatError
        If a column is missing, a value is out of range or of the wrong type, or a count is repeated.
    """
    return reading.parse_records(
        reading.read_csv(path, COUNT_COLUMNS),
        lambda row: ErrorCount(*(row.take(column, Any) for column in COUNT_COLUMNS)),
        attrgetter("study", "origin", "category", "rater", "significant"),
        "study, candidate, category, rater and significance",
    )


def make_rated_pairs(reports: Sequence[TextPair], counts: Sequence[ErrorCount]) -> list[RatedPair]:
    """Return one rated pair per candidate and rater, in the order of ``reports``.

    The rating is the rater's number of errors, significant or not. Candidates without counts are left out.
    """
    totals: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for entry in counts:
        totals[f"{entry.study}/{entry.origin}"][entry.rater] += entry.count
    return [
        RatedPair(pair.id, pair.reference, pair.candidate, total, rater, group=pair.group, scale="errors")
        for pair in reports
        for rater, total in sorted(totals[pair.id].items())
    ]


def read(find: Find) -> Records:
    """Return the candidates, the counts and, if both files exist, the pairs rated by numbers of errors."""
    reports_path, counts_path = (find(file.path) for file in load_manifest(NAME).files)
    reports = load_reports(reports_path) if reports_path else []
    counts = load_counts(counts_path) if counts_path else []
    return [*reports, *counts, *make_rated_pairs(reports, counts)]


read_counts = make_reader(load_public_counts, "")
