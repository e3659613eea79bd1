"""Open-i chest X-ray reports of Indiana University, as redistributed in CSV (Demner-Fushman et al. 2016)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.readers import Reader, each
from radeval_lib.data.recorded import Recording, sections
from radeval_lib.data.records import Report, ReportPair
from radeval_lib.data.restricted import reveal
from radeval_lib.stats.tokens import words

COLUMNS = ("uid", "MeSH", "Problems", "image", "indication", "comparison", "findings", "impression")


def load(path: Path) -> list[Report]:
    """Return reports of ``indiana_reports.csv``, in the file's order; any section may be empty."""
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


def text_key(report: Report) -> str:
    """Return the words and numbers of findings and impression: reports of one key have the same text."""
    return " ".join(words(f"{reveal(report.findings)} {reveal(report.impression)}"))


def halves(reports: Sequence[Report]) -> dict[str, str]:
    """Return the half of each report by uid, ``odd`` or ``even``: halves of distinct texts
    (:func:`text_key`), whose reports all go with the smallest uid."""
    smallest: dict[str, int] = {}
    for report in reports:
        key = text_key(report)
        smallest[key] = min(int(report.id), smallest.get(key, int(report.id)))
    return {report.id: "odd" if smallest[text_key(report)] % 2 else "even" for report in reports}


def to_develop_on(reports: Sequence[Report], tested: Collection[str]) -> list[Report]:
    """Return the odd half without the studies of a test split, by uid, and texts that equal one of theirs."""
    half, withheld = halves(reports), {text_key(report) for report in reports if report.id in tested}
    return [one for one in reports if half[one.id] == "odd" and text_key(one) not in withheld]


def pairs(reports: list[Report]) -> list[ReportPair]:
    """Return findings and impression of the reports that have both."""
    return [
        ReportPair(id=report.id, findings=report.findings, impression=report.impression, group="Indiana")
        for report in reports
        if len(report.findings) and len(report.impression)
    ]


def recorded_reports(recording: Recording) -> Iterator[Report]:
    """Yield reports with the recorded numbers of words."""
    for row in recording.table.itertuples():
        findings, impression = sections(recording.name, row)
        yield Report(id=str(row.number + 1), findings=findings, impression=impression)


READER = Reader(
    each(load, "indiana_reports.csv"),
    lambda records: {"pairs with findings and impression": len(pairs(records))},
)
