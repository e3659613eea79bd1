"""MEDIQA-2021 task 3: findings and impression of chest X-ray reports (Ben Abacha et al. 2021)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.readers import SPLIT_FILES, make_reader
from radeval_lib.data.recorded import Recording, make_section_placeholders
from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import mark_restricted

MIMIC_CXR = "mediqa2021_mimic_cxr"  # the data set whose texts are restricted


def load(path: Path, *, group: str = "Indiana", restricted: bool = False) -> list[ReportPair]:
    """Return the report pairs in a JSON file, in its order.

    The file is a list of objects with ``study_id``, ``subject_id``, ``findings`` and ``impression``.
    ``group`` is the institution of the reports. ``restricted`` is true for files that users build from
    MIMIC-CXR; their texts are then :class:`~radeval_lib.data.restricted.RestrictedText`.

    Raises
    ------
    FormatError
        If a key is missing, a section is empty, or a study id is repeated.
    """

    def parse_pair(item: reading.Entry) -> ReportPair:
        findings, impression = (
            mark_restricted(item.text(key), MIMIC_CXR, restricted=restricted)
            for key in ("findings", "impression")
        )
        patient = item.take("subject_id", str)
        return ReportPair(item.take("study_id", str), findings, impression, patient, group)

    return reading.parse_records(reading.read_objects(path), parse_pair, name="study_id")


def restore_pairs(recording: Recording) -> Iterator[ReportPair]:
    """Yield the report pairs of a stored set; texts are placeholders with the stored numbers of words."""
    for row in recording.table.itertuples():
        findings, impression = make_section_placeholders(recording.name, row)
        yield ReportPair(f"{recording.name} {row.number}", findings, impression, group="Indiana")


read = make_reader(load, "indiana_dev.json")
read_mimic_cxr = make_reader(partial(load, group="MIMIC-CXR", restricted=True), *SPLIT_FILES[:2])
