"""Verdicts: an outcome in words that fit the evidence, and how much was checked.

A check *holds*, *fails* or is *inconclusive*. A result *fails* if a check fails; it is *inconclusive*
if a check that the exhibit needs is, or nothing supports the exhibit; otherwise it *holds*. How much of
the exhibit was decided is its coverage, not its outcome.

The evidence (what the data are) and the implementation (the paper's, or ours) choose the words: arithmetic on
given numbers can only be consistent, a computation from data can reproduce. What our model, generator or
rules computed in place of the paper's is our experiment and gets no verdict, whatever the data.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from radeval_lib.errors import ResultError


def among(words: Iterable[str]) -> Any:
    """Return a pydantic validator for a text that must be one of these words."""
    return Field(pattern=f"^({'|'.join(words)})$")


# Each kind of evidence, and how a sentence says what a result rests on; in the order of the ledger's columns.
RESTS_ON = {
    "printed": "on printed numbers",
    "released": "on released numbers",
    "definition": "on no data",
    "synthetic": "on generated data",
    "recorded": "on public data, scored before",
    "open": "on public data",
    "credentialed": "on credentialed data",
}
EVIDENCE = tuple(RESTS_ON)
Evidence = Annotated[str, among(EVIDENCE)]
# Strongest first: a verdict on an exhibit that was rebuilt on several kinds of evidence rests on the first.
STRENGTH = ("credentialed", "open", "recorded", "released", "printed", "definition", "synthetic")

PAPERS_OWN, OURS = "the paper's", "ours"
IMPLEMENTATIONS = (PAPERS_OWN, OURS)
"""Whose model, generator or rules a result was computed with."""
Implementation = Annotated[str, among(IMPLEMENTATIONS)]

HOLDS, FAILS, INCONCLUSIVE = "holds", "fails", "inconclusive"
CHECK_OUTCOMES = (HOLDS, FAILS, INCONCLUSIVE)
Outcome = Annotated[str, among(CHECK_OUTCOMES)]
BY_READING = "inconclusive: depends on the reading"
IMPLEMENTED, EXPERIMENT, NOT_CHECKED = "implemented", "our experiment", "not checked"
EDITED = "from an edited notebook"
"""The verdict if the cells that ran are not those of the notebook's source."""
_WITHOUT_CHECKS = (IMPLEMENTED, EXPERIMENT, EDITED, NOT_CHECKED)
OUTCOMES = (HOLDS, INCONCLUSIVE, FAILS, *_WITHOUT_CHECKS)
MARKS = dict(zip(OUTCOMES, "✓?✗≡◇✎○", strict=True))

# The words of results that rest on numbers, on the paper's data, or on other data of the same kind.
_WORDS = {
    "numbers": {HOLDS: "consistent", FAILS: "inconsistent"},
    "data": {HOLDS: "reproduced", FAILS: "differs"},
    "other data": {HOLDS: "holds on other data", FAILS: "fails on other data"},
}
_DECIDED = [word for words in _WORDS.values() for word in words.values()]
VERDICTS = (*_DECIDED, INCONCLUSIVE, BY_READING, *_WITHOUT_CHECKS)
Verdict = Annotated[str, among(VERDICTS)]
KINDS = ("data", "numbers", "other data", IMPLEMENTED, EXPERIMENT)
"""The kinds of results, strongest first."""


@dataclass(frozen=True)
class Coverage:
    """How much of an exhibit a result decides.

    Attributes
    ----------
    checked, total : in ``unit``: cells of a table, settings of a guideline, statements of any other exhibit.
    open_leads : leads that the paper does not claim and that nothing establishes.
    beside : of a table's decided checks, those that compare none of its cells.
    """

    checked: int
    total: int
    unit: str
    open_leads: int = 0
    beside: int = 0

    @property
    def words(self) -> str:
        """``16 of 128 cells, 2 other statements about it, lead open``."""
        unit = self.unit if self.total != 1 else self.unit.removesuffix("s")
        parts = [f"{self.checked:,} of {self.total:,} {unit}"] if self.checked or not self.beside else []
        if self.beside:
            about = f"{'other ' if parts else ''}statement{'s' if self.beside > 1 else ''} about"
            parts.append(f"{self.beside} {about} {'it' if parts else f'{self.total:,} cells'}")
        if self.open_leads:
            parts.append("lead open" if self.open_leads == 1 else f"{self.open_leads} leads open")
        return ", ".join(parts)


def kind(evidence: str, substitutes: str = "", implementation: str = PAPERS_OWN) -> str:
    """Return the kind of a result, one of :data:`KINDS`, which decides what its checks can show.

    Parameters
    ----------
    evidence : one of :data:`EVIDENCE`; a ResultError for any other.
    substitutes : in words, what replaces data or models of the paper; empty if nothing does.
    implementation : one of :data:`IMPLEMENTATIONS`.
    """
    if evidence not in EVIDENCE:
        raise ResultError(f"unknown evidence {evidence!r}", remedy=f"Use one of {', '.join(EVIDENCE)}.")
    if evidence == "synthetic" or implementation == OURS:
        return EXPERIMENT
    if evidence == "definition":
        return IMPLEMENTED
    if substitutes:
        return "other data"
    return "numbers" if evidence in ("printed", "released") else "data"


def outcome(outcomes: Collection[str]) -> str:
    """Return the summary of an exhibit's check outcomes: one of :data:`CHECK_OUTCOMES`."""
    if FAILS in outcomes:
        return FAILS
    return INCONCLUSIVE if INCONCLUSIVE in outcomes or HOLDS not in outcomes else HOLDS


def verdict(kind: str, of_checks: str) -> str:
    """Return the verdict on a result of this kind with this outcome of its checks: one of
    :data:`VERDICTS`."""
    return kind if kind in (EXPERIMENT, IMPLEMENTED) else _WORDS[kind].get(of_checks, of_checks)


def outcome_of(verdict: str) -> str:
    """Return the outcome stated by a verdict's word: one of :data:`OUTCOMES`."""
    stated = {word: outcome_word for words in _WORDS.values() for outcome_word, word in words.items()}
    stated[BY_READING] = INCONCLUSIVE
    return stated.get(verdict, verdict)
