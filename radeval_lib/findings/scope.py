"""Which words of a sentence are denied, doubted or only talked about: the reach of negations and hedges.

A negation reaches forward to the end of its list or clause; a comma ends it where what follows is not an
item of the list ("no effusion, small left nodule"). A hedge reaches forward likewise. Words behind
("is not seen", "cannot be excluded") reach back to the beginning of the clause.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from radeval_lib.findings.phrases import PhraseMatch
from radeval_lib.findings.vocabulary import Vocabulary
from radeval_lib.report_text import Token

_OR = frozenset(["or", "nor"])
BE = frozenset(["is", "are", "was", "were", "remain", "remains", "appear", "appears", "has", "have"])
"""Verbs by which a clause says something of its structure."""


class ScopeWords(NamedTuple):
    """By word: denied, doubted, only talked about; and where clauses begin and diagnoses are linked."""

    denied: list[bool]
    doubted: list[bool]
    hypothetical: list[bool]
    clause: list[int]
    links: list[int]


def scope(
    words: Sequence[Token],
    known: Vocabulary,
    changes: Sequence[PhraseMatch[str]],
    descriptors: Sequence[bool],
    subjects: Sequence[bool],
) -> ScopeWords:
    """The reach of every cue."""
    size = len(words)
    begins = {cue.first: cue for cue in known.cues.find(words)}
    linking = {link.first: link.end for link in known.links.find(words)}
    denied, doubted, talked = ([False] * size for _ in range(3))
    clause, links = [0] * size, []
    denying = doubting = talking = False
    start = at = 0
    while at < size:
        word = words[at].word
        cue = begins.get(at)
        end = cue.end if cue else at + 1
        if cue is not None and cue.value == "stops":
            denying = doubting = False
            start = at
        elif cue is not None and cue.value == "negation_before":
            denying, doubting = True, False
        elif cue is not None and cue.value == "hypothetical":
            talking = True
        elif cue is not None and cue.value == "hedge_before":
            if not denying or words[at - 1].word == ",":  # "no effusion to suggest failure" doubts nothing
                denying, doubting = False, True
        elif word == ",":
            if denying:
                denying = _goes_on(words, at, begins, descriptors, subjects)
            if doubting:
                doubting = any(later.word in _OR for later in words[at + 1 : at + 6])
        elif word == "with":
            denying = False
        elif word in ("and", "/") and (denying or doubting):
            new = (word == "and" and any(descriptors[at + 1 : at + 3])) or _starts_clause(words, at, subjects)
            denying, doubting = denying and not new, doubting and not new
        if at in linking:
            links.append(at)
        for place in range(at, end):
            denied[place], doubted[place], talked[place] = denying, doubting, talking
            clause[place] = start
        at = end
    _reach_back(words, known, changes, denied, doubted, clause)
    return ScopeWords(denied, doubted, talked, clause, links)


def _starts_clause(words: Sequence[Token], at: int, subjects: Sequence[bool]) -> bool:
    """Whether a structure with a verb of its own follows: "no effusion and the heart is normal"."""
    ahead = range(at + 1, min(at + 4, len(words)))
    return any(subjects[place] for place in ahead) and any(word.word in BE for word in words[at + 2 : at + 7])


def _goes_on(
    words: Sequence[Token],
    comma: int,
    begins: dict[int, PhraseMatch[str]],
    descriptors: Sequence[bool],
    subjects: Sequence[bool],
) -> bool:
    """Whether a list of denied findings goes on behind a comma."""
    if _starts_clause(words, comma, subjects):
        return False
    rest = range(comma + 1, len(words))
    stop = next((at for at in rest if at in begins and begins[at].value == "stops"), len(words))
    listed = any(words[at].word in _OR for at in range(comma + 1, stop))
    segment = next((at for at in range(comma + 1, stop) if words[at].word == ","), stop)
    return listed or not any(descriptors[comma + 1 : min(comma + 4, segment)])


def _reach_back(
    words: Sequence[Token],
    known: Vocabulary,
    changes: Sequence[PhraseMatch[str]],
    denied: list[bool],
    doubted: list[bool],
    clause: list[int],
) -> None:
    before = 0
    for found in known.after.find(words):
        if any(change.first <= found.first and found.end <= change.end for change in changes):
            continue
        start = max(before, clause[found.first])
        for place in range(start, found.first):
            if found.value == "negation":
                denied[place] = True
            else:
                doubted[place], denied[place] = True, False
        before = found.end
