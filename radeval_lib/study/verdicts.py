"""Verdicts on two axes: what a result rests on, and whether it holds.

A check *holds*, *fails* or *cannot tell*. A result *fails* where a check fails; otherwise it *holds* where a
check holds, *in part* where another could not tell or something of the exhibit was not checked; otherwise it
*cannot tell*. What the result rests on chooses the words: arithmetic on numbers that somebody gives can only
be consistent, a computation from data can reproduce, and stand-ins can show a shape.
"""

from __future__ import annotations

from collections.abc import Sequence

from radeval_lib.errors import ResultError

# What a result rests on, and how a sentence says so; the order of the ledger's columns.
RESTS_ON = {
    "print": "from the numbers that the paper prints",
    "released": "from numbers in an author's repository",
    "synthetic": "on generated reports",
    "open": "on public data",
    "credentialed": "on credentialed data",
}
EVIDENCE = tuple(RESTS_ON)
# Strongest first: what a reader should look at where an exhibit was rebuilt on several.
STRENGTH = ("credentialed", "open", "released", "print", "synthetic")

HOLDS, FAILS, CANNOT_TELL = "holds", "fails", "cannot tell"
CHECK_OUTCOMES = (HOLDS, FAILS, CANNOT_TELL)
IN_PART, NOT_ATTEMPTED = "holds in part", "not attempted"
OUTCOMES = (HOLDS, IN_PART, FAILS, CANNOT_TELL, NOT_ATTEMPTED)
MARKS = {HOLDS: "✓", IN_PART: "◐", FAILS: "✗", CANNOT_TELL: "?", NOT_ATTEMPTED: "○"}

# What rests on numbers, on data of the paper's kind, or on something that stands in for them.
_WORDS = {
    "numbers": {HOLDS: "consistent", IN_PART: "consistent in part", FAILS: "inconsistent"},
    "data": {HOLDS: "reproduced", IN_PART: "reproduced in part", FAILS: "differs"},
    "stand-ins": {HOLDS: "shape holds", IN_PART: "shape holds in part", FAILS: "shape fails"},
}
VERDICTS = (*(word for words in _WORDS.values() for word in words.values()), CANNOT_TELL, NOT_ATTEMPTED)


def kind(evidence: str, stand_in: str = "") -> str:
    """``numbers``, ``data`` or ``stand-ins``: which words a result on this evidence may use."""
    if evidence not in EVIDENCE:
        raise ResultError(f"unknown evidence {evidence!r}", remedy=f"Evidence: {', '.join(EVIDENCE)}.")
    if evidence == "synthetic" or stand_in:
        return "stand-ins"
    return "numbers" if evidence in ("print", "released") else "data"


def outcome(checks: Sequence[str], remaining: str = "", *, shape: bool = False) -> str:
    """Whether what was checked holds: one of :data:`OUTCOMES`.

    Parameters
    ----------
    checks : outcomes of the checks, each one of :data:`CHECK_OUTCOMES`.
    remaining : what of the exhibit was not checked; empty if nothing.
    shape : whether stand-ins were checked. Their data and models always remain, so that ``remaining`` alone
        makes nothing of theirs *in part*.
    """
    if not checks:
        return NOT_ATTEMPTED
    if FAILS in checks:
        return FAILS
    if HOLDS not in checks:
        return CANNOT_TELL
    return IN_PART if CANNOT_TELL in checks or (remaining and not shape) else HOLDS


def verdict(evidence: str, stand_in: str, found: str) -> str:
    """The word for an outcome on this evidence: one of :data:`VERDICTS`."""
    return _WORDS[kind(evidence, stand_in)].get(found, found)


def outcome_of(verdict: str) -> str:
    """The outcome that a verdict's word states: one of :data:`OUTCOMES`."""
    stated = {word: found for words in _WORDS.values() for found, word in words.items()}
    return stated.get(verdict, verdict)
