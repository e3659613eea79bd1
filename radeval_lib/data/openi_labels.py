"""What people coded in Open-i's reports, as fourteen findings of NegBio's repository (Peng et al. 2018).

``Hernia`` is empty for every report by a fault of the mapping, so it is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.readers import Reader, each
from radeval_lib.data.records import CodedStudy

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
"""The findings, without ``Hernia``."""
FILE = "openi_gld_std14.csv"
_ID = re.compile(r"CXR([1-9]\d{0,5})")  # CXR12: report 12


def load(path: Path) -> list[CodedStudy]:
    """Return the codes of each report, in the file's order; ``CXR12`` is Open-i's report 12."""
    return reading.records(reading.read_csv(path, ("filename", *LABELS, "normal")), _study, name="filename")


def _study(row: reading.Entry) -> Iterator[CodedStudy]:
    found = _ID.fullmatch(row.text("filename"))
    if not found:
        raise FormatError("filename must be CXR and a number", row.where)
    coded = [name for name in LABELS if row.whole(name, high=1)]
    yield CodedStudy(found[1], frozenset(coded), bool(row.whole("normal", high=1)))


READER = Reader(each(load, FILE))
