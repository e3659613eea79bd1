"""Load the records of a role from the source that the profile names.

A notebook asks for a role, such as ``rated_pairs``; the profile names its source:

- ``synthetic``: the generator;
- ``NAME``: the files of a data set under the data root; ``NAME/SCALE`` for one of several scales of ratings;
- ``recorded/NAME``: stored numbers of a data set, with placeholders for its texts;
- several data sets, separated by ``+``;
- ``absent``: nothing.

:mod:`radeval_lib.registry` lists roles and readers by name.
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
from radeval_lib.data.records import FactRating, RatedPair, Report, TextPair, to_text_pair
from radeval_lib.errors import did_you_mean, list_names
from radeval_lib.registry import ABSENT, SYNTHETIC, dataset_of, datasets_of, is_recorded, scale_of
from radeval_lib.text_format import joined

# The halves of Open-i. If a source names a half in place of a scale, the role receives edits of its reports.
HALVES = ("odd", "even")


def load(
    role: str,
    source: str,
    *,
    size: int,
    seed: int,
    root: Path | None,
    note: Callable[[Path], None] = lambda path: None,
) -> list[Any]:
    """Return the records of a role from a source, all of the role's type.

    Parameters
    ----------
    role : key of :data:`radeval_lib.registry.ROLES`.
    source : a source as the module's docstring describes it. Of several parts separated by ``+``, those
        whose files are absent are skipped.
    size, seed : number of records and seed for the generator; ignored for other sources.
    root : data root, or None if there is none.
    note : function called with the path of each file before it is read, to record provenance.

    Raises
    ------
    RoleError
        If the role is unknown; if the source is unknown or ``absent``, repeats a part, has no records of the
        role's type or of the scale that it names, or needs a data root that is not set; or if ``size`` is
        less than 1 with the generator.
    AbsentDataError
        If files of the data set are missing from the data root, so that there are no records.
    DataError
        If a file differs from its manifest or stored description, or is malformed.
    """
    where = f"role {role!r}"
    if role not in registry.ROLES:
        raise RoleError(f"unknown role {role!r}", "", f"Use one of {', '.join(registry.ROLES)}.")
    if source == SYNTHETIC:
        if not registry.ROLES[role].generator:
            remedy = "In the profile, name a data set, `recorded/<stored set>`, or `absent`."
            raise RoleError("the generator makes no records for this role", where, remedy)
        if size < 1:
            raise RoleError(f"the size {size} is less than 1", where, "Set `sizes` in the profile above 0.")
        # Each role has a separate seed, so that no model is tested on reports that it was trained on.
        role_seed = int.from_bytes(hashlib.sha256(f"{seed} {role}".encode()).digest()[:4], "big")
        return list(registry.find(registry.ROLES[role].generator)(size, role_seed))
    if "+" in source:
        if len(set(parts := source.split("+"))) < len(parts):
            raise RoleError(f"the source {source!r} repeats a part", where, "Name each part once.")
        return [
            record
            for part in (keep_loadable(source, root) or source).split("+")
            for record in load(role, part, size=size, seed=seed, root=root, note=note)
        ]
    if source == ABSENT:
        remedy = "Name a source in the profile; or, in a notebook, call study.only_with_data first."
        raise RoleError("the profile declares its source absent", where, remedy)
    dataset = dataset_of(source)
    if is_recorded(source):
        recorded = registry.module("radeval_lib.data.recorded")
        for path in recorded.list_tables(dataset):
            note(path)
        return _select_for_role(recorded.load_records(dataset), role, source, root)
    if dataset not in manifests.names():
        sources = [SYNTHETIC, *manifests.names()]
        raise RoleError(
            f"unknown source {source!r}",
            where,
            f"{did_you_mean(dataset, sources)}Use one of {list_names(sources)}.",
        )
    if root is None:
        remedy = "Pass --data-root FOLDER, or set RADEVAL_DATA_ROOT."
        raise RoleError(f"no data root is set, but the source {source!r} needs one", where, remedy)
    return _select_for_role(readers.load(dataset, root, note), role, source, root)


def _select_for_role(records: list[Any], role: str, source: str, root: Path | None) -> list[Any]:
    """Return the records that are of the role's type and, if the source names a scale, on this scale.

    A role of text pairs without ratings also accepts rated pairs and ratings of facts, each id once, and
    drops the ratings. If its source names a half (:data:`HALVES`) in place of a scale, the role receives
    edits of that half's reports.

    Raises
    ------
    AbsentDataError
        If no record is left and files of the data set are missing.
    RoleError
        If no record is left although all files exist.
    """
    record_type, scale = registry.find(registry.ROLES[role].record), scale_of(source)
    if record_type is TextPair and scale in HALVES:
        reports = [record for record in records if isinstance(record, Report)]
        half_by_id = registry.find("radeval_lib.data.openi:assign_halves")(reports)
        half_reports = [report for report in reports if half_by_id[report.id] == scale]
        records, scale = registry.find("radeval_lib.data.report_edits:make_text_pairs")(half_reports), ""
    accepted_types = (RatedPair, FactRating, TextPair) if record_type is TextPair else record_type
    matches = [
        record
        for record in records
        if isinstance(record, accepted_types) and (not scale or getattr(record, "scale", "") == scale)
    ]
    if record_type is TextPair:
        matches = list({record.id: to_text_pair(record) for record in matches}.values())
    if matches:
        return matches
    files = load_manifest(dataset_of(source)).files
    if is_recorded(source) or (root is not None and all((root / file.path).is_file() for file in files)):
        scales = sorted({record.scale for record in records if isinstance(record, RatedPair)})
        remedy = f"Use another set, or add a scale: /{', /'.join(scales)}." if scales else "Use another set."
        raise RoleError(f"source {source!r} has no {record_type.__name__} records", f"role {role!r}", remedy)
    raise make_absence_error(role, source, root)


def keep_loadable(source: str, root: Path | None) -> str:
    """Return the parts of a source that can be loaded, separated by ``+``; empty if there are none.

    A data set can be loaded if the data root has any of its files; the generator and stored sets always can.
    An unknown name is kept, so that :func:`load` refuses it.
    """
    parts = {part: dataset_of(part) for part in source.split("+")}
    return "+".join(
        part
        for part, name in parts.items()
        if is_recorded(part) or name not in manifests.names() or manifests.is_present(name, root)
    )


def make_absence_error(role: str, source: str, root: Path | None) -> AbsentDataError:
    """Return an error that names the data sets that a role lacks, and how to get the first of them.

    All parts of ``source`` must be data sets.
    """
    manifests = [load_manifest(name) for name in datasets_of(source)]
    titles = joined([manifest.title.partition(":")[0] for manifest in manifests])
    state = "incomplete, without any record" if keep_loadable(source, root) else "not in the data root"
    remedy = f"Run `radbook data status {manifests[0].name}` for the steps to get it"
    return AbsentDataError(f"no data for the role {role!r}: {titles} ({state})", remedy=remedy)


_EVIDENCE_KINDS = (ABSENT, SYNTHETIC, "recorded", "open", "credentialed")


def classify(source: str) -> str:
    """Return the kind of evidence that a source provides.

    The kinds are, in this order, ``absent``, ``synthetic``, ``recorded`` (stored scores of public data),
    ``open`` and ``credentialed``. For a source of several parts, the result is the last kind, in
    this order, of any part. Raises ManifestError if a data set is unknown.
    """

    def classify_part(part: str) -> str:
        if part in (SYNTHETIC, ABSENT):
            return part
        if is_recorded(part):
            return "recorded"
        return "open" if load_manifest(dataset_of(part)).access == "open" else "credentialed"

    return max(map(classify_part, source.split("+")), key=_EVIDENCE_KINDS.index)
