"""Open-i chest X-ray reports of Indiana University, as redistributed in CSV (Demner-Fushman et al. 2016)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.readers import load_each
from radeval_lib.data.recorded import Recording, section_placeholders
from radeval_lib.data.records import CodedStudy, Report, ReportPair
from radeval_lib.data.restricted import reveal
from radeval_lib.stats.tokens import words

LABELS = (
    "Atelectasis",
    "Cardiomegaly",
    "Effusion",
    "Infiltration",
    "Mass",
    "Nodule",
    "Pneumonia",
    "Pneumothorax",
    "Consolidation",
    "Edema",
    "Emphysema",
    "Fibrosis",
    "Pleural_Thickening",
)
"""The findings that people coded, as NegBio's repository names them (Peng et al. 2018). ``Hernia`` is left
out, since an error in the mapping leaves it empty for every report."""
LABELS_FILE = "openi_gld_std14.csv"


def load(path: Path) -> list[Report]:
    """Return reports of ``indiana_reports.csv``, in the file's order; either section may be empty."""
    rows = reading.read_csv(path, ("uid", "findings", "impression"))
    return [
        Report(str(row.take("uid", reading.Count)), row.text("findings"), row.text("impression"))
        for row in rows
    ]


def text_key(report: Report) -> str:
    """Return the words and numbers of findings and impression: the same key, the same text."""
    return " ".join(words(f"{reveal(report.findings)} {reveal(report.impression)}"))


def halves(reports: Sequence[Report]) -> dict[str, str]:
    """Return the half of each report by uid, ``odd`` or ``even``. Reports with the same text
    (:func:`text_key`) are all in the half of their smallest uid."""
    keys = {report.id: text_key(report) for report in reports}
    smallest: dict[str, int] = {}
    for uid, key in keys.items():
        smallest[key] = min(int(uid), smallest.get(key, int(uid)))
    return {uid: "odd" if smallest[key] % 2 else "even" for uid, key in keys.items()}


def development_reports(reports: Sequence[Report], tested: Collection[str]) -> list[Report]:
    """Return the odd half's reports whose text is in no study of a test split.

    ``tested`` has the uids of the test split's studies.
    """
    half = halves(reports)
    withheld = {text_key(report) for report in reports if report.id in tested}
    return [report for report in reports if half[report.id] == "odd" and text_key(report) not in withheld]


def pairs(reports: list[Report]) -> list[ReportPair]:
    """Return the findings and impression of the reports that have both."""
    return [
        ReportPair(report.id, report.findings, report.impression, group="Indiana")
        for report in reports
        if len(report.findings) and len(report.impression)
    ]


def recorded_reports(recording: Recording) -> Iterator[Report]:
    """Yield reports with the recorded numbers of words."""
    for row in recording.table.itertuples():
        findings, impression = section_placeholders(recording.name, row)
        yield Report(id=str(row.number + 1), findings=findings, impression=impression)


def load_labels(path: Path) -> list[CodedStudy]:
    """Return each report's labels, in the file's order; the id of the row ``CXR12`` is ``12``."""
    return [
        CodedStudy(
            row["filename"].removeprefix("CXR"),
            frozenset(name for name in LABELS if row[name] == "1"),
            row["normal"] == "1",
        )
        for row in reading.read_csv(path, ("filename", "normal", *LABELS))
    ]


read = load_each(load, "indiana_reports.csv")
read_labels = load_each(load_labels, LABELS_FILE)
