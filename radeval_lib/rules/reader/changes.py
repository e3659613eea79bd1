"""Finds denials of a change ("no worsening of", "has not cleared") and words about an earlier state.

A denied change does not deny the finding. Most private functions take the words of a statement and the index
``at`` of a word, and return the index behind the phrase that begins there, or 0 if no such phrase begins
there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from radeval_lib.rules.reader.phrases import PhraseMatch, word_set
from radeval_lib.rules.report_text import MASK, Token

CHANGE_NOUNS = word_set(
    """
    worsening progression increase improvement decrease reduction enlargement growth resolution clearing
    regression deterioration expansion shrinkage change
    """
)
_NOUN_FILLERS = word_set(
    """
    significant interval definite appreciable further substantial evidence sign of clear obvious
    radiographic convincing overt any marked gross real complete detectable measurable relevant other
    major new the or and size in
    """
)
_DENIED = CHANGE_NOUNS | _NOUN_FILLERS
_VERBS = word_set(
    """
    increased decreased improved worsened progressed changed resolved cleared enlarged grown removed
    regressed diminished shrunk expanded disappeared increase decrease improve worsen progress change
    resolve clear enlarge grow withdrawn retracted
    """
)
_GERUNDS = word_set("improving worsening increasing decreasing resolving clearing progressing enlarging")
#: Words for which "is not" denies a change; "is not enlarged", in contrast, denies a state.
_OF_STATES = frozenset(
    [*_GERUNDS, "changed", "improved", "resolved", "worsened", "progressed", "removed", "cleared"]
)
_ADVERBS = word_set(
    """
    yet significantly completely fully appreciably been substantially entirely really definitely
    markedly measurably much noticeably further so far totally clearly
    """
)
_HAVE, _BE = frozenset(["has", "have", "had", "doe", "did", "do"]), frozenset(["is", "are", "was", "were"])
_NOT_QUITE = word_set(
    """
    incompletely largely almost mostly nearly near partially partly partial substantially incomplete
    """
)
_ENTIRELY = word_set("completely complete entirely interval totally")
_GONE = word_set("resolved cleared resolution clearing resolving disappeared gone evacuated")
MORE = word_set("larger greater worse bigger smaller more less higher denser better")
_CHANGED = frozenset(["larger", "greater", "worse", "bigger", "smaller", "better"])
_ENDS_OF_COMPARISON = word_set(", than compared since in on now today and but or ) from")
_MORE_OF = word_set("prominent extensive pronounced severe conspicuous marked so confluent")
_USUAL = ("normal", "usual", "expected", "average")
_WELL = frozenset(["well", "clearly", "definitely", "definitively", "readily", "convincingly", "as"])
_ON = frozenset(["on", "in", "at", "the", "a", "an", "any", "most", "recent"])
_EARLIER = word_set("prior previous previously earlier before old older preceding comparison")
_STUDIES = word_set("ct study exam examination film radiograph scan image view chest x cxr")
#: Participles that, with "not" or "previously", state whether a finding was seen.
SEEN = word_set(
    """
    seen noted described identified demonstrated visualized reported mentioned known present evident
    observed questioned suspected placed existing
    """
)


def find_denied_changes(words: Sequence[Token], named: Sequence[bool]) -> Iterator[PhraseMatch[str]]:
    """Yield the phrases that deny a change and not a finding, with the change that they state: "no worsening
    of" (unchanged), "not seen previously" (new), "almost resolved" (decreased).

    ``named`` says for each word whether it is part of a finding's name: "no enlargement of the heart" denies
    a finding.
    """
    size, at = len(words), 0
    while at < size:
        if (
            end := _match_noun(words, at, named)
            or _match_verb(words, at, named)
            or _match_denied_comparative(words, at)
            or _match_neither(words, at)
        ):
            yield PhraseMatch(at, end, "unchanged")
        elif end := _match_not_before(words, at):
            yield PhraseMatch(at, end, "new")
        elif end := _match_not_quite(words, at):
            yield PhraseMatch(at, end, "decreased")
        elif denied := _find_verb(words, at):
            yield PhraseMatch(at, at + 3, "unchanged")
            yield PhraseMatch(denied, denied + 2, "unchanged")
            end = at + 3
        at = end or at + 1


def _match_not_before(words: Sequence[Token], at: int) -> int:
    """Return the index behind words for something new, such as "not seen on the previous exam", or 0."""
    if words[at].word != "not":
        return 0
    says_previously = at + 1 < len(words) and words[at + 1].word == "previously"
    participle = skip(words, at + 1 + says_previously, _WELL)
    if participle >= len(words) or words[participle].word not in SEEN:
        return 0
    if says_previously:
        return participle + 1
    end = skip(words, participle + 1, _ON)
    if end >= len(words) or words[end].word not in (*_EARLIER, MASK):
        return 0
    of_study = end + 1 < len(words) and words[end + 1].word in _STUDIES
    if words[end].word == MASK and not (of_study and at and words[at - 1].word in ("was", "were")):
        return 0
    return end + 1 + of_study


def _match_noun(words: Sequence[Token], at: int, named: Sequence[bool]) -> int:
    """Return the index behind a denied noun of change, such as "no interval worsening", or 0."""
    if words[at].word not in ("no", "without", "lack", "absence"):
        return 0
    if [word.word in ("longer", *_GERUNDS) for word in words[at + 1 : at + 3]] == [True, True]:
        return at + 3  # "no longer increasing"
    end, last_end = at + 1, 0
    while end < len(words) and words[end].word in _DENIED and not named[end]:
        token, end = words[end], end + 1
        # "Changes of emphysema" is the name of a finding, not a change.
        if token.word in CHANGE_NOUNS and not (
            token.end - token.start == len("changes") and token.word == "change"
        ):
            last_end = end
    return last_end


def _match_verb(words: Sequence[Token], at: int, named: Sequence[bool]) -> int:
    """Return the index behind a denied verb of change, such as "has not cleared" or "failed to resolve",
    or 0."""
    first_word = words[at].word
    # "Effusion, not increased" denies a change; "vascularity not increased" and "heart is not enlarged" deny
    # a state.
    is_bare = first_word == "not" and any(named[:at]) and not named[at] and words[at - 1].word not in _BE
    if first_word in ("failed", "fail") and at + 2 < len(words) and words[at + 1].word == "to":
        return at + 3 if words[at + 2].word in _VERBS else 0
    if first_word == "not" and not is_bare and not any(named[:at]):
        # "not significantly improved consolidation"
        end = skip(words, at + 1, _ADVERBS)
        is_state = end < len(words) and words[end].word in (_OF_STATES | {"increased", "decreased"}) - {
            "removed"
        }
        return end + 1 if is_state and end > at + 1 and not named[end] else 0
    if first_word not in _HAVE | _BE and not is_bare:
        return 0
    end = at if is_bare else at + 1
    if end < len(words) and words[end].word in ("now", "still", "also"):
        end += 1
    if end >= len(words) or words[end].word != "not":
        return 0
    end = skip(words, end + 1, _ADVERBS)
    verbs = _OF_STATES if first_word in _BE else _VERBS
    return end + 1 if end < len(words) and words[end].word in verbs else 0


def _match_neither(words: Sequence[Token], at: int) -> int:
    """Return the index behind a phrase such as "neither improved nor worsened", or 0."""
    phrase = [word.word for word in words[at : at + 4]]
    if phrase[0] != "neither" or phrase[2:3] != ["nor"] or len(phrase) < 4:
        return 0
    return at + 4 if {phrase[1], phrase[3]} <= _VERBS | _CHANGED | _OF_STATES | CHANGE_NOUNS else 0


def _find_verb(words: Sequence[Token], at: int) -> int:
    """Return the index of the verb ("has") in a clause such as "no evidence that the effusion has
    resolved", or 0."""
    if words[at].word != "no" or [word.word for word in words[at + 2 : at + 3]] != ["that"]:
        return 0
    if words[at + 1].word not in _NOUN_FILLERS:
        return 0
    for position in range(at + 3, len(words) - 1):
        if words[position].word in _HAVE and words[position + 1].word in _VERBS:
            return position
    return 0


def _match_denied_comparative(words: Sequence[Token], at: int) -> int:
    """Return the index behind a phrase such as "not any larger" or "no bigger than before", or 0, also
    for "no larger effusion", which denies an effusion."""
    if words[at].word not in ("not", "no"):
        return 0
    end = skip(words, at + 1, _ADVERBS | {"any", "appear", "become", "gotten", "got"})
    end = match_comparative(words, end)
    if not end or words[end - 1].word not in _CHANGED | _MORE_OF:
        return 0
    if [word.word in ("than", *_USUAL) for word in words[end : end + 2]] == [True, True]:
        return 0  # "Not larger than normal" describes a state.
    is_complete = end >= len(words) or words[end].word in _ENDS_OF_COMPARISON
    return end if is_complete or words[at].word == "not" else 0


def _match_not_quite(words: Sequence[Token], at: int) -> int:
    """Return the index behind a phrase such as "almost resolved" or "all but gone", which states that a
    finding is smaller but still present, or 0."""
    all_but = words[at].word == "all" and at + 1 < len(words) and words[at + 1].word == "but"
    if words[at].word not in _NOT_QUITE and not all_but:
        return 0
    end = skip(words, at + 1 + all_but, _ENTIRELY)
    return end + 1 if end < len(words) and words[end].word in _GONE else 0


def match_comparative(words: Sequence[Token], at: int) -> int:
    """Return the index behind the comparative that begins at ``at``, such as "larger" or "more
    prominent", or 0."""
    if at >= len(words):
        return 0
    if words[at].word in (">", "<"):
        return at + 1
    if words[at].word not in MORE:
        return 0
    return at + 2 if at + 1 < len(words) and words[at + 1].word in _MORE_OF else at + 1


def skip(words: Sequence[Token], at: int, words_to_skip: frozenset[str]) -> int:
    """Return the index of the first word from ``at`` on that is not in ``words_to_skip``; the number of
    words if there is none."""
    while at < len(words) and words[at].word in words_to_skip:
        at += 1
    return at


# Words about an earlier state: "previously 8 mm", "from 6 mm to 11 mm".


_THEN = word_set("previously formerly originally initially earlier before prior previous")
#: Words with which a statement returns from an earlier state to the present.
NOW = frozenset(["now", "currently", "today"])
DATES = word_set(
    """
    january february march april month june july august september october november december monday tuesday
    wednesday thursday friday saturday sunday week year night
    """
)
_SHOWED = frozenset(["showed", "demonstrated", "revealed"])
_OLD_STUDY = frozenset(["prior", "previous"])
# Words before a statement about the past.
_BEFORE_PAST = frozenset([",", "(", ";", "from", "to", "vs", "versus"])
_ENDS_OF_WAS = frozenset(["and", "but", ",", ";", "now"])
_ENDS_OF_THEN = word_set(", ) ; now currently today but and is are has have")


def find_past_words(words: Sequence[Token], sizes: Sequence[PhraseMatch[tuple[float, ...]]]) -> list[bool]:
    """Return for each word whether it describes an earlier state, such as "previously 8 mm" or "from 6 mm" in
    "from 6 mm to 11 mm".

    ``sizes`` are the measurements among the words.
    """
    is_past = [False] * len(words)
    # Sizes with a past date: "4 mm in May, 6 mm in June".
    dated_sizes = [(size.first, end) for size in sizes if (end := _match_date(words, size.end))]
    if len(sizes) > 1:  # If all sizes are dated, the last one is the present one.
        for first, end in dated_sizes[: len(sizes) - 1]:
            is_past[first:end] = [True] * (end - first)
    end_of_size = {size.first: size.end for size in sizes}
    for at, token in enumerate(words):
        end = at
        if token.word in _THEN or (
            token.word == "compared" and at + 1 < len(words) and words[at + 1].word in ("to", "with")
        ):
            end = _match_then(words, at)
        elif (
            token.word in _SHOWED
            and words[at - 1].word not in _OLD_STUDY
            and {word.word for word in words[max(0, at - 3) : at]} & _OLD_STUDY
        ):
            end = next((to for to in range(at, len(words)) if words[to].word in _ENDS_OF_WAS), len(words))
        elif token.word in ("was", "were", "from") and len(sizes) > 1 and at + 1 in end_of_size:
            end = end_of_size[at + 1]
        elif token.word in ("was", "were") and any(word.word in NOW for word in words[at:]):
            end = next((to for to in range(at, len(words)) if words[to].word in _ENDS_OF_WAS), at)
        if token.word in ("prior", "previous", "before", "earlier", "previously") and end <= at + 1:
            # "8 mm on the prior study" is about the past, from the bracket or comma before it.
            clause_start = at
            while clause_start and words[clause_start - 1].word not in _BEFORE_PAST:
                clause_start -= 1
            start = next((size.first for size in sizes if clause_start <= size.first < at), at)
            if start < at and (clause_start or len(sizes) > 1):
                is_past[start : at + 1] = [True] * (at + 1 - start)
        for position in range(at, end):
            is_past[position] = True
    return is_past


def _match_date(words: Sequence[Token], at: int) -> int:
    """Return the index behind a past date that begins at ``at`` ("in May", "on 3 June 2018",
    "yesterday"), or 0."""
    if at < len(words) and words[at].word == "yesterday":
        return at + 1
    if [word.word for word in words[at : at + 2]] == ["this", "morning"]:
        return at + 2 if any(word.word in NOW for word in words[at:]) else 0
    if at >= len(words) or words[at].word not in ("in", "on", "last"):
        return 0
    end = at + 1
    while end < len(words) and (words[end].word in DATES or words[end].word.isdecimal()):
        end += 1
    return end if any(word.word in DATES or len(word.word) == 4 for word in words[at + 1 : end]) else 0


def _match_then(words: Sequence[Token], at: int) -> int:
    """Return the index behind the words about the past that begin at ``at``; ``at`` itself if there are
    none."""
    if words[at].word in ("before", "prior", "previous"):
        following = words[at + 1].word if at + 1 < len(words) else ""
        if not following[:1].isdigit() and following != ".":
            return at
    end = at + 1
    while end < len(words) and words[end].word not in _ENDS_OF_THEN:
        if words[end].word in SEEN:
            return at
        end += 1
    return end
