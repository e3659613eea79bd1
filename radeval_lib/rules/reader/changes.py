"""Finds denials of a change ("no worsening of", "has not cleared") and words about an earlier state.

A denied change does not deny the finding. Most private functions take the words of a statement and the index
``i`` of a word, and return the index after the phrase that begins there, or 0 if no such phrase begins there.
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
_NOUN_PHRASE_WORDS = CHANGE_NOUNS | _NOUN_FILLERS
_VERBS = word_set(
    """
    increased decreased improved worsened progressed changed resolved cleared enlarged grown removed
    regressed diminished shrunk expanded disappeared increase decrease improve worsen progress change
    resolve clear enlarge grow withdrawn retracted
    """
)
_GERUNDS = word_set("improving worsening increasing decreasing resolving clearing progressing enlarging")
#: Participles with which "is not" denies a change; "is not enlarged", in contrast, denies a state.
_PARTICIPLES = frozenset(
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
#: Comparatives, and the words that form one with an adjective.
MORE = word_set("larger greater worse bigger smaller more less higher denser better")
# Comparatives that state a change, so that "not any" before them denies one.
_DENIABLE = frozenset(["larger", "greater", "worse", "bigger", "smaller", "better"])
_ENDS_OF_COMPARISON = word_set(", than compared since in on now today and but or ) from")
# Adjectives that form a comparative with "more".
_GRADABLE = word_set("prominent extensive pronounced severe conspicuous marked so confluent")
_NORMS = ("normal", "usual", "expected", "average")
_SIGHT_ADVERBS = frozenset(["well", "clearly", "definitely", "definitively", "readily", "convincingly", "as"])
_BEFORE_STUDY = frozenset(["on", "in", "at", "the", "a", "an", "any", "most", "recent"])
_EARLIER_WORDS = word_set("prior previous previously earlier before old older preceding comparison")
_STUDIES = word_set("ct study exam examination film radiograph scan image view chest x cxr")
#: Participles and adjectives that, with "not" or "previously", state whether a finding was seen.
SEEN = word_set(
    """
    seen noted described identified demonstrated visualized reported mentioned known present evident
    observed questioned suspected placed existing
    """
)


def find_denied_changes(words: Sequence[Token], named: Sequence[bool]) -> Iterator[PhraseMatch[str]]:
    """Yield the phrases that deny a change and not a finding, with the change that they state: "no worsening
    of" (unchanged), "not seen previously" (new), "almost resolved" (decreased).

    ``named`` flags the words of findings' names: "no enlargement of the heart" denies a finding.
    """
    size, i = len(words), 0
    while i < size:
        if (
            end := _match_denied_noun(words, i, named)
            or _match_denied_verb(words, i, named)
            or _match_denied_comparative(words, i)
            or _match_neither(words, i)
        ):
            yield PhraseMatch(i, end, "unchanged")
        elif end := _match_not_seen_before(words, i):
            yield PhraseMatch(i, end, "new")
        elif end := _match_not_quite(words, i):
            yield PhraseMatch(i, end, "decreased")
        elif verb := _find_denied_verb(words, i):
            yield PhraseMatch(i, i + 3, "unchanged")
            yield PhraseMatch(verb, verb + 2, "unchanged")
            end = i + 3
        i = end or i + 1


def _match_not_seen_before(words: Sequence[Token], i: int) -> int:
    """Return the index after a phrase that calls a finding new, such as "not seen on the previous exam", or
    0."""
    if words[i].word != "not":
        return 0
    says_previously = i + 1 < len(words) and words[i + 1].word == "previously"
    participle = skip(words, i + 1 + says_previously, _SIGHT_ADVERBS)
    if participle >= len(words) or words[participle].word not in SEEN:
        return 0
    if says_previously:
        return participle + 1
    end = skip(words, participle + 1, _BEFORE_STUDY)
    if end >= len(words) or words[end].word not in (*_EARLIER_WORDS, MASK):
        return 0
    of_study = end + 1 < len(words) and words[end + 1].word in _STUDIES
    if words[end].word == MASK and not (of_study and i and words[i - 1].word in ("was", "were")):
        return 0
    return end + 1 + of_study


def _match_denied_noun(words: Sequence[Token], i: int, named: Sequence[bool]) -> int:
    """Return the index after a denied noun of change, such as "no interval worsening", or 0.

    ``named`` flags the words of findings' names.
    """
    if words[i].word not in ("no", "without", "lack", "absence"):
        return 0
    if [token.word in ("longer", *_GERUNDS) for token in words[i + 1 : i + 3]] == [True, True]:
        return i + 3  # "no longer increasing"
    end, last_end = i + 1, 0
    while end < len(words) and words[end].word in _NOUN_PHRASE_WORDS and not named[end]:
        token, end = words[end], end + 1
        # "Changes of emphysema" is the name of a finding, not a change.
        if token.word in CHANGE_NOUNS and not (
            token.end - token.start == len("changes") and token.word == "change"
        ):
            last_end = end
    return last_end


def _match_denied_verb(words: Sequence[Token], i: int, named: Sequence[bool]) -> int:
    """Return the index after a denied verb of change, such as "has not cleared" or "failed to resolve", or 0.

    ``named`` flags the words of findings' names.
    """
    first_word = words[i].word
    # "Effusion, not increased" denies a change; "vascularity not increased" and "heart is not enlarged" deny
    # a state.
    is_bare = first_word == "not" and any(named[:i]) and not named[i] and words[i - 1].word not in _BE
    if first_word in ("failed", "fail") and i + 2 < len(words) and words[i + 1].word == "to":
        return i + 3 if words[i + 2].word in _VERBS else 0
    if first_word == "not" and not is_bare and not any(named[:i]):
        # "not significantly improved consolidation"
        end = skip(words, i + 1, _ADVERBS)
        is_change = end < len(words) and words[end].word in (_PARTICIPLES | {"increased", "decreased"}) - {
            "removed"
        }
        return end + 1 if is_change and end > i + 1 and not named[end] else 0
    if first_word not in _HAVE | _BE and not is_bare:
        return 0
    end = i if is_bare else i + 1
    if end < len(words) and words[end].word in ("now", "still", "also"):
        end += 1
    if end >= len(words) or words[end].word != "not":
        return 0
    end = skip(words, end + 1, _ADVERBS)
    verbs = _PARTICIPLES if first_word in _BE else _VERBS
    return end + 1 if end < len(words) and words[end].word in verbs else 0


def _match_neither(words: Sequence[Token], i: int) -> int:
    """Return the index after a phrase such as "neither improved nor worsened", or 0."""
    phrase = [token.word for token in words[i : i + 4]]
    if phrase[0] != "neither" or phrase[2:3] != ["nor"] or len(phrase) < 4:
        return 0
    return i + 4 if {phrase[1], phrase[3]} <= _VERBS | _DENIABLE | _PARTICIPLES | CHANGE_NOUNS else 0


def _find_denied_verb(words: Sequence[Token], i: int) -> int:
    """Return the index of the denied verb ("has") in a clause such as "no evidence that the effusion has
    resolved", which begins at index ``i``, or 0."""
    if words[i].word != "no" or [token.word for token in words[i + 2 : i + 3]] != ["that"]:
        return 0
    if words[i + 1].word not in _NOUN_FILLERS:
        return 0
    for position in range(i + 3, len(words) - 1):
        if words[position].word in _HAVE and words[position + 1].word in _VERBS:
            return position
    return 0


def _match_denied_comparative(words: Sequence[Token], i: int) -> int:
    """Return the index after a phrase such as "not any larger" or "no bigger than before", or 0; 0
    also for "no larger effusion", which denies an effusion."""
    if words[i].word not in ("not", "no"):
        return 0
    end = skip(words, i + 1, _ADVERBS | {"any", "appear", "become", "gotten", "got"})
    end = match_comparative(words, end)
    if not end or words[end - 1].word not in _DENIABLE | _GRADABLE:
        return 0
    if [token.word in ("than", *_NORMS) for token in words[end : end + 2]] == [True, True]:
        return 0  # "Not larger than normal" describes a state.
    is_complete = end >= len(words) or words[end].word in _ENDS_OF_COMPARISON
    return end if is_complete or words[i].word == "not" else 0


def _match_not_quite(words: Sequence[Token], i: int) -> int:
    """Return the index after a phrase such as "almost resolved" or "all but gone", which states that a
    finding is smaller but still present, or 0."""
    says_all_but = words[i].word == "all" and i + 1 < len(words) and words[i + 1].word == "but"
    if words[i].word not in _NOT_QUITE and not says_all_but:
        return 0
    end = skip(words, i + 1 + says_all_but, _ENTIRELY)
    return end + 1 if end < len(words) and words[end].word in _GONE else 0


def match_comparative(words: Sequence[Token], i: int) -> int:
    """Return the index after the comparative that begins at index ``i``, such as "larger" or
    "more prominent", or 0."""
    if i >= len(words):
        return 0
    if words[i].word in (">", "<"):
        return i + 1
    if words[i].word not in MORE:
        return 0
    return i + 2 if i + 1 < len(words) and words[i + 1].word in _GRADABLE else i + 1


def skip(words: Sequence[Token], i: int, words_to_skip: frozenset[str]) -> int:
    """Return the index of the first word at or after ``i`` that is not in ``words_to_skip``; the number of
    words if there is none."""
    while i < len(words) and words[i].word in words_to_skip:
        i += 1
    return i


# Words about an earlier state: "previously 8 mm", "from 6 mm to 11 mm".


_PAST_WORDS = word_set("previously formerly originally initially earlier before prior previous")
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
_ENDS_OF_PAST = word_set(", ) ; now currently today but and is are has have")


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
    end_by_start = {size.first: size.end for size in sizes}
    for i, token in enumerate(words):
        end = i
        if token.word in _PAST_WORDS or (
            token.word == "compared" and i + 1 < len(words) and words[i + 1].word in ("to", "with")
        ):
            end = _match_past_words(words, i)
        elif (
            token.word in _SHOWED
            and words[i - 1].word not in _OLD_STUDY
            and {earlier.word for earlier in words[max(0, i - 3) : i]} & _OLD_STUDY
        ):
            end = next((j for j in range(i, len(words)) if words[j].word in _ENDS_OF_WAS), len(words))
        elif token.word in ("was", "were", "from") and len(sizes) > 1 and i + 1 in end_by_start:
            end = end_by_start[i + 1]
        elif token.word in ("was", "were") and any(later.word in NOW for later in words[i:]):
            end = next((j for j in range(i, len(words)) if words[j].word in _ENDS_OF_WAS), i)
        if token.word in ("prior", "previous", "before", "earlier", "previously") and end <= i + 1:
            # "8 mm on the prior study" is about the past from the last bracket or comma before it.
            clause_start = i
            while clause_start and words[clause_start - 1].word not in _BEFORE_PAST:
                clause_start -= 1
            start = next((size.first for size in sizes if clause_start <= size.first < i), i)
            if start < i and (clause_start or len(sizes) > 1):
                is_past[start : i + 1] = [True] * (i + 1 - start)
        for position in range(i, end):
            is_past[position] = True
    return is_past


def _match_date(words: Sequence[Token], i: int) -> int:
    """Return the index after a past date that begins at index ``i`` ("in May", "on 3 June 2018",
    "yesterday"), or 0."""
    if i < len(words) and words[i].word == "yesterday":
        return i + 1
    if [token.word for token in words[i : i + 2]] == ["this", "morning"]:
        return i + 2 if any(token.word in NOW for token in words[i:]) else 0
    if i >= len(words) or words[i].word not in ("in", "on", "last"):
        return 0
    end = i + 1
    while end < len(words) and (words[end].word in DATES or words[end].word.isdecimal()):
        end += 1
    return end if any(token.word in DATES or len(token.word) == 4 for token in words[i + 1 : end]) else 0


def _match_past_words(words: Sequence[Token], i: int) -> int:
    """Return the index after the words about the past that begin at index ``i``; ``i`` itself if there are
    none."""
    if words[i].word in ("before", "prior", "previous"):
        next_word = words[i + 1].word if i + 1 < len(words) else ""
        if not next_word[:1].isdigit() and next_word != ".":
            return i
    end = i + 1
    while end < len(words) and words[end].word not in _ENDS_OF_PAST:
        if words[end].word in SEEN:
            return i
        end += 1
    return end
