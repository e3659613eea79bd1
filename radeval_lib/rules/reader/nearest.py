"""Which finding of a sentence a place, side, degree, size or change is said of: the nearest one."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from radeval_lib.rules.reader.marked_sentence import MarkedSentence
from radeval_lib.rules.reader.mentions import Mention
from radeval_lib.rules.reader.phrases import PhraseMatch
from radeval_lib.rules.reader.scope import BE

SEPARATORS = {",": 3, "and": 4, "or": 4, "/": 2, "with": 4, "nor": 4, "without": 6, ":": 2, "(": 2, ")": 2}
"""How much further a modifier and a finding are apart for a word between them, beside 1 for any word."""
# Behind "which" they part a sign from what it is read as: "an opacity, which may be pneumonia".
_MAY = frozenset(["may", "might", "could", "can", "probably", "possibly", "likely"])
_FAR = 40
"""What is as far from a finding as this, in words and costs of separators, is not said of it."""


def nearest(
    sentence: MarkedSentence,
    mentions: list[Mention],
    what: PhraseMatch[Any],
    behind: int,
    before: int,
    *,
    loose: bool = False,
) -> Mention | None:
    """The mention that a modifier belongs to; standing there costs ``behind`` or ``before`` it.

    A ``loose`` one that is alone in its clause belongs to the clause before.
    """
    best, least = None, float(_FAR)
    for number, one in enumerate(mentions):
        if what.end <= one.first:
            cost = before + _distance(sentence, what.end, one.first)
            cost += 6 * sum(what.end <= other.first < one.first for other in mentions)
            cost += 5 * sum(word.word == "," for word in sentence.words[what.end : one.first])
        elif what.first >= one.end:
            cost = behind + _distance(sentence, one.end, what.first)
            cost += 6 * sum(one.end <= other.first < what.first for other in mentions[number + 1 :])
        else:
            cost = 0
        # What stands behind a sign and before what it is read as is said of the sign.
        signs = any(other.end <= what.first for other in mentions)
        cost += 8 * any(signs and what.end <= link < one.first for link in sentence.scope.links)
        if _apart(sentence, what.first, one.first, mentions, loose):
            cost += _FAR
        if cost < least:
            best, least = one, cost
    return best


def _apart(sentence: MarkedSentence, at: int, name: int, mentions: list[Mention], loose: bool) -> bool:
    """Whether modifier and name are of different clauses; "in the left base there is" leads to a name."""
    here, there = sentence.scope.clause[at], sentence.scope.clause[name]
    begins = [one.first for one in mentions] + [one.first for one in sentence.subjects]
    if loose and here and all(sentence.scope.clause[first] != here for first in begins):
        here = sentence.scope.clause[here - 1]  # "a pneumothorax, which is unchanged"
    leads = (
        here < there
        and sentence.words[there].word == "there"
        and sentence.scope.clause[there - 1] == here
        and not any(here <= one.first < there for one in mentions)
        and not BE & sentence.between(at, there)
    )
    return here != there and not leads


def _distance(sentence: MarkedSentence, first: int, end: int) -> int:
    """How far apart words are; "which may be" parts a sign from what it is read as."""
    read_as = sum(
        one.word == "which" and after.word in _MAY for one, after in pairwise(sentence.words[first : end + 1])
    )
    return 4 * read_as + sum(1 + SEPARATORS.get(word.word, 0) for word in sentence.words[first:end])
