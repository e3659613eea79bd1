"""MIMIC-CXR findings and impressions: the sectioned table and the official split (Johnson et al. 2019)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import Text, mark

NAME = "mimic_cxr_rrs"


@dataclass(frozen=True)
class Study:
    """The sections of one study; either may be empty. ``id`` is ``s`` and the study's number."""

    id: str
    findings: Text
    impression: Text


@dataclass(frozen=True)
class Assignment:
    """The patient of a study and the official split it belongs to."""

    patient: str
    split: str


def load_sections(path: Path) -> list[Study]:
    """Studies of ``mimic_cxr_sectioned.csv``, white space collapsed, in the file's order."""
    rows = reading.read_csv(path, ("study", "impression", "findings"))
    return reading.records(rows, _study, name="study")


def _study(row: reading.Entry) -> Iterator[Study]:
    if not row["study"].startswith("s"):
        raise FormatError("study is not 's' and a number", row.where)
    number = reading.whole(row["study"][1:], "study", row.where)
    sections = (mark(" ".join(row[name].split()), NAME, True) for name in ("findings", "impression"))
    yield Study(f"s{number}", *sections)


def load_splits(path: Path) -> dict[str, Assignment]:
    """Assignments of ``mimic-cxr-2.0.0-split.csv`` (one row an image), by study."""
    result: dict[str, Assignment] = {}
    for row in reading.read_csv(path, ("study_id", "subject_id", "split")):
        split = row.one_of("split", ("train", "validate", "test"), "Splits")
        study, assignment = f"s{row.whole('study_id')}", Assignment(str(row.whole("subject_id")), split)
        if result.setdefault(study, assignment) != assignment:
            raise FormatError("the study stands in another split or with another patient too", row.where)
    return result


def pairs(studies: Sequence[Study], splits: dict[str, Assignment]) -> list[ReportPair]:
    """Pairs of the studies that have both sections and an official split (MIMIC-RRS, Section 2.1)."""
    return [
        ReportPair(
            id=study.id,
            findings=study.findings,
            impression=study.impression,
            patient=splits[study.id].patient,
            group="X-ray chest",
            split=splits[study.id].split,
        )
        for study in studies
        if len(study.findings) and len(study.impression) and study.id in splits
    ]
