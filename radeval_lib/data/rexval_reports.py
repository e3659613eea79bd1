"""ReXVal as PhysioNet gives it: reports, candidates and error counts per radiologist (Yu et al. 2023).

The numbers-only table of the GREEN repository has a reader of its own (``rexval``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.error_categories import LETTERS
from radeval_lib.data.errors import FormatError
from radeval_lib.data.records import ErrorCount, RatedPair
from radeval_lib.data.restricted import Text, mark
from radeval_lib.data.rexval import ORIGINS

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
        _counts(path),
        lambda one: (one.study, one.origin, one.category, one.rater, one.significant),
        "study, candidate, category, rater and significance",
    )


def _counts(path: Path) -> Iterator[tuple[str, ErrorCount]]:
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
