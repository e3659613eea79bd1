"""PriMock57: clinicians' lists of incorrect statements and omissions in consultation notes.

Source: ``human_eval_data/README.md`` of the repository, which describes ``results.csv`` (Moramarco et al.
2022).
"""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.readers import make_reader
from radeval_lib.data.records import NoteError, NoteJudgement

COLUMNS = (
    "Evaluator",
    "Consultation",
    "Model",
    "Evaluator Note",
    "Model Note",
    "Post-edit time",
    "Incorrect Statements",
    "Omissions",
)
_MARKERS = {"!": True, "-": False}  # critical, not critical


def load(path: Path) -> list[NoteJudgement]:
    """Return one judgement per consultation, model and evaluator, in the file's order.

    Raises
    ------
    FormatError
        If a column is missing, a listed error has no marker, a time is not a number, or a judgement is
        repeated.
    """

    def parse_judgement(row: reading.Entry) -> NoteJudgement:
        return NoteJudgement(
            case=row.text("Consultation"),
            group=row.text("Model"),
            rater=row.text("Evaluator"),
            reference=row.text("Evaluator Note"),
            candidate=row.text("Model Note"),
            incorrect=_parse_errors(row, "Incorrect Statements"),
            omissions=_parse_errors(row, "Omissions"),
            seconds=row.take("Post-edit time", reading.Number) if row.text("Post-edit time") else None,
        )

    key_name = "consultation, model and evaluator"
    return reading.parse_records(
        reading.read_csv(path, COLUMNS), parse_judgement, attrgetter("case", "group", "rater"), key_name
    )


def _parse_errors(row: reading.Entry, column: str) -> tuple[NoteError, ...]:
    """Return the errors listed in a cell: a line with a marker begins an error, any other continues it."""
    errors: list[tuple[bool, str]] = []
    for line in filter(None, map(str.strip, row[column].splitlines())):
        if line[0] in _MARKERS:
            errors.append((_MARKERS[line[0]], line[1:].strip()))
        elif errors:
            errors[-1] = (errors[-1][0], f"{errors[-1][1]} {line}")
        else:
            remedy = "Begin each listed error with ! (critical) or - (not critical)."
            raise FormatError(f"the first line in {column!r} has no marker", row.where, remedy)
    return tuple(NoteError(text, critical) for critical, text in errors)


read = make_reader(load, "results.csv")
