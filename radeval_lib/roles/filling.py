"""Roles: what a notebook needs, filled by whatever its profile names.

A profile's ``roles`` maps a role to a data set of ``data_manifests/datasets/`` or to ``synthetic``; its
``sizes`` say how many reports or pairs the generator makes for a role. Rated pairs can be on several scales:
``radpref/errors`` takes those of one scale. ``mimic3_rrs+mimic_cxr_rrs`` takes the records of both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from radeval_lib.data import catalog
from radeval_lib.data.errors import RoleError as RoleError
from radeval_lib.data.records import (
    AnnotatedSentence,
    Document,
    ErrorCount,
    FactRating,
    JudgedPair,
    NoteJudgement,
    RatedPair,
    Report,
    ReportPair,
)
from radeval_lib.roles import generated, generated_facts, generated_ratings

SYNTHETIC = "synthetic"


@dataclass(frozen=True)
class Role:
    """What a notebook can ask for."""

    record: type
    generate: Callable[[int, int], Iterator[Any]]


ROLES: dict[str, Role] = {
    "reports": Role(Report, generated.reports),
    "summaries": Role(ReportPair, generated.summaries),
    "anatomy_summaries": Role(ReportPair, generated.anatomy_summaries),
    "descriptions": Role(Document, generated.descriptions),
    "procedures": Role(Document, generated.procedures),
    "ner_corpus": Role(AnnotatedSentence, generated.ner_corpus),
    "graph_corpus": Role(AnnotatedSentence, generated.graph_corpus),
    "spatial_corpus": Role(AnnotatedSentence, generated.spatial_corpus),
    "stanza_corpus": Role(AnnotatedSentence, generated.ner_corpus),
    "rated_sentences": Role(RatedPair, generated_ratings.rated_sentences),
    "rated_pairs": Role(RatedPair, generated_ratings.rated_pairs),
    "rated_errors": Role(RatedPair, generated_ratings.rated_errors),
    "error_counts": Role(ErrorCount, generated_ratings.error_counts),
    "fact_ratings": Role(FactRating, generated_facts.fact_ratings),
    "note_judgements": Role(NoteJudgement, generated_facts.note_judgements),
    "judged_pairs": Role(JudgedPair, generated.judged_pairs),
}


def load(role: str, filler: str, *, size: int, seed: int, root: Path | None) -> list[Any]:
    """The records that fill a role.

    Parameters
    ----------
    role : key of :data:`ROLES`.
    filler : ``synthetic``, or the name of a data set, with ``/`` and a scale where its ratings have several.
    size, seed : of the generator; not used where a data set fills the role.
    root : data root, or None.
    """
    if role not in ROLES:
        raise RoleError(f"unknown role {role!r}", "", f"Roles: {', '.join(ROLES)}.")
    if filler == SYNTHETIC:
        # No two roles share a report, so that a model is not tried on what it learned.
        stream = int.from_bytes(hashlib.sha256(f"{seed} {role}".encode()).digest()[:4], "big")
        return list(ROLES[role].generate(size, stream))
    if "+" in filler:
        parts = (load(role, part, size=size, seed=seed, root=root) for part in filler.split("+"))
        return [record for part in parts for record in part]
    dataset, scale = dataset_of(filler), filler.partition("/")[2]
    if dataset not in catalog.READERS:
        known = ", ".join([SYNTHETIC, *catalog.READERS])
        raise RoleError(f"{filler!r} cannot fill the role {role!r}", "", f"Fillers: {known}.")
    if root is None:
        raise RoleError(f"the role {role!r} is filled by {filler!r}, which needs a data root")
    wanted = ROLES[role].record
    records = [
        record
        for record in catalog.load(dataset, root)
        if isinstance(record, wanted) and (not scale or getattr(record, "scale", "") == scale)
    ]
    if not records:
        raise RoleError(
            f"{filler!r} gives no {wanted.__name__} for the role {role!r}",
            root.name,
            f"`radbook data status {dataset}` says what is missing.",
        )
    return records


def dataset_of(filler: str) -> str:
    """The data set of a filler, without the scale that may stand behind it."""
    return filler.partition("/")[0]


def evidence(filler: str) -> str:
    """Level of evidence of what is computed on a filler: ``synthetic``, ``open`` or ``credentialed``."""
    if filler == SYNTHETIC:
        return SYNTHETIC
    access = {catalog.load_manifest(dataset_of(part)).access for part in filler.split("+")}
    return "open" if access == {"open"} else "credentialed"
