"""Open-i chest X-ray reports of Indiana University, as redistributed in CSV (Demner-Fushman et al. 2016)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.readers import Reader, each
from radeval_lib.data.records import Report, ReportPair

COLUMNS = ("uid", "MeSH", "Problems", "image", "indication", "comparison", "findings", "impression")


def load(path: Path) -> list[Report]:
    """Reports of ``indiana_reports.csv``, in the file's order; any section may be empty."""
    return reading.records(reading.read_csv(path, COLUMNS), _report, name="uid")


def _report(row: reading.Entry) -> Iterator[Report]:
    yield Report(
        id=str(row.whole("uid", low=1)),
        findings=row.text("findings"),
        impression=row.text("impression"),
        indication=row.text("indication"),
        comparison=row.text("comparison"),
        technique=row.text("image"),
    )


def pairs(reports: list[Report]) -> list[ReportPair]:
    """Findings and impression of the reports that have both."""
    return [
        ReportPair(id=report.id, findings=report.findings, impression=report.impression, group="Indiana")
        for report in reports
        if len(report.findings) and len(report.impression)
    ]


READER = Reader(
    each(load, "indiana_reports.csv"),
    lambda records: {"pairs with findings and impression": len(pairs(records))},
)
