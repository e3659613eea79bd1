"""What the checks of an exhibit come to: discrepancies, the verdict that they earn, and coverage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from radeval_lib.errors import ResultError
from radeval_lib.papers.exhibits import exhibit, file_of, level_of
from radeval_lib.papers.printed_numbers import cells_of, paper
from radeval_lib.paths import display_path
from radeval_lib.study import verdicts
from radeval_lib.study.checks import Check, Key
from radeval_lib.study.verdicts import Coverage

OPEN_CONVENTION = "convention"
DISCREPANCY_KINDS = ("paper", "text", OPEN_CONVENTION, "rounding")
_CONTRADICTS_NOTHING = (OPEN_CONVENTION, "text")


WEIGHTS = ("conclusion", "number", "slip")
"""How much a discrepancy weighs, the gravest first: a conclusion of the paper falls; what is printed cannot
follow; a citation or a word is wrong."""
NOT_ASKED = "not asked"


@dataclass(frozen=True)
class Discrepancy:
    """Why checks fail, as ``discrepancies`` of ``paper.yml`` have it.

    Attributes
    ----------
    kind : one of :data:`DISCREPANCY_KINDS`.
    explanation : the reason in a sentence or two.
    weight : one of :data:`WEIGHTS`.
    reply : what the authors answered.
    """

    kind: str
    explanation: str
    weight: str
    reply: str = NOT_ASKED


def judge(
    kind: str,
    checks: Sequence[Check],
    discrepancies: Mapping[str, Discrepancy],
    *,
    supports: bool = True,
    as_source: bool = True,
) -> str:
    """Return the verdict that checks earn (CONTRIBUTING.md, The words).

    It fails where a check fails; it is inconclusive where a needed one is, or where what holds supports
    nothing; otherwise it holds. Of one statement under several readings counts what all of them say.

    Parameters
    ----------
    kind : of the result, one of :data:`radeval_lib.study.verdicts.KINDS`.
    discrepancies : those of the checks, by name.
    supports : whether what the checks decide can support the exhibit: not where none of its own cells or
        statements is decided, nor of a figure that was not seen.
    as_source : whether the notebook's cells are those of its source.

    Raises
    ------
    ResultError
        Where there is no check, or one where none may be, or two have one key.
    """
    if kind in (verdicts.EXPERIMENT, verdicts.IMPLEMENTED):
        if checks:
            raise ResultError(f"what is {kind} checks nothing that a paper states")
        return kind
    if not checks:
        raise ResultError(
            "a result without a check earns no verdict", remedy="Leave the exhibit unrecorded instead."
        )
    counts = Counter((check.key, check.reading) for check in checks)
    if doubled := sorted(str(key) for (key, _), count in counts.items() if count > 1):
        raise ResultError(f"two checks are called {doubled[0]!r}", remedy="Give each check a key of its own.")
    if not as_source:  # whatever its cells checked, it is not what the source checks
        return verdicts.EDITED
    still_open = [rows for rows in by_key(checks) if _is_open(rows)]
    decided = {statement_outcome(rows) for rows in by_key(checks)} - {verdicts.INCONCLUSIVE}
    found = verdicts.outcome([*decided, *([verdicts.INCONCLUSIVE] if still_open else [])])
    if (
        found != verdicts.FAILS
        and still_open
        and all(_is_by_reading(rows, discrepancies) for rows in still_open)
    ):
        return verdicts.BY_READING
    return verdicts.verdict(
        kind, verdicts.INCONCLUSIVE if found == verdicts.HOLDS and not supports else found
    )


def by_key(checks: Sequence[Check]) -> list[list[Check]]:
    """Return the rows of each key: one, or the readings of one statement."""
    rows: dict[Key, list[Check]] = {}
    for check in checks:
        rows.setdefault(check.key, []).append(check)
    return list(rows.values())


def statement_outcome(rows: Sequence[Check]) -> str:
    """Return the outcome that all readings of a statement have, else inconclusive.

    A reading whose test can only contradict, and does not, is no support, and nothing against it.
    """
    outcomes = {row.outcome for row in rows}
    if verdicts.HOLDS in outcomes:
        outcomes -= {row.outcome for row in rows if not row.needed}
    return outcomes.pop() if len(outcomes) == 1 else verdicts.INCONCLUSIVE


def _is_open(rows: Sequence[Check]) -> bool:
    """Return whether a statement that the exhibit needs is inconclusive."""
    return any(row.needed for row in rows) and statement_outcome(rows) == verdicts.INCONCLUSIVE


def _is_by_reading(rows: Sequence[Check], discrepancies: Mapping[str, Discrepancy]) -> bool:
    """Return whether a statement holds or fails by what the paper is read to mean."""
    by_convention = any(
        row.discrepancy and discrepancies[row.discrepancy].kind == OPEN_CONVENTION for row in rows
    )
    return by_convention or {verdicts.HOLDS, verdicts.FAILS} <= {row.outcome for row in rows}


def explains(entry: Mapping[str, Any], exhibit_id: str, evidence: str, check: Check) -> bool:
    """Return whether a discrepancy of ``paper.yml`` explains a check: each of its places names an exhibit,
    the level of evidence, ``printed`` unless it names another, and the keys that are meant, field by
    field."""
    return any(
        place["exhibit"] == exhibit_id
        and place.get("evidence", "printed") == level_of(evidence)
        and all(
            getattr(check.key, field) in place[field] for field in ("what", "row", "column") if field in place
        )
        for place in entry["checks"]
    )


def with_discrepancies(
    exhibit_id: str, evidence: str, checks: Sequence[Check]
) -> tuple[tuple[Check, ...], dict[str, Discrepancy]]:
    """Return the checks, those that fail with their discrepancy where it is known, and these by their name:
    ``discrepancies`` in the paper's ``paper.yml``; a ResultError where two of them explain one check.

    What fails by a convention that the paper leaves open, or by noise in our copy of it, contradicts nothing:
    it is inconclusive.
    """
    known = paper(exhibit_id.partition(".")[0]).get("discrepancies") or {}
    named = []
    for check in checks:
        found = [name for name, entry in known.items() if explains(entry, exhibit_id, evidence, check)]
        if len(found) > 1:
            raise ResultError(
                f"{check.name!r} has the discrepancies {' and '.join(found)}",
                display_path(file_of(exhibit_id.partition(".")[0])),
                "Let one of them alone name the check.",
            )
        if not found or check.outcome != verdicts.FAILS:
            named.append(check)
            continue
        excused = known[found[0]]["kind"] in _CONTRADICTS_NOTHING
        outcome = verdicts.INCONCLUSIVE if excused else verdicts.FAILS
        named.append(replace(check, discrepancy=found[0], outcome=outcome))
    discrepancies = {
        name: Discrepancy(
            known[name]["kind"],
            " ".join(known[name]["explanation"].split()),
            known[name]["weight"],
            known[name].get("reply", NOT_ASKED),
        )
        for name in dict.fromkeys(check.discrepancy for check in named if check.discrepancy)
    }
    return tuple(named), discrepancies


def coverage(exhibit_id: str, evidence: str, checks: Sequence[Check]) -> Coverage | None:
    """Return how much of an exhibit the checks decide: of a transcribed table its legible cells; of anything
    else what it states or sets, in the paper's words or digits. None of no checks.

    A statement is decided where nothing that it needs is inconclusive, order, lead and every reading. To the
    statements tried come those that the ledger lists as ``unchecked``.
    """
    if not checks:
        return None
    entry = exhibit(exhibit_id)
    leads = sum(not check.needed and check.aspect == "lead" and check.holds is None for check in checks)
    decided = [rows for rows in by_key(checks) if statement_outcome(rows) != verdicts.INCONCLUSIVE]
    if cells := set(cells_of(exhibit_id) if entry.kind in ("table", "figure") else ()):
        compared = [
            {cell for cell in cells if rows[0].compares(cell)} if rows[0].decides_cells else set[Any]()
            for rows in decided
        ]
        beside = sum(not of_check for of_check in compared)
        return Coverage(len(set[Any]().union(*compared)), len(cells), "cells", leads, beside)
    stated = {check.printed for check in checks}
    open_ones = {rows[0].printed for rows in by_key(checks) if _is_open(rows)}
    settled = {rows[0].printed for rows in decided} - open_ones
    total = len(stated) + entry.unchecked_on(evidence)
    return Coverage(len(settled), total, "settings" if entry.kind == "guideline" else "statements", leads)
