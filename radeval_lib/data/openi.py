"""Open-i chest X-ray reports of Indiana University, as redistributed in CSV (Demner-Fushman et al. 2016)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.records import Report, ReportPair

COLUMNS = ("uid", "MeSH", "Problems", "image", "indication", "comparison", "findings", "impression")


def load(path: Path) -> list[Report]:
    """Reports of ``indiana_reports.csv``, in the file's order; any section may be empty.

    Raises
    ------
    FormatError
        Naming file and line: missing column, wrong type, cut short, wrong encoding, duplicate uid.
    """
    return reading.unique(_reports(path), lambda report: report.id, "uid")


def _reports(path: Path) -> Iterator[tuple[str, Report]]:
    for line, row in reading.read_csv(path, COLUMNS):
        where = f"{path.name}, line {line}"
        uid = reading.whole(row["uid"], "uid", where, low=1)
        yield (
            where,
            Report(
                id=str(uid),
                findings=row["findings"].strip(),
                impression=row["impression"].strip(),
                indication=row["indication"].strip(),
                comparison=row["comparison"].strip(),
                technique=row["image"].strip(),
                problems=tuple(part.strip() for part in row["Problems"].split(";") if part.strip()),
            ),
        )


def pairs(reports: list[Report]) -> list[ReportPair]:
    """Findings and impression of the reports that have both."""
    return [
        ReportPair(id=report.id, findings=report.findings, impression=report.impression, group="Indiana")
        for report in reports
        if len(report.findings) and len(report.impression)
    ]
