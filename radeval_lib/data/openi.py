"""Open-i chest X-ray reports of Indiana University, as redistributed in CSV (Demner-Fushman et al. 2016)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.readers import make_reader
from radeval_lib.data.recorded import Recording, make_section_placeholders
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
"""The manually coded findings, as NegBio's repository names them (Peng et al. 2018). ``Hernia`` is left out,
because an error in the mapping leaves it empty for every report."""
LABELS_FILE = "openi_gld_std14.csv"


def load(path: Path) -> list[Report]:
    """Return the reports of ``indiana_reports.csv``, in the file's order; either section may be empty.

    Raises
    ------
    FormatError
        If a column is missing, or a uid is not an integer.
    """
    rows = reading.read_csv(path, ("uid", "findings", "impression"))
    return [
        Report(str(row.take("uid", reading.Count)), row.text("findings"), row.text("impression"))
        for row in rows
    ]


def join_words(report: Report) -> str:
    """Return the words and numbers of findings and impression, separated by blanks.

    Reports with the same result count as the same text: case, punctuation and line breaks are ignored.
    """
    return " ".join(words(f"{reveal(report.findings)} {reveal(report.impression)}"))


def assign_halves(reports: Sequence[Report]) -> dict[str, str]:
    """Return a mapping from each report's uid to its half, ``odd`` or ``even``.

    The half is the parity of the uid. Reports with the same text (:func:`join_words`) all take the parity of
    the smallest uid among them, so that no text is in both halves. Each id must be an integer.
    """
    keys = {report.id: join_words(report) for report in reports}
    smallest_uid: dict[str, int] = {}
    for uid, key in keys.items():
        smallest_uid[key] = min(int(uid), smallest_uid.get(key, int(uid)))
    return {uid: "odd" if smallest_uid[key] % 2 else "even" for uid, key in keys.items()}


def select_development(reports: Sequence[Report], test_uids: Collection[str]) -> list[Report]:
    """Return the reports of the odd half whose text (:func:`join_words`) is not in a test split.

    Parameters
    ----------
    reports : all reports of Open-i, since the halves depend on all of them.
    test_uids : uids of the studies in the test split.
    """
    halves = assign_halves(reports)
    test_keys = {join_words(report) for report in reports if report.id in test_uids}
    odd_reports = [report for report in reports if halves[report.id] == "odd"]
    return [report for report in odd_reports if join_words(report) not in test_keys]


def make_pairs(reports: list[Report]) -> list[ReportPair]:
    """Return one pair of findings and impression for each report that has both sections."""
    return [
        ReportPair(report.id, report.findings, report.impression, group="Indiana")
        for report in reports
        if len(report.findings) and len(report.impression)
    ]


def restore_reports(recording: Recording) -> Iterator[Report]:
    """Yield the reports of a stored set; their texts are placeholders with the stored numbers of words.

    The id is the row's number, from 1.
    """
    for row in recording.table.itertuples():
        findings, impression = make_section_placeholders(recording.name, row)
        yield Report(id=str(row.number + 1), findings=findings, impression=impression)


def load_labels(path: Path) -> list[CodedStudy]:
    """Return the coded findings of each report, in the file's order; the id of the row ``CXR12`` is ``12``.

    Raises
    ------
    FormatError
        If a column is missing, a label is neither 0 nor 1, or a report has two rows.
    """
    rows = reading.read_csv(path, ("filename", "normal", *LABELS))
    return [
        CodedStudy(
            row["filename"].removeprefix("CXR"),
            frozenset(name for name in LABELS if row.take(name, reading.Flag) == "1"),
            row.take("normal", reading.Flag) == "1",
        )
        for row in reading.require_distinct(rows, "filename")
    ]


read = make_reader(load, "indiana_reports.csv")
read_labels = make_reader(load_labels, LABELS_FILE)
