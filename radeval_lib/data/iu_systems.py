"""Generated reports that four repositories publish for the 590 studies of Open-i's public test split.

Reports are matched to studies by uid, the number after ``CXR``, because the suffixes of study ids differ
between files. One file has no ids; its rows follow the order of the split, as a test confirms with the
references in the same repository. The published reports need not be those that a paper scores.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.readers import Find
from radeval_lib.data.records import SystemReport

REFERENCE = "reference"
REFERENCES = "ReXRank_IUXray_test.json"
LAST_IMAGE = "MLRG, last image"
# The file of each system. MLRG's file has one text per image; a study's first and last texts count as two
# systems.
FILES = {
    "MLRG": "mlrg_two_view_iu_rows_only.csv",
    LAST_IMAGE: "mlrg_two_view_iu_rows_only.csv",
    "MoERad": "moerad_preds.csv",
    "CvT2DistilGPT2": "cvt2distilgpt2.csv",
    "AAMN": "aamn_res.csv",
}
# References in the order of the file without ids; a test with ids shows that it is the split's order.
ORDERED_REFERENCES = "r2gen_test590_gts.csv"
# The file and the columns with the score of each report that MoERad's repository publishes.
SCORES = "moerad_report_scores.csv"
RELEASED = ("bleu_score", "bertscore", "semb_score", "radgraph_combined", "RadCliQ-v0", "RadCliQ-v1")
_UID = re.compile(r"\bCXR([1-9]\d{0,5})_")  # CXR12_IM-0345: study 12


def parse_uid(study: str) -> str:
    """Return the uid in a study id or image name, such as ``12`` in ``CXR12_IM-0345``.

    Raises
    ------
    IndexError
        If ``study`` has no uid.
    """
    return _UID.findall(study)[0]


def read_references(path: Path) -> dict[str, str]:
    """Return a mapping from each study's uid to its reference findings section, in the order of the split.

    Raises FormatError if the file is not a JSON object, IndexError if a study id has no uid, and KeyError if
    a study has no ``section_findings``.
    """
    studies = reading.read_json(path, dict)
    return {parse_uid(study): content["section_findings"].strip() for study, content in studies.items()}


def read_outputs(path: Path, column: str, *, last: bool = False) -> dict[str, str]:
    """Return a mapping from each study's uid to a system's report on the study.

    ``column`` is the name of the column with the study id or image name. If a study has several rows, the
    first row counts, or the last row if ``last`` is true. Raises FormatError if the file is not CSV or a
    column is missing, and IndexError if a study id has no uid.
    """
    rows = list(reading.read_csv(path, (column, "report")))
    return {parse_uid(row.text(column)): row.text("report") for row in (rows if last else rows[::-1])}


def read(find: Find) -> list[SystemReport]:
    """Return the references, then each system's reports, in the order of the split.

    The list is empty unless all files are in the data root. Raises the errors of :func:`read_references` and
    :func:`read_outputs`; ValueError if the file without ids has more or fewer lines than there are studies;
    and KeyError if a system has no report on a study.
    """
    all_paths = {name: find(name) for name in (REFERENCES, ORDERED_REFERENCES, *FILES.values())}
    paths = {name: path for name, path in all_paths.items() if path is not None}
    if len(paths) < len(all_paths):
        return []
    references = read_references(paths[REFERENCES])
    texts = {
        REFERENCE: references,
        "MLRG": read_outputs(paths[FILES["MLRG"]], "dicom_id"),
        LAST_IMAGE: read_outputs(paths[FILES["MLRG"]], "dicom_id", last=True),
        "MoERad": read_outputs(paths[FILES["MoERad"]], "study_id"),
        "CvT2DistilGPT2": read_outputs(paths[FILES["CvT2DistilGPT2"]], "dicom_id"),
        "AAMN": dict(zip(references, reading.read_lines(paths[FILES["AAMN"]]), strict=True)),
    }
    return [
        SystemReport(study, system, by_study[study])
        for system, by_study in texts.items()
        for study in references
    ]


def read_released_scores(path: Path, studies: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return a mapping from each column of :data:`RELEASED` to a mapping from uid to score.

    The scores are those that MoERad's repository publishes. ``studies`` are the uids in the order of MoERad's
    file of reports, which the file of scores follows. Raises ValueError if the numbers of studies and rows
    differ, and FormatError if a column is missing or a score is not a number.
    """
    rows = list(reading.read_csv(path, RELEASED))
    return {
        name: {study: row.take(name, reading.Number) for study, row in zip(studies, rows, strict=True)}
        for name in RELEASED
    }
