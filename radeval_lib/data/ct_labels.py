"""Chest CT reports, translated from Turkish, with eighteen labels by hand each (Hamamci et al. 2024)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from radeval_lib.data.readers import Reader, each

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
    """A report and those of :data:`LABELS` that it was given."""

    id: str
    text: str = field(repr=False)
    labels: frozenset[str]


def load(path: Path) -> list[LabelledReport]:
    """Return the reports with their labels, in the file's order."""
    return [
        LabelledReport(
            row["AccessionNo"],
            row["report_text"].strip(),
            frozenset(name for name in LABELS if row[name] == 1),
        )
        for row in pd.read_csv(path).to_dict("records")
    ]


READER = Reader(each(load, FILE))
