"""Verdicts: the summary of an exhibit's checks in words that fit the evidence, and its coverage.

A check *holds*, *fails* or is *inconclusive*. A result *fails* if a check fails. It is *inconclusive* if a
check that the exhibit needs is inconclusive, or if no check supports the exhibit. Otherwise it *holds*. The
coverage says how much of the exhibit was decided.

The words of a verdict depend on the evidence (the kind of data) and the implementation (the paper's or ours):
printed numbers can only be consistent, whereas a computation from data can reproduce them. A result of our
model, generator or rules in place of the paper's is our experiment and gets no verdict on the paper.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from radeval_lib.errors import ResultError


def require_one_of(words: Iterable[str]) -> Any:
    """Return a pydantic field that requires a string to be one of these words."""
    return Field(pattern=f"^({'|'.join(words)})$")


# A mapping from kind of evidence to its words in sentences on pages, in the order of table columns.
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
Evidence = Annotated[str, require_one_of(EVIDENCE)]
# If an exhibit was rebuilt on several kinds of evidence, its verdict rests on the kind that comes first here.
STRENGTH = ("credentialed", "open", "recorded", "released", "printed", "definition", "synthetic")

PAPERS_OWN, OURS = "the paper's", "ours"
IMPLEMENTATIONS = (PAPERS_OWN, OURS)
"""The possible origins of the model, generator or rules with which a result was computed."""
Implementation = Annotated[str, require_one_of(IMPLEMENTATIONS)]

HOLDS, FAILS, INCONCLUSIVE = "holds", "fails", "inconclusive"
CHECK_OUTCOMES = (HOLDS, FAILS, INCONCLUSIVE)
Outcome = Annotated[str, require_one_of(CHECK_OUTCOMES)]
DEPENDS_ON_READING = "inconclusive: depends on the reading"
IMPLEMENTED, EXPERIMENT, NOT_CHECKED = "implemented", "our experiment", "not checked"
EDITED = "from an edited notebook"
"""The verdict if the executed cells differ from the notebook's source."""
_OTHER_OUTCOMES = (IMPLEMENTED, EXPERIMENT, EDITED, NOT_CHECKED)
OUTCOMES = (HOLDS, INCONCLUSIVE, FAILS, *_OTHER_OUTCOMES)
MARKS = dict(zip(OUTCOMES, "✓?✗≡◇✎○", strict=True))

# Verdicts by outcome, on printed or released numbers, on the paper's data, or on other data.
_WORDS = {
    "numbers": {HOLDS: "consistent", FAILS: "inconsistent"},
    "data": {HOLDS: "reproduced", FAILS: "differs"},
    "other data": {HOLDS: "holds on other data", FAILS: "fails on other data"},
}
_CONCLUSIVE = [word for words in _WORDS.values() for word in words.values()]
VERDICTS = (*_CONCLUSIVE, INCONCLUSIVE, DEPENDS_ON_READING, *_OTHER_OUTCOMES)
Verdict = Annotated[str, require_one_of(VERDICTS)]
KINDS = ("data", "numbers", "other data", IMPLEMENTED, EXPERIMENT)
"""The kinds of results, strongest first."""


@dataclass(frozen=True)
class Coverage:
    """The part of an exhibit that a result decides.

    Attributes
    ----------
    checked, total : the number of decided units, and of all units of the exhibit.
    unit : ``cells`` for a table or figure, ``settings`` for a guideline, otherwise ``statements``.
    open_leads : the number of leads that the paper does not claim and the numbers do not establish.
    n_others : for a table or figure, the number of conclusive statements that decide none of its cells.
    """

    checked: int
    total: int
    unit: str
    open_leads: int = 0
    n_others: int = 0

    @property
    def words(self) -> str:
        """The coverage in words, as in ``16 of 128 cells, 2 other statements about it, lead not decided``."""
        unit = self.unit if self.total != 1 else self.unit.removesuffix("s")
        parts = [f"{self.checked:,} of {self.total:,} {unit}"]
        if self.n_others:
            parts.append(f"{self.n_others} other statement{'s' if self.n_others > 1 else ''} about it")
        if self.open_leads:
            leads = "lead" if self.open_leads == 1 else f"{self.open_leads} leads"
            parts.append(f"{leads} not decided")
        return ", ".join(parts)


def kind(evidence: str, substitutes: str = "", implementation: str = PAPERS_OWN) -> str:
    """Return the kind of a result, one of :data:`KINDS`, on which the words of its verdict depend.

    Parameters
    ----------
    evidence : one of :data:`EVIDENCE`; raises ResultError for any other.
    substitutes : a description of what replaces the paper's data or models; empty if nothing does.
    implementation : one of :data:`IMPLEMENTATIONS`.
    """
    if evidence not in EVIDENCE:
        raise ResultError(f"unknown value {evidence!r}", "evidence", f"Use one of {', '.join(EVIDENCE)}.")
    if evidence == "synthetic" or implementation == OURS:
        return EXPERIMENT
    if evidence == "definition":
        return IMPLEMENTED
    if substitutes:
        return "other data"
    return "numbers" if evidence in ("printed", "released") else "data"


def outcome(outcomes: Collection[str]) -> str:
    """Return one of :data:`CHECK_OUTCOMES` that summarizes the outcomes of an exhibit's statements.

    It is ``fails`` if one fails, ``holds`` if at least one holds and none is inconclusive, and otherwise
    ``inconclusive``.
    """
    if FAILS in outcomes:
        return FAILS
    return INCONCLUSIVE if INCONCLUSIVE in outcomes or HOLDS not in outcomes else HOLDS


def verdict(kind: str, checks_outcome: str) -> str:
    """Return the verdict, one of :data:`VERDICTS`, on a result.

    Parameters
    ----------
    kind : the kind of the result, one of :data:`KINDS`.
    checks_outcome : the summary of the outcomes of the result's checks (:func:`outcome`).
    """
    return kind if kind in (EXPERIMENT, IMPLEMENTED) else _WORDS[kind].get(checks_outcome, checks_outcome)


def outcome_of(verdict: str) -> str:
    """Return the outcome that a verdict states, one of :data:`OUTCOMES`."""
    by_verdict = {word: outcome for words in _WORDS.values() for outcome, word in words.items()}
    return (by_verdict | {DEPENDS_ON_READING: INCONCLUSIVE}).get(verdict, verdict)
