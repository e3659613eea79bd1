"""Loads the records that fill a role of data.

A notebook asks for a role, such as ``rated_pairs``; the profile names what fills it, its *filler*:

- ``synthetic``: the generator;
- ``NAME``: the files of a data set under the data root; ``NAME/SCALE`` for one of several scales of ratings;
- ``recorded/NAME``: numbers in the repository that were recorded from a data set (placeholders for its
  texts);
- several data sets joined by ``+``;
- ``absent``: nothing.

Roles and readers are found by name in :mod:`radeval_lib.registry`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from radeval_lib import registry
from radeval_lib.data import manifests, readers
from radeval_lib.data.errors import AbsentDataError, RoleError
from radeval_lib.data.manifests import load_manifest
from radeval_lib.data.records import FactRating, RatedPair, Report, TextPair
from radeval_lib.errors import check_at_least, listed, meant
from radeval_lib.registry import ABSENT, SYNTHETIC, dataset_of, datasets_of, is_recorded, scale_of
from radeval_lib.text_format import joined

HALVES = ("odd", "even")
"""In place of a scale: the half of a collection of reports whose plain edits fill a role of texts."""
_FILL = "Name a data set, `recorded/` and a stored set, or `absent` for it in the profile."


def load(
    role: str,
    filler: str,
    *,
    size: int,
    seed: int,
    root: Path | None,
    note: Callable[[Path], None] = lambda path: None,
) -> list[Any]:
    """Return the records that fill a role, all of the role's type.

    Parameters
    ----------
    role : key of :data:`radeval_lib.registry.ROLES`.
    filler : as the module describes. Of several joined by ``+``, those whose files are absent are skipped.
    size, seed : how many records the generator makes, and its seed; not used where a data set fills the role.
    root : data root, or None where there is none.
    note : called with the path of each file before it is read, for provenance.

    Raises
    ------
    RoleError
        If there is no such role; the filler is unknown, ``absent``, names a part twice, or has nothing of the
        role's type or of the scale that it names; the generator is asked for no record; or a data root is
        needed and there is none.
    AbsentDataError
        If the data root does not hold the data set, or holds too little of it to give a record.
    DataError
        If a file is not what its manifest, its format or its recording says.
    """
    if role not in registry.ROLES:
        raise RoleError(f"unknown role {role!r}", "", f"Roles: {', '.join(registry.ROLES)}.")
    if filler == SYNTHETIC:
        if not registry.ROLES[role].generator:
            raise RoleError(f"the generator rates nothing, so it cannot fill the role {role!r}", "", _FILL)
        check_at_least(1, f"role {role!r}", RoleError, size=size)
        # No two roles share a report, so that a model is not tried on what it learned.
        stream = int.from_bytes(hashlib.sha256(f"{seed} {role}".encode()).digest()[:4], "big")
        return list(registry.find(registry.ROLES[role].generator)(size, stream))
    if "+" in filler:
        if len(set(parts := filler.split("+"))) < len(parts):
            raise RoleError(f"{filler!r} names a part twice", f"role {role!r}", "Name each once.")
        there = present(filler, root) or filler
        return [
            record
            for part in there.split("+")
            for record in load(role, part, size=size, seed=seed, root=root, note=note)
        ]
    if filler == ABSENT:
        raise RoleError(f"nothing fills the role {role!r}", "", "The page ends before it: only_with_data.")
    dataset = dataset_of(filler)
    wanted = registry.find(registry.ROLES[role].record)
    if is_recorded(filler):
        recorded = registry.module("radeval_lib.data.recorded")
        for path in recorded.files(dataset):
            note(path)
        return _of_role(recorded.records(dataset), wanted, role, filler, root)
    if dataset not in manifests.names():
        known = [SYNTHETIC, *manifests.names()]
        raise RoleError(
            f"{filler!r} cannot fill the role {role!r}",
            "",
            f"{meant(dataset, known)}Fillers: {listed(known)}.",
        )
    if root is None:
        raise RoleError(f"the role {role!r} is filled by {filler!r}, which needs a data root")
    return _of_role(readers.load(dataset, root, note), wanted, role, filler, root)


def _of_role(found: list[Any], wanted: type[Any], role: str, filler: str, root: Path | None) -> list[Any]:
    """Return the records of the type ``wanted``, and of the filler's scale if it names one.

    Where the role wants plain pairs of texts, ratings are accepted too, without their numbers and each id
    once; in place of a scale, the filler may then name a half of :data:`HALVES`.

    Raises
    ------
    RoleError
        If no record is left although all files are there.
    AbsentDataError
        If no record is left.
    """
    scale, kinds = scale_of(filler), (RatedPair, FactRating, TextPair) if wanted is TextPair else (wanted,)
    if wanted is TextPair and scale in HALVES:
        found, scale = _edited(found, scale), ""
    records = [
        record
        for record in found
        if isinstance(record, kinds) and (not scale or getattr(record, "scale", "") == scale)
    ]
    if wanted is TextPair:
        records = list({record.id: _without_rating(record) for record in records}.values())
    if records:
        return records
    files = load_manifest(dataset_of(filler)).files
    if is_recorded(filler) or (root is not None and all((root / file.path).is_file() for file in files)):
        scales = sorted({one.scale for one in found if isinstance(one, RatedPair)})
        remedy = f"Scales: {', '.join(scales)}." if scales else "Name another data set."
        raise RoleError(f"{filler!r} holds nothing that fills it", f"role {role!r}", remedy)
    raise lack(role, filler, root)


def present(filler: str, root: Path | None) -> str:
    """Return the parts of a filler that can be loaded, joined by ``+`` as before; empty if none can.

    A data set counts as present if the data root holds any of its files. The generator and stored sets are
    always present; so is an unknown name, which :func:`load` refuses.
    """
    parts = (part for part in filler.split("+") if _is_present(part, root))
    return "+".join(parts)


def _is_present(part: str, root: Path | None) -> bool:
    if is_recorded(part) or dataset_of(part) not in manifests.names():
        return True
    files = load_manifest(dataset_of(part)).files
    return root is not None and any((root / file.path).is_file() for file in files)


def lack(role: str, filler: str, root: Path | None) -> AbsentDataError:
    """Return the error that names the data sets that are missing for a role, and how to get them; ``filler``
    names data sets alone."""
    sets = [load_manifest(name) for name in datasets_of(filler)]
    named = joined([one.title.partition(":")[0] for one in sets])
    here = present(filler, root)
    wrong = "is there only in part and gives no records" if here else "is not in the data root"
    remedy = f"`radbook data status {sets[0].name}` says how to get it"
    return AbsentDataError(f"{named}, which fills the role {role!r}, {wrong}", remedy=remedy)


def _edited(found: list[Any], half: str) -> list[TextPair]:
    """Return reports of one half of a collection (:data:`HALVES`), each paired with its controlled edits."""
    reports = [record for record in found if isinstance(record, Report)]
    halves = registry.find("radeval_lib.data.openi:halves")(reports)
    chosen = [report for report in reports if halves[report.id] == half]
    edited: list[TextPair] = registry.find("radeval_lib.data.report_edits:text_pairs")(chosen)
    return edited


def _without_rating(record: RatedPair | FactRating | TextPair) -> TextPair:
    """Return a rated candidate as a pair of texts; the case of a RatedPair is its id up to the last ``/``."""
    if isinstance(record, TextPair):
        return record
    case = record.case if isinstance(record, FactRating) else record.id.rpartition("/")[0] or record.id
    source = record.source if isinstance(record, FactRating) else ""
    return TextPair(record.id, case, record.reference, record.candidate, source, record.group)


_LEVELS = (ABSENT, SYNTHETIC, "recorded", "open", "credentialed")


def evidence(filler: str) -> str:
    """Level of evidence of results that are computed on a filler: ``synthetic``, ``recorded`` (public data,
    scored before), ``open``, or ``credentialed``; ``absent`` where nothing fills the role. Of several parts
    that of the least open."""
    return max(map(_evidence, filler.split("+")), key=_LEVELS.index)


def _evidence(part: str) -> str:
    if part in (SYNTHETIC, ABSENT):
        return part
    if is_recorded(part):
        return "recorded"
    return "open" if load_manifest(dataset_of(part)).access == "open" else "credentialed"
