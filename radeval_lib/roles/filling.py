"""What fills each role of data: a data set, the generator, or several of them joined by ``+``.

A profile names the filler, so that a notebook asks for a role and nothing else. Roles and readers are found
by name in :mod:`radeval_lib.registry`.
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
from radeval_lib.registry import ABSENT, SYNTHETIC, dataset_of, datasets_of, is_recorded, scale_of
from radeval_lib.wording import joined

HALVES = ("odd", "even")
"""In place of a scale: the half of a collection of reports whose plain edits fill a role of texts."""
_FILL = "Name a data set, `recorded/` and a recorded set, or `absent` for it in the profile."


def load(
    role: str,
    filler: str,
    *,
    size: int,
    seed: int,
    root: Path | None,
    note: Callable[[Path], None] = lambda path: None,
) -> list[Any]:
    """The records that fill a role.

    Parameters
    ----------
    role : key of :data:`radeval_lib.registry.ROLES`.
    filler : ``synthetic``, or the name of a data set, with ``/`` and a scale where its ratings have several,
        and ``recorded/`` before it where what is recorded of it stands for its files.
    size, seed : of the generator; not used where a data set fills the role.
    root : data root, or None.
    note : called with each file that is read.
    """
    if role not in registry.ROLES:
        raise RoleError(f"unknown role {role!r}", "", f"Roles: {', '.join(registry.ROLES)}.")
    if filler == SYNTHETIC:
        if not registry.ROLES[role].generator:
            raise RoleError(f"the generator rates nothing, so it cannot fill the role {role!r}", "", _FILL)
        # No two roles share a report, so that a model is not tried on what it learned.
        stream = int.from_bytes(hashlib.sha256(f"{seed} {role}".encode()).digest()[:4], "big")
        return list(registry.find(registry.ROLES[role].generator)(size, stream))
    if "+" in filler:
        there = present(filler, root) or filler
        parts = (load(role, part, size=size, seed=seed, root=root, note=note) for part in there.split("+"))
        return [record for part in parts for record in part]
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
        known = ", ".join([SYNTHETIC, *manifests.names()])
        raise RoleError(f"{filler!r} cannot fill the role {role!r}", "", f"Fillers: {known}.")
    if root is None:
        raise RoleError(f"the role {role!r} is filled by {filler!r}, which needs a data root")
    return _of_role(readers.load(dataset, root, note), wanted, role, filler, root)


def _of_role(found: list[Any], wanted: type[Any], role: str, filler: str, root: Path | None) -> list[Any]:
    """Those of a role's type and scale, of which there must be one; texts alone come from any ratings."""
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
    if not records:
        raise lack(role, filler, root)
    return records


def present(filler: str, root: Path | None) -> str:
    """The parts of a filler of which the data root holds a file, joined as they were; the generator and what
    is recorded in the repository are always there."""
    parts = (part for part in filler.split("+") if _is_present(part, root))
    return "+".join(parts)


def _is_present(part: str, root: Path | None) -> bool:
    if is_recorded(part) or dataset_of(part) not in manifests.names():
        return True
    files = load_manifest(dataset_of(part)).files
    return root is not None and any((root / file.path).is_file() for file in files)


def lack(role: str, filler: str, root: Path | None) -> AbsentDataError:
    """What is missing of what fills a role, in one line, and how to get it."""
    sets = [load_manifest(name) for name in datasets_of(filler)]
    named = joined([one.title.partition(":")[0] for one in sets])
    here = present(filler, root)
    wrong = "is there only in part and gives no records" if here else "is not in the data root"
    remedy = f"`radbook data status {sets[0].name}` says how to get it"
    return AbsentDataError(f"{named}, which fills the role {role!r}, {wrong}", remedy=remedy)


def _edited(found: list[Any], half: str) -> list[TextPair]:
    """The plain edits of the reports of one half of distinct texts."""
    reports = [record for record in found if isinstance(record, Report)]
    of = registry.find("radeval_lib.data.openi:halves")(reports)
    chosen = [report for report in reports if of[report.id] == half]
    edited: list[TextPair] = registry.find("radeval_lib.synthetic.report_edits:text_pairs")(chosen)
    return edited


def _without_rating(record: RatedPair | FactRating | TextPair) -> TextPair:
    """The texts of a rated candidate; a rated pair's case is its id without the candidate's name."""
    if isinstance(record, TextPair):
        return record
    case = record.case if isinstance(record, FactRating) else record.id.rpartition("/")[0] or record.id
    source = record.source if isinstance(record, FactRating) else ""
    return TextPair(record.id, case, record.reference, record.candidate, source, record.group)


def evidence(filler: str) -> str:
    """Level of evidence of what is computed on a filler: ``synthetic``, ``recorded`` (public data, scored
    before), ``open`` or ``credentialed``; ``absent`` where nothing fills the role."""
    if filler in (SYNTHETIC, ABSENT):
        return filler
    if is_recorded(filler):
        return "recorded"
    access = {load_manifest(name).access for name in datasets_of(filler)}
    return "open" if access == {"open"} else "credentialed"
