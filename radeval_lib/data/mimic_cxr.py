"""MIMIC-CXR findings and impressions: the sectioned table and the official split (Johnson et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.readers import Find
from radeval_lib.data.records import Report, ReportPair
from radeval_lib.data.restricted import mark_restricted

NAME = "mimic_cxr_rrs"


def load_sections(path: Path) -> list[Report]:
    """Return the reports of ``mimic_cxr_sectioned.csv``, in the file's order; either section may be empty.

    Each run of white space becomes one blank.

    Raises
    ------
    FormatError
        If a column is missing, or a study id is repeated or not ``s`` with digits.
    """

    def parse_report(row: reading.Entry) -> Report:
        study = row.take("study", Annotated[str, Field(pattern=r"^s\d+$")])
        sections = (" ".join(row[name].split()) for name in ("findings", "impression"))
        findings, impression = (mark_restricted(section, NAME) for section in sections)
        return Report(study, findings, impression)

    return reading.parse_records(
        reading.read_csv(path, ("study", "impression", "findings")), parse_report, name="study"
    )


def load_splits(path: Path) -> dict[str, tuple[str, str]]:
    """Return a mapping from study id to (patient, official split).

    The file, ``mimic-cxr-2.0.0-split.csv``, has one row per image.

    Raises
    ------
    FormatError
        If a column is missing, a value is malformed, or two rows disagree on a study.
    """
    splits: dict[str, tuple[str, str]] = {}
    for row in reading.read_csv(path, ("study_id", "subject_id", "split")):
        study, patient = (str(row.take(key, reading.Count)) for key in ("study_id", "subject_id"))
        assignment = patient, row.take("split", Literal["train", "validate", "test"])
        if splits.setdefault(f"s{study}", assignment) != assignment:
            problem = "an earlier row gives this study another split or patient"
            raise FormatError(problem, row.where, reading.CORRECT_FILE)
    return splits


def make_pairs(reports: Sequence[Report], splits: dict[str, tuple[str, str]]) -> list[ReportPair]:
    """Return a pair for each report with both sections and an official split (MIMIC-RRS, Section 2.1).

    ``splits`` is the mapping that :func:`load_splits` returns.
    """
    report_pairs = []
    for report in reports:
        if len(report.findings) and len(report.impression) and report.id in splits:
            patient, split = splits[report.id]
            sections = report.findings, report.impression
            report_pairs.append(ReportPair(report.id, *sections, patient, "X-ray chest", split))
    return report_pairs


def read(find: Find) -> list[ReportPair]:
    """Return the pairs with their official splits; empty unless both files exist."""
    sections, splits = find("mimic_cxr_sectioned.csv"), find("mimic-cxr-2.0.0-split.csv")
    return make_pairs(load_sections(sections), load_splits(splits)) if sections and splits else []
