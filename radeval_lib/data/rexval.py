"""ReXVal (Yu et al. 2023): reports and error counts as PhysioNet gives them, and GREEN's table of counts."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from radeval_lib.data import reading
from radeval_lib.data.categories import LETTERS
from radeval_lib.data.errors import FormatError
from radeval_lib.data.records import ErrorCount, RatedPair
from radeval_lib.data.restricted import Text, mark

RATERS = tuple(f"Expert {number}" for number in range(6))
ORIGINS = ("radgraph", "bertscore", "s_emb", "bleu")
PAIRS = 200
Kind = Literal["significant", "insignificant", "total"]

_GROUP = tuple("012345")
_HEADER = (
    "study_number", "origin", "error_category",
    *_GROUP, "sig_mean_errors", *_GROUP, "insig_mean_errors", "total_mean_errors",
)  # fmt: skip
# How pandas writes the second group when it has read the file and saved it again.
_HEADER_PANDAS = tuple(
    f"{name}.1" if position > 9 and name in _GROUP else name for position, name in enumerate(_HEADER)
)
# The means were written with all their digits; only their last binary digit may be off.
_TOLERANCE = 1e-9


def load(path: Path, *, pairs: int | None = PAIRS) -> list[ErrorCount]:
    """Every count of the file, 12 a row, in the file's order: significant counts first.

    Parameters
    ----------
    path : the CSV file.
    pairs : how many report pairs it must hold; None: any number.

    Returns
    -------
    list of ErrorCount
        Raters are called ``Expert 0`` to ``Expert 5``, as in the paper's appendix. Counts are whole numbers.

    Raises
    ------
    FormatError
        Naming file and line: missing, additional or reordered column, a cell of the wrong type, a printed
        mean that is not the mean of its counts, the same row twice, a pair without all six categories, fewer
        pairs than ``pairs`` (a file cut short), text that is not UTF-8.
    """
    seen: dict[tuple[int, str, int], int] = {}
    records: list[ErrorCount] = []
    for line, cells in _rows(path):
        where = f"{path.name}, line {line}"
        study = reading.whole(cells[0], "study_number", where)
        if cells[1] not in ORIGINS:
            raise FormatError("unknown origin", where, f"Origins: {', '.join(ORIGINS)}.")
        category = reading.whole(cells[2], "error_category", where, low=1, high=len(LETTERS))
        key = (study, cells[1], category)
        if key in seen:
            raise FormatError(
                f"study {study}, {cells[1]}, category {category} already stands in line {seen[key]}", where
            )
        seen[key] = line
        for significant, counts in zip((True, False), _counts(cells, where), strict=True):
            records += [
                reading.make(
                    ErrorCount, where, study=study, origin=cells[1], category=category, rater=rater,
                    significant=significant, count=float(count),
                )
                for rater, count in zip(RATERS, counts, strict=True)
            ]  # fmt: skip
    _check_complete(seen, path, pairs)
    return records


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    text = reading.read_text(path)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = tuple(next(reader))
        if header not in (_HEADER, _HEADER_PANDAS):
            raise FormatError(
                _header_fault(header), f"{path.name}, line 1", f"Columns: {', '.join(_HEADER)}."
            )
        for cells in reader:
            if len(cells) != len(_HEADER):
                raise FormatError(
                    f"{len(cells)} cells instead of {len(_HEADER)}",
                    f"{path.name}, line {reader.line_num}",
                    reading.CUT_SHORT,
                )
            yield reader.line_num, cells
    except csv.Error as error:
        place = f"{path.name}, line {reader.line_num}"
        raise FormatError(f"not a CSV row ({error})", place, reading.CUT_SHORT) from None


def _header_fault(header: tuple[str, ...]) -> str:
    missing = list(_HEADER)
    for name in header:
        if name in missing:
            missing.remove(name)
    if missing:
        return f"missing column {missing[0]!r}"
    if len(header) > len(_HEADER):
        return f"{len(header)} columns instead of {len(_HEADER)}"
    return "columns in another order"


def _counts(cells: list[str], where: str) -> tuple[list[int], list[int]]:
    """Significant and insignificant counts of a row, checked against the means that the row prints."""
    groups, means = [], []
    for start, mean_at, kind in ((3, 9, "significant"), (10, 16, "insignificant")):
        counts = [
            reading.whole(cells[start + position], f"{kind} count of {rater}", where)
            for position, rater in enumerate(RATERS)
        ]
        mean = sum(counts) / len(counts)
        _check_mean(cells[mean_at], _HEADER[mean_at], mean, f"mean of the {kind} counts", where)
        groups.append(counts)
        means.append(mean)
    _check_mean(cells[17], _HEADER[17], sum(means), "sum of the two means", where)
    return groups[0], groups[1]


def _check_mean(text: str, name: str, expected: float, what: str, where: str) -> None:
    if abs(reading.number(text, name, where) - expected) > _TOLERANCE:
        raise FormatError(f"{name} is {reading.kind_of(text)}, but the {what} is {expected:.6g}", where)


def _check_complete(seen: dict[tuple[int, str, int], int], path: Path, pairs: int | None) -> None:
    found: dict[tuple[int, str], set[int]] = {}
    for study, origin, category in seen:
        found.setdefault((study, origin), set()).add(category)
    for (study, origin), categories in found.items():
        if absent := sorted(set(range(1, len(LETTERS) + 1)) - categories):
            raise FormatError(
                f"study {study}, {origin} has no row for category {absent[0]}",
                path.name,
                reading.CUT_SHORT,
            )
    if pairs is not None and len(found) != pairs:
        raise FormatError(f"{len(found)} report pairs instead of {pairs}", path.name, reading.CUT_SHORT)


def counts_array(records: Iterable[ErrorCount], kind: Kind = "significant") -> np.ndarray:
    """Counts as an array."""
    frame = pd.DataFrame(records)
    if kind != "total":
        frame = frame[frame["significant"] == (kind == "significant")]
    sums = frame.groupby(["study", "origin", "category", "rater"])["count"].sum().sort_index()
    return sums.to_numpy(dtype=np.float64).reshape(-1, len(LETTERS), len(RATERS))


NAME = "rexval"
REPORT_COLUMNS = ("study_id", "gt_report", *ORIGINS)
COUNT_COLUMNS = (
    "study_number",
    "candidate_type",
    "error_category",
    "rater_index",
    "clinically_significant",
    "num_errors",
)


@dataclass(frozen=True)
class Candidate:
    """A candidate report for a study; ``study`` is the row number by which the counts refer to it."""

    study: int
    study_id: str
    origin: str
    reference: Text
    candidate: Text


def load_reports(path: Path) -> list[Candidate]:
    """Candidates of ``50_samples_gt_and_candidates.csv``: four for each row, rows numbered from 0."""
    return reading.unique(_reports(path), lambda one: (one.study_id, one.origin), "study_id")


def _reports(path: Path) -> Iterator[tuple[str, Candidate]]:
    for number, (line, row) in enumerate(reading.read_csv(path, REPORT_COLUMNS)):
        where = f"{path.name}, line {line}"
        study_id = str(reading.whole(row["study_id"], "study_id", where))
        for origin in ORIGINS:
            if not row["gt_report"].strip() or not row[origin].strip():
                raise FormatError(f"no report in column gt_report or {origin}", where)
            reference, candidate = (mark(row[name], NAME, True) for name in ("gt_report", origin))
            yield where, Candidate(number, study_id, origin, reference, candidate)


def load_counts(path: Path) -> list[ErrorCount]:
    """Error counts of ``6_valid_raters_per_rater_error_categories.csv``, in the file's order."""
    return reading.unique(
        _listed_counts(path),
        lambda one: (one.study, one.origin, one.category, one.rater, one.significant),
        "study, candidate, category, rater and significance",
    )


def _listed_counts(path: Path) -> Iterator[tuple[str, ErrorCount]]:
    for line, row in reading.read_csv(path, COUNT_COLUMNS):
        where = f"{path.name}, line {line}"
        if row["candidate_type"] not in ORIGINS:
            raise FormatError("unknown candidate_type", where, f"Types: {ORIGINS}.")
        significant = row["clinically_significant"].strip().lower()
        if significant not in ("true", "false", "1", "0"):
            raise FormatError(
                f"clinically_significant must be True or False, not {reading.kind_of(significant)}", where
            )
        yield (
            where,
            ErrorCount(
                study=reading.whole(row["study_number"], "study_number", where),
                origin=row["candidate_type"],
                category=reading.whole(
                    row["error_category"], "error_category", where, low=1, high=len(LETTERS)
                ),
                rater=str(reading.whole(row["rater_index"], "rater_index", where)),
                significant=significant in ("true", "1"),
                count=reading.whole(row["num_errors"], "num_errors", where),
            ),
        )


def rated_pairs(reports: Sequence[Candidate], counts: Sequence[ErrorCount]) -> list[RatedPair]:
    """Every candidate that has counts, with each rater's errors in it, significant or not."""
    totals: dict[tuple[int, str], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for one in counts:
        totals[one.study, one.origin][one.rater] += one.count
    return [
        RatedPair(
            id=f"{one.study}/{one.origin}",
            reference=one.reference,
            candidate=one.candidate,
            rating=total,
            rater=rater,
            group=one.origin,
            scale="errors",
        )
        for one in reports
        for rater, total in sorted(totals.get((one.study, one.origin), {}).items())
    ]
