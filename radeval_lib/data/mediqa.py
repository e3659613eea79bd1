"""MEDIQA-2021 task 3: findings, impression and background of chest X-ray reports (Ben Abacha et al. 2021)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import mark


def load(
    path: Path, *, group: str = "Indiana", split: str = "", restricted: bool = False
) -> list[ReportPair]:
    """Report pairs of a MEDIQA-2021 JSON file, in the file's order.

    Parameters
    ----------
    path : e.g. ``indiana_dev.json``: a list of {study_id, subject_id, findings, impression, background}.
    group, split : institution and split of the reports, kept in the records.
    restricted : whether the text may not be redistributed (the files that users build from MIMIC-CXR).

    Raises
    ------
    FormatError
        Naming file and record: missing key, wrong type, cut short, wrong encoding, duplicate study_id.
    """
    return reading.unique(_pairs(path, group, split, restricted), lambda pair: pair.id, "study_id")


def _pairs(path: Path, group: str, split: str, restricted: bool) -> Iterator[tuple[str, ReportPair]]:
    for position, item in reading.read_objects(path):
        where = f"{path.name}, record {position}"
        text = {
            key: mark(reading.take(item, key, str, where).strip(), "mediqa2021_mimic_cxr", restricted)
            for key in ("findings", "impression", "background")
        }
        yield (
            where,
            reading.make(
                ReportPair,
                where,
                id=reading.take(item, "study_id", str, where),
                patient=reading.take(item, "subject_id", str, where),
                group=group,
                split=split,
                **text,
            ),
        )
