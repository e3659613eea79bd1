"""Chest CT reports, translated from Turkish, with eighteen hand-labelled findings (Hamamci et al. 2024)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.readers import make_reader

# The labelled findings, as the file's columns name them.
LABELS = (
    "Medical material",
    "Arterial wall calcification",
    "Cardiomegaly",
    "Pericardial effusion",
    "Coronary artery wall calcification",
    "Hiatal hernia",
    "Lymphadenopathy",
    "Emphysema",
    "Atelectasis",
    "Lung nodule",
    "Lung opacity",
    "Pulmonary fibrotic sequela",
    "Pleural effusion",
    "Mosaic attenuation pattern",
    "Peribronchial thickening",
    "Consolidation",
    "Bronchiectasis",
    "Interlobular septal thickening",
)
FILE = "ct_val_200.csv"  # the 200 validation reports


@dataclass(frozen=True)
class LabelledReport:
    """A report's text, and the findings among :data:`LABELS` that were marked by hand as present."""

    id: str
    text: str = field(repr=False)
    labels: frozenset[str]


def load(path: Path) -> list[LabelledReport]:
    """Return the labelled reports of a file, in its order.

    Raises
    ------
    FormatError
        If a column is missing, or a label is neither 0 nor 1.
    """
    return [
        LabelledReport(
            row["AccessionNo"],
            row.text("report_text"),
            frozenset(name for name in LABELS if row.take(name, reading.Flag) == "1"),
        )
        for row in reading.read_csv(path, ("AccessionNo", "report_text", *LABELS))
    ]


read = make_reader(load, FILE)
