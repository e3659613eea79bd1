"""Outputs that four repositories committed for the 590 studies of Open-i's public test split.

Outputs are matched to studies by uid, the number after ``CXR``, because the suffixes of study ids differ
between files. One file has no ids; its rows follow the order of the split, as a test confirms with the
references in the same repository. Committed outputs need not be those that a paper reports on.
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
FILES = {
    "MLRG": "mlrg_two_view_iu_rows_only.csv",
    LAST_IMAGE: "mlrg_two_view_iu_rows_only.csv",
    "MoERad": "moerad_preds.csv",
    "CvT2DistilGPT2": "cvt2distilgpt2.csv",
    "AAMN": "aamn_res.csv",
}
"""The file of each system. MLRG's has a text per image, of which a study's first and last are taken."""
ORDERED_REFERENCES = "r2gen_test590_gts.csv"
"""References in the order of the file without ids; they show that this is the order of the split."""
SCORES = "moerad_report_scores.csv"
RELEASED = ("bleu_score", "bertscore", "semb_score", "radgraph_combined", "RadCliQ-v0", "RadCliQ-v1")
"""Scores of each report that the MoERad repository commits."""
_UID = re.compile(r"\bCXR([1-9]\d{0,5})_")  # CXR12_IM-0345: study 12


def uid(study: str) -> str:
    """Return Open-i's number of a study, from a study id or the name of an image."""
    return _UID.findall(study)[0]


def references(path: Path) -> dict[str, str]:
    """Return the findings section of each study by uid, in the order of the split."""
    studies = reading.read_json(path, dict)
    return {uid(study): content["section_findings"].strip() for study, content in studies.items()}


def outputs(path: Path, column: str, *, last: bool = False) -> dict[str, str]:
    """Return the text of each study by uid. Of several rows on a study, the first counts, or the ``last``."""
    rows = list(reading.read_csv(path, (column, "report")))
    return {uid(row.text(column)): row.text("report") for row in (rows if last else rows[::-1])}


def read(find: Find) -> list[SystemReport]:
    """Return the references and each system's outputs, in the order of the split; empty unless every file
    exists."""
    paths = {name: find(name) for name in (REFERENCES, ORDERED_REFERENCES, *FILES.values())}
    there = {name: path for name, path in paths.items() if path is not None}
    if len(there) < len(paths):
        return []
    originals = references(there[REFERENCES])
    texts = {
        REFERENCE: originals,
        "MLRG": outputs(there[FILES["MLRG"]], "dicom_id"),
        LAST_IMAGE: outputs(there[FILES["MLRG"]], "dicom_id", last=True),
        "MoERad": outputs(there[FILES["MoERad"]], "study_id"),
        "CvT2DistilGPT2": outputs(there[FILES["CvT2DistilGPT2"]], "dicom_id"),
        "AAMN": dict(zip(originals, reading.read_lines(there[FILES["AAMN"]]), strict=True)),
    }
    return [
        SystemReport(study, system, by_study[study])
        for system, by_study in texts.items()
        for study in originals
    ]


def released_scores(path: Path, studies: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the scores that MoERad's repository commits, by name and uid. ``studies`` are the uids in the
    order of its output file."""
    rows = list(reading.read_csv(path, RELEASED))
    return {
        name: {study: row.take(name, reading.Number) for study, row in zip(studies, rows, strict=True)}
        for name in RELEASED
    }
