"""PriMock57: clinicians' lists of incorrect statements and omissions in consultation notes.

Source: ``human_eval_data/README.md`` of the repository, which describes ``results.csv`` (Moramarco et al.
2022).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.records import NoteError, NoteJudgement

COLUMNS = (
    "Evaluator",
    "Consultation",
    "Model",
    "Evaluator Note",
    "Model Note",
    "Post-edited note",
    "Post-edit time",
    "Incorrect Statements",
    "Omissions",
    "Other Issues",
)
_MARKS = {"!": True, "-": False}  # critical, not critical


def load(path: Path) -> list[NoteJudgement]:
    """Judgements in the file's order."""
    return reading.unique(
        _judgements(path),
        lambda one: f"{one.case}, {one.group}, {one.rater}",
        "consultation, model and evaluator",
    )


def _judgements(path: Path) -> Iterator[tuple[str, NoteJudgement]]:
    for line, row in reading.read_csv(path, COLUMNS):
        where = f"{path.name}, line {line}"
        seconds = row["Post-edit time"].strip()
        yield (
            where,
            reading.make(
                NoteJudgement,
                where,
                case=row["Consultation"].strip(),
                group=row["Model"].strip(),
                rater=row["Evaluator"].strip(),
                reference=row["Evaluator Note"].strip(),
                candidate=row["Model Note"].strip(),
                edited=row["Post-edited note"].strip(),
                seconds=reading.number(seconds, "Post-edit time", where, low=0) if seconds else None,
                incorrect=_listed(row["Incorrect Statements"], "Incorrect Statements", where),
                omissions=_listed(row["Omissions"], "Omissions", where),
                remarks=row["Other Issues"].strip(),
            ),
        )


def _listed(cell: str, column: str, where: str) -> tuple[NoteError, ...]:
    """One error a line that begins with a mark; lines without one continue the error before them."""
    found: list[tuple[bool, str]] = []
    for line in filter(None, map(str.strip, cell.splitlines())):
        if line[0] in _MARKS:
            found.append((_MARKS[line[0]], line[1:].strip()))
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line}")
        else:
            raise FormatError(
                f"{column} begins without a mark",
                where,
                "Each begins with ! (critical) or - (not critical).",
            )
    return tuple(NoteError(text, critical) for critical, text in found)
