"""Loading of a data role's records from the source that the profile names.

A notebook asks for a role, such as ``rated_pairs``; the profile names its source:

- ``synthetic``: the generator;
- ``NAME``: the files of a data set under the data root; ``NAME/SCALE`` for one of several scales of ratings;
- ``recorded/NAME``: numbers in the repository that were stored from a data set (placeholders for its texts);
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
from radeval_lib.data.records import FactRating, RatedPair, Report, TextPair, text_pair
from radeval_lib.errors import did_you_mean, listed
from radeval_lib.registry import ABSENT, SYNTHETIC, dataset_of, datasets_of, is_recorded, scale_of
from radeval_lib.text_format import joined

HALVES = ("odd", "even")
"""The halves of Open-i. If a source names one in place of a scale, its role gets edits of these reports."""


def load(
    role: str,
    source: str,
    *,
    size: int,
    seed: int,
    root: Path | None,
    note: Callable[[Path], None] = lambda path: None,
) -> list[Any]:
    """Return the records of a role, all of the role's type.

    Parameters
    ----------
    role : key of :data:`radeval_lib.registry.ROLES`.
    source : as the module describes. Of several joined by ``+``, those whose files are absent are skipped.
    size, seed : how many records the generator makes, and its seed; not used with a data set.
    root : data root, or None if there is none.
    note : called with the path of each file before it is read, for provenance.

    Raises
    ------
    RoleError
        If the role is unknown; if the source is unknown, ``absent``, names a part twice, or has no records of
        the role's type or of the scale that it names; if the generator is asked for no record; or if there is
        no data root but the source needs one.
    AbsentDataError
        If the data root has none of the data set's files, or too few to give a record.
    DataError
        If a file differs from its manifest or stored description, or is malformed.
    """
    where = f"role {role!r}"
    if role not in registry.ROLES:
        raise RoleError(f"unknown role {role!r}", "", f"Use one of {', '.join(registry.ROLES)}.")
    if source == SYNTHETIC:
        if not registry.ROLES[role].generator:
            remedy = "In the profile, name a data set, `recorded/` and a stored set, or `absent`."
            raise RoleError("the generator has no ratings", f"role {role!r}", remedy)
        if size < 1:
            problem = f"the generator is asked for {size} records"
            raise RoleError(problem, f"role {role!r}", "Ask for 1 or more.")
        # No two roles share a report, so that a model is not tested on reports that it learned from.
        stream = int.from_bytes(hashlib.sha256(f"{seed} {role}".encode()).digest()[:4], "big")
        return list(registry.find(registry.ROLES[role].generator)(size, stream))
    if "+" in source:
        if len(set(parts := source.split("+"))) < len(parts):
            raise RoleError(f"{source!r} names a part twice", where, "Name each once.")
        return [
            record
            for part in (loadable_parts(source, root) or source).split("+")
            for record in load(role, part, size=size, seed=seed, root=root, note=note)
        ]
    if source == ABSENT:
        raise RoleError("the profile declares it absent", where, "End the page before it: only_with_data.")
    dataset = dataset_of(source)
    if is_recorded(source):
        recorded = registry.module("radeval_lib.data.recorded")
        for path in recorded.files(dataset):
            note(path)
        return _of_role(recorded.records(dataset), role, source, root)
    if dataset not in manifests.names():
        sources = [SYNTHETIC, *manifests.names()]
        raise RoleError(
            f"no source {source!r}", where, f"{did_you_mean(dataset, sources)}Use one of {listed(sources)}."
        )
    if root is None:
        remedy = "Give --data-root FOLDER, or set RADEVAL_DATA_ROOT."
        raise RoleError(f"{source!r} needs a data root", where, remedy)
    return _of_role(readers.load(dataset, root, note), role, source, root)


def _of_role(records: list[Any], role: str, source: str, root: Path | None) -> list[Any]:
    """Return the records of the role's type, and of the source's scale if it names one.

    For a role of plain pairs of texts, ratings serve too, without their numbers and each id once. In place of
    a scale, its source may name a half of :data:`HALVES`.

    Raises
    ------
    RoleError
        If no record is left; an AbsentDataError if files of the data set are missing.
    """
    kind, scale = registry.find(registry.ROLES[role].record), scale_of(source)
    if kind is TextPair and scale in HALVES:
        reports = [record for record in records if isinstance(record, Report)]
        half_of = registry.find("radeval_lib.data.openi:halves")(reports)
        chosen = [report for report in reports if half_of[report.id] == scale]
        records, scale = registry.find("radeval_lib.data.report_edits:text_pairs")(chosen), ""
    kinds = (RatedPair, FactRating, TextPair) if kind is TextPair else kind
    of_kind = [
        record
        for record in records
        if isinstance(record, kinds) and (not scale or getattr(record, "scale", "") == scale)
    ]
    if kind is TextPair:
        of_kind = list({record.id: text_pair(record) for record in of_kind}.values())
    if of_kind:
        return of_kind
    files = load_manifest(dataset_of(source)).files
    if is_recorded(source) or (root is not None and all((root / file.path).is_file() for file in files)):
        scales = sorted({record.scale for record in records if isinstance(record, RatedPair)})
        remedy = f"Choose a scale: {', '.join(scales)}." if scales else "Name another data set."
        raise RoleError(f"{source!r} has no records for it", f"role {role!r}", remedy)
    raise lack(role, source, root)


def loadable_parts(source: str, root: Path | None) -> str:
    """Return the parts of a source that can be loaded, joined by ``+``; empty if there is none.

    A data set counts as present if the data root holds any of its files. The generator and stored sets are
    always present; so is an unknown name, which :func:`load` refuses.
    """
    parts = {part: dataset_of(part) for part in source.split("+")}
    return "+".join(
        part
        for part, name in parts.items()
        if is_recorded(part) or name not in manifests.names() or manifests.is_present(name, root)
    )


def lack(role: str, source: str, root: Path | None) -> AbsentDataError:
    """Return an error that names the missing data sets for a role and how to get them; ``source`` names only
    data sets."""
    sets = [load_manifest(name) for name in datasets_of(source)]
    named = joined([manifest.title.partition(":")[0] for manifest in sets])
    problem = "incomplete and gives no records" if loadable_parts(source, root) else "not in the data root"
    remedy = f"`radbook data status {sets[0].name}` says how to get it"
    return AbsentDataError(f"{named}, for the role {role!r}, is {problem}", remedy=remedy)


_LEVELS = (ABSENT, SYNTHETIC, "recorded", "open", "credentialed")


def evidence(source: str) -> str:
    """Return the level of evidence of results from a source: ``synthetic``, ``recorded`` (public data, scored
    before), ``open``, ``credentialed`` or ``absent``. A source of several parts has the level of its least
    open part."""

    def level(part: str) -> str:
        if part in (SYNTHETIC, ABSENT):
            return part
        if is_recorded(part):
            return "recorded"
        return "open" if load_manifest(dataset_of(part)).access == "open" else "credentialed"

    return max(map(level, source.split("+")), key=_LEVELS.index)
