"""Verdicts on two axes: what a result rests on, and whether it holds.

A check *holds*, *fails* or *cannot tell*. A result *fails* where a check fails; otherwise it *holds* where a
check holds, *in part* where another could not tell or something of the exhibit was not checked; otherwise it
*cannot tell*. What the result rests on chooses the words: arithmetic on numbers that somebody gives can only
be consistent, a computation from data can reproduce. What rests on generated reports, or on other models than
the paper's, is an experiment of our own and gets no verdict: it tells of our generator and our models.
"""

from __future__ import annotations

from collections.abc import Sequence

from radeval_lib.errors import ResultError

# What a result rests on, and how a sentence says so; the order of the ledger's columns.
RESTS_ON = {
    "print": "on printed numbers",
    "released": "on numbers from an author's repository",
    "synthetic": "in an experiment of our own",
    "recorded": "on public data, scored before",
    "open": "on public data",
    "credentialed": "on credentialed data",
}
EVIDENCE = tuple(RESTS_ON)
# Strongest first: what a reader should look at where an exhibit was rebuilt on several.
STRENGTH = ("credentialed", "open", "recorded", "released", "print", "synthetic")

HOLDS, FAILS, CANNOT_TELL = "holds", "fails", "cannot tell"
CHECK_OUTCOMES = (HOLDS, FAILS, CANNOT_TELL)
IN_PART, EXPERIMENT, NOT_ATTEMPTED = "holds in part", "own experiment", "not attempted"
EDITED = "from an edited notebook"
"""What was recorded by cells that are not those of the notebook's source."""
OUTCOMES = (HOLDS, IN_PART, FAILS, CANNOT_TELL, EXPERIMENT, EDITED, NOT_ATTEMPTED)
MARKS = dict(zip(OUTCOMES, "✓◐✗?◇✎○", strict=True))

# What rests on numbers, on the paper's data, or on other data of the same kind.
_WORDS = {
    "numbers": {HOLDS: "consistent", IN_PART: "consistent in part", FAILS: "inconsistent"},
    "data": {HOLDS: "reproduced", IN_PART: "reproduced in part", FAILS: "differs"},
    "other data": {
        HOLDS: "holds on other data",
        IN_PART: "holds in part on other data",
        FAILS: "fails on other data",
    },
}
VERDICTS = (
    *(word for words in _WORDS.values() for word in words.values()),
    CANNOT_TELL,
    EXPERIMENT,
    EDITED,
    NOT_ATTEMPTED,
)
KINDS = ("data", "numbers", "other data", EXPERIMENT)
"""What results can be, in the order in which a reader should look at them."""


def kind(evidence: str, stand_in: str = "") -> str:
    """One of :data:`KINDS`: which words a result on this evidence may use, where other data stand in."""
    if evidence not in EVIDENCE:
        raise ResultError(f"unknown evidence {evidence!r}", remedy=f"Evidence: {', '.join(EVIDENCE)}.")
    if evidence == "synthetic":
        return EXPERIMENT
    if stand_in:
        return "other data"
    return "numbers" if evidence in ("print", "released") else "data"


def outcome(checks: Sequence[str], remaining: str = "") -> str:
    """Whether what was checked holds, by the outcomes of checks and what of the exhibit was not checked: one
    of :data:`OUTCOMES`."""
    if not checks:
        return NOT_ATTEMPTED
    if FAILS in checks:
        return FAILS
    if HOLDS not in checks:
        return CANNOT_TELL
    return IN_PART if CANNOT_TELL in checks or remaining else HOLDS


def verdict(evidence: str, stand_in: str, found: str) -> str:
    """The word for an outcome on this evidence: one of :data:`VERDICTS`."""
    words = kind(evidence, stand_in)
    return EXPERIMENT if words == EXPERIMENT else _WORDS[words].get(found, found)


def outcome_of(verdict: str) -> str:
    """The outcome that a verdict's word states: one of :data:`OUTCOMES`."""
    stated = {word: found for words in _WORDS.values() for found, word in words.items()}
    return stated.get(verdict, verdict)
