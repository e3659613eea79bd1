"""Chest CT reports, translated from Turkish, with eighteen labels by hand each (Hamamci et al. 2024)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from radeval_lib.data import reading
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

    def report(row: reading.Entry) -> LabelledReport:
        labels = frozenset(name for name in LABELS if row.take(name, reading.Flag))
        return LabelledReport(row.text("AccessionNo"), row.text("report_text"), labels)

    return reading.records(
        reading.read_csv(path, ("AccessionNo", "report_text", *LABELS)), report, name="AccessionNo"
    )


READER = Reader(each(load, FILE))
