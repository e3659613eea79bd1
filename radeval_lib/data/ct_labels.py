"""Chest CT reports, translated from Turkish, with eighteen hand-made labels (Hamamci et al. 2024)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.readers import load_each

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
FILE = "ct_val_200.csv"


@dataclass(frozen=True)
class LabelledReport:
    """A report, and those of :data:`LABELS` that people gave it."""

    id: str
    text: str = field(repr=False)
    labels: frozenset[str]


def load(path: Path) -> list[LabelledReport]:
    """Return the reports with their labels, in the file's order."""
    return [
        LabelledReport(
            row["AccessionNo"],
            row.text("report_text"),
            frozenset(name for name in LABELS if row[name] == "1"),
        )
        for row in reading.read_csv(path, ("AccessionNo", "report_text", *LABELS))
    ]


read = load_each(load, FILE)
