"""MEDIQA-2021 task 3: findings and impression of chest X-ray reports (Ben Abacha et al. 2021)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.readers import SPLIT_FILES, load_each
from radeval_lib.data.recorded import Recording, section_placeholders
from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import mark


def load(path: Path, *, group: str = "Indiana", restricted: bool = False) -> list[ReportPair]:
    """Return the report pairs in a JSON list of objects with ``study_id``, ``subject_id``, ``findings`` and
    ``impression``, in its order.

    ``group`` is the institution of the reports. ``restricted`` is true for files that users build from
    MIMIC-CXR; their texts are then :class:`~radeval_lib.data.restricted.RestrictedText`.

    Raises
    ------
    FormatError
        If a key is missing, a section is empty, or a study id is repeated.
    """

    def parse_pair(item: reading.Entry) -> ReportPair:
        findings, impression = (
            mark(item.text(key), "mediqa2021_mimic_cxr", restricted) for key in ("findings", "impression")
        )
        patient = item.take("subject_id", str)
        return ReportPair(item.take("study_id", str), findings, impression, patient, group)

    return reading.records(reading.read_objects(path), parse_pair, name="study_id")


def recorded_pairs(recording: Recording) -> Iterator[ReportPair]:
    """Yield the report pairs of a stored set, with placeholders that have the stored numbers of words."""
    for row in recording.table.itertuples():
        findings, impression = section_placeholders(recording.name, row)
        yield ReportPair(f"{recording.name} {row.number}", findings, impression, group="Indiana")


read = load_each(load, "indiana_dev.json")
read_mimic_cxr = load_each(partial(load, group="MIMIC-CXR", restricted=True), *SPLIT_FILES[:2])
