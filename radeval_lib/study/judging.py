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
from radeval_lib.study.checks import ABSENT, Check
from radeval_lib.study.verdicts import Coverage

OPEN_CONVENTION = "convention"
DISCREPANCY_KINDS = ("paper", "text", OPEN_CONVENTION, "rounding")
_CONTRADICTS_NOTHING = (OPEN_CONVENTION, "text")


@dataclass(frozen=True)
class Discrepancy:
    """Why checks fail: its kind, one of :data:`DISCREPANCY_KINDS`, and the reason in a sentence or two."""

    kind: str
    explanation: str


def judge(
    kind: str, checks: Sequence[Check], discrepancies: Mapping[str, Discrepancy], *, as_source: bool = True
) -> str:
    """The verdict that checks earn (CONTRIBUTING.md, The words).

    A check that fails by a convention that the paper leaves open, or by noise in our copy of it, contradicts
    nothing: for the verdict it is inconclusive.

    Parameters
    ----------
    kind : of the result, one of :data:`radeval_lib.study.verdicts.KINDS`.
    discrepancies : the known discrepancies of failing checks, by the names that the checks have for them.
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
    counts = Counter(check.key for check in checks)
    if doubled := sorted(str(key) for key, count in counts.items() if count > 1):
        raise ResultError(f"two checks are called {doubled[0]!r}", remedy="Give each check a key of its own.")
    if not as_source:  # whatever its cells checked, it is not what the source checks
        return verdicts.EDITED
    counted = [(counted_outcome(check, discrepancies), check.needed) for check in checks]
    return verdicts.verdict(kind, verdicts.outcome(counted))


def counted_outcome(check: Check, discrepancies: Mapping[str, Discrepancy]) -> str:
    """A check's outcome as it counts towards a verdict: what fails by an open convention, or by noise in our
    copy of the paper, is inconclusive."""
    contradicts_nothing = check.discrepancy and discrepancies[check.discrepancy].kind in _CONTRADICTS_NOTHING
    return verdicts.INCONCLUSIVE if contradicts_nothing else check.outcome


def explains(entry: Mapping[str, Any], exhibit_id: str, evidence: str, check: Check) -> bool:
    """Whether a discrepancy of ``paper.yml`` explains a check: each of its places names an exhibit, the level
    of evidence, ``printed`` unless it names another, and the keys that are meant, field by field."""
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
    """The checks, those that fail with their discrepancy where it is known, and these by their name:
    ``discrepancies`` in the paper's ``paper.yml``; a ResultError where two of them explain one check."""
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
        named.append(
            replace(check, discrepancy=found[0] if found and check.outcome == verdicts.FAILS else "")
        )
    discrepancies = {
        name: Discrepancy(known[name]["kind"], " ".join(known[name]["explanation"].split()))
        for name in dict.fromkeys(check.discrepancy for check in named if check.discrepancy)
    }
    return tuple(named), discrepancies


def coverage(exhibit_id: str, evidence: str, checks: Sequence[Check]) -> Coverage | None:
    """How much of an exhibit checks compare: of a transcribed table its legible cells; of anything else what
    it states or sets, those that were checked, those that the ledger counts as ``unchecked``, and those of
    which the data have nothing. None of no checks."""
    if not checks:
        return None
    entry = exhibit(exhibit_id)
    leads = sum(not check.needed and check.outcome == verdicts.INCONCLUSIVE for check in checks)
    if cells := set(cells_of(exhibit_id) if entry.kind in ("table", "figure") else ()):
        compared = [{cell for cell in cells if check.compares(cell)} for check in checks]
        beside = sum(not of_check for of_check in compared)
        return Coverage(len(set[Any]().union(*compared)), len(cells), "cells", leads, beside)
    # Order and lead are two sides of one statement; the same words about several things are one.
    bearing = [check for check in checks if check.aspect != "lead"] or checks
    stated, tried = (
        {check.key.what if check.stated is not None else check.printed for check in some}
        for some in (bearing, [check for check in bearing if check.aspect != ABSENT])
    )
    total = len(stated) + entry.unchecked_on(evidence)
    return Coverage(len(tried), total, "settings" if entry.kind == "guideline" else "statements", leads)
