"""A summarization corpus by part and by pair of modality and anatomy, as the paper names pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from radeval_lib.data.records import ReportPair
from radeval_lib.errors import ParameterError

TRAINED = ("CT Abdomen-pelvis", "CT Chest", "CT Neck", "CT Spine", "CT Head", "MR Head", "X-ray Chest")
"""The pairs that MIMIC-RRS trains (Chen et al. 2023, section 2.2)."""

UNSEEN = ("MR Pelvis", "MR Spine", "MR Neck", "MR Abdomen", "CT Sinus")
"""Its pairs for tests out of domain."""

PARTS = ("train", "dev", "test")
_SPLITS = {"validate": "dev", "val": "dev", "valid": "dev", "development": "dev"}
_MODALITIES = {"mri": "MR", "mr": "MR", "ct": "CT", "x-ray": "X-ray"}
_SHARES = (0.8, 0.9)


def pair_name(group: str) -> str:
    """Return a group of records as the paper names the pair: ``MRI HEAD``, ``MR_head`` are ``MR Head``."""
    modality, _, anatomy = group.replace("_", " ").partition(" ")
    return f"{_MODALITIES.get(modality.lower(), modality)} {anatomy.capitalize()}".strip()


def named(records: Sequence[ReportPair]) -> list[ReportPair]:
    """Return the records with their group named as the paper names the pair."""
    return [replace(record, group=pair_name(record.group)) for record in records]


def by_group(records: Sequence[ReportPair]) -> dict[str, list[ReportPair]]:
    """Return the records of each group, groups and records in their order."""
    groups: dict[str, list[ReportPair]] = {}
    for record in records:
        groups.setdefault(record.group, []).append(record)
    return groups


def divided(records: Sequence[ReportPair], rng: np.random.Generator) -> dict[str, list[ReportPair]]:
    """Return the records by part, ``train``, ``dev`` and ``test``.

    A record keeps the split that its source gives. Where no record has one, a tenth of the patients (of the
    records where their source hides patients) is drawn for dev and another for test. Where only some have
    one, the others are a source apart, and are for test.
    """
    parts: dict[str, list[ReportPair]] = {part: [] for part in PARTS}
    apart = any(record.split for record in records)
    owners = list(dict.fromkeys(r.patient or r.id for r in records if not r.split))
    places = dict(zip(owners, rng.permutation(len(owners)) / max(1, len(owners)), strict=True))
    for record in records:
        part = _SPLITS.get(record.split, record.split)
        if not part and apart:
            part = "test"
        elif not part:
            part = PARTS[int(np.searchsorted(_SHARES, places[record.patient or record.id], side="right"))]
        if part not in parts:
            raise ParameterError(
                f"unknown split {record.split!r}", f"record {record.id}", f"Splits: {', '.join(PARTS)}."
            )
        parts[part].append(record)
    return parts


def drawn(
    records: Sequence[ReportPair], each: int, rng: np.random.Generator, *, whole: bool = False
) -> list[ReportPair]:
    """Return ``each`` records of every group, or of the ``whole``, drawn without replacement; all where there
    are no more, or where ``each`` is 0."""
    chosen: list[ReportPair] = []
    for members in [list(records)] if whole else by_group(records).values():
        if each and len(members) > each:
            members = [members[index] for index in sorted(rng.choice(len(members), each, replace=False))]
        chosen += members
    return chosen
