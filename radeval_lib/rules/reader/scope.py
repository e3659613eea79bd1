"""Finds which words of a sentence are denied, doubted or hypothetical: the scope of negations and hedges.

A negation reaches forward to the end of its list or clause. A comma ends its scope ("no effusion, tortuous
aorta") unless another item of the list follows. A hedge also reaches forward. Cues after a name ("is not
seen", "cannot be excluded") reach back to the beginning of the clause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from radeval_lib.rules.reader.changes import SEEN, skip
from radeval_lib.rules.reader.phrases import PhraseMatch, word_set
from radeval_lib.rules.reader.vocabulary import Vocabulary
from radeval_lib.rules.report_text import Token

# Words before "than" with which it compares sizes or times: "likely larger than before".
_COMPARATIVE = re.compile("worse|more|less|(?!rather$).*er")
_OR_WORDS = frozenset(["or", "nor"])
_MAY_WORDS = frozenset(["may", "might", "could"])
# Answers that deny the name before a colon: "Effusion: none".
_DENYING_ANSWERS = frozenset(["none", "no", "negative", "nil", "absent", "not", "denied", "n"])
# "The tip is not seen" denies neither the catheter nor its tip.
_PART_NOUNS = word_set(
    """
    tip end portion part hole margin border extent termination origin course port sideport angle
    component edge contour detail aspect
    """
)
# Participles with which "not" may say only that a view does not show something.
_SIGHT = word_set("seen visualized identified appreciated visible apparent evident demonstrated")
_VIEWS = word_set("view projection lateral frontal ap pa portable image radiograph film")
# Participles that "not" negates to deny a finding, as in "could not be clearly demonstrated".
_DENIED_PARTICIPLES = SEEN | word_set(
    """
    found shown detected encountered demonstrable recognized discerned appreciated confirmed visible apparent
    discernible recognizable detectable depicted revealed established made perceived proven
    verified ascertained substantiated
    """
)
_NOT_WORDS = frozenset(["not", "cannot", "nowhere", "never", "neither", "longer"])
# Words between "not" and such a participle.
_BEFORE_SEEN = word_set(
    "to be been being able well clearly definitely definitively readily convincingly reliably any so yet"
)
_NONE_WORDS = frozenset(["none", "nil"])
# Words of cues such as "unlikely", "not favored" and "none", which deny nothing before a comma.
_LIKELIHOOD = _NONE_WORDS | word_set(
    "likely unlikely doubtful favored favoured felt thought believed considered"
)
_PRONOUNS = frozenset(["this", "these", "it", "they"])
_STUDIES = frozenset(["ct", "study", "exam", "examination", "scan", "comparison"])
#: Verbs that link a structure or finding to what a clause states about it.
BE = frozenset(["is", "are", "was", "were", "remain", "remains", "appear", "appears", "has", "have"])
#: Strengths of a hedge.
POSSIBLE, PROBABLE = 1, 2


class WordFlags(NamedTuple):
    """Boolean properties of the n words of a statement; every field has length n.

    Attributes
    ----------
    blocked : words that cannot begin a cue because they are part of another phrase, such as a change.
    attribute_starts : words at which a degree, size, change or side begins.
    subjects : words at which the name of a structure begins, which may be the subject of a clause.
    named : words within the name of a finding.
    placed : words within the name of a place.
    rarely_denied : words within the name of a finding that is rarely denied in lists, so that after a comma
        it is not taken as one more item of a list of denials.
    """

    blocked: Sequence[bool]
    attribute_starts: Sequence[bool]
    subjects: Sequence[bool]
    named: Sequence[bool]
    placed: Sequence[bool]
    rarely_denied: Sequence[bool]


class ScopeWords(NamedTuple):
    """The n words of a statement that negations, hedges and hypothetical phrases reach.

    Attributes
    ----------
    denied : for each word, whether a negation reaches it; length n.
    doubted : for each word, the strength of the hedge that reaches back to it or, if there is none, of the
        weakest hedge that reaches forward to it: :data:`POSSIBLE`, :data:`PROBABLE`, or 0 if no hedge reaches
        it; length n.
    hypothetical : for each word, whether a phrase such as "rule out" or "history of" reaches it; length n.
    clause : for each word, the index of the first word of its clause; length n.
    links : indices of words that link a finding to the diagnosis of which it is a sign ("likely represents").
    forward_cues : cues that reach forward, and cues that only end a scope ("but").
    backward_cues : cues that reach back ("is not seen").
    """

    denied: list[bool]
    doubted: list[int]
    hypothetical: list[bool]
    clause: list[int]
    links: list[int]
    forward_cues: list[PhraseMatch[str]]
    backward_cues: list[PhraseMatch[str]]


def find_scope(words: Sequence[Token], vocabulary: Vocabulary, flags: WordFlags) -> ScopeWords:
    """Return the words of a statement that negations, hedges and hypothetical phrases reach.

    One pass from left to right applies the cues that reach forward. Cues that reach back are applied
    afterwards and override them.

    Parameters
    ----------
    words : the statement's n words.
    vocabulary : the vocabulary, which has the cues and links.
    flags : properties of the words.
    """
    texts = [token.word for token in words]
    forward_cues, backward_cues = vocabulary.forward_cues.find(texts), vocabulary.backward_cues.find(texts)
    backward_cues = _add_not_seen_cues(words, backward_cues, forward_cues, flags)
    cue_at = {cue.first: cue for cue in forward_cues if not flags.blocked[cue.first]} | _find_late_denials(
        words, flags.named
    )
    links = {link.first for link in vocabulary.links.find(texts)}
    forward_pass = _ForwardPass(words, texts, vocabulary, flags, cue_at, backward_cues)
    scope = ScopeWords([], [], [], [], [], [], backward_cues)
    i = 0
    while i < len(words):
        end = forward_pass.step(i, scope)
        if i in links:
            scope.links.append(i)
        forward_pass.supposing = forward_pass.supposing or texts[i] in vocabulary.relatives
        scope.denied.extend([forward_pass.denying] * (end - i))
        scope.doubted.extend([forward_pass.doubting] * (end - i))
        scope.hypothetical.extend([forward_pass.supposing] * (end - i))
        scope.clause.extend([forward_pass.clause_start] * (end - i))
        i = end
    scope.forward_cues.extend(cue_at.values())
    _apply_backward_cues(words, backward_cues, flags, vocabulary, scope)
    return scope


class _ForwardPass:
    """A pass over the words from left to right, which tracks the cues whose scope is still open.

    Attributes
    ----------
    denying : whether a negation is open.
    doubting : the strength of the open hedge, 0 if no hedge is open.
    supposing : whether a hypothetical phrase is open; only "without", or a negation after a comma or "but",
        ends it.
    differential : whether the open hedge introduces a differential diagnosis, which commas do not end.
    clause_start : the index of the first word of the clause.
    comma : the index of the last comma since the last negation began, 0 if there is none.
    """

    def __init__(
        self,
        words: Sequence[Token],
        texts: list[str],
        vocabulary: Vocabulary,
        flags: WordFlags,
        cue_at: dict[int, PhraseMatch[str]],
        backward_cues: Sequence[PhraseMatch[str]],
    ) -> None:
        """Begin before the first word, with no cue open; ``cue_at`` maps a cue's first index to the cue."""
        self._words, self._texts, self._vocabulary, self._flags = words, texts, vocabulary, flags
        self._cue_at = cue_at
        self._backward_negation = {
            i for cue in backward_cues if cue.value == "negation" for i in range(cue.first, cue.end)
        }
        self.denying = self.supposing = self.differential = False
        self.doubting = self.clause_start = self.comma = 0

    def step(self, i: int, scope: ScopeWords) -> int:
        """Update the state for the cue or word at index ``i``, and return the index after it.

        ``scope`` holds the results for the words before ``i``; they change if an answer after a colon
        denies the name before the colon.
        """
        words, flags, word, cue = self._words, self._flags, self._texts[i], self._cue_at.get(i)
        kind, end = (cue.value, cue.end) if cue else ("", i + 1)
        if kind == "stops" and not (self.denying and word == "status"):
            self.denying, self.doubting, self.clause_start = False, 0, i
        elif kind == "negation_before":
            self._open_negation(i)
        elif word == "cleared" and _precedes_finding(words, i):
            self.denying = True
            self._cue_at[i] = PhraseMatch(i, end, "negation_before")
        elif kind == "hypothetical":
            self.supposing = True
        elif word == ":" and (answer_end := _match_denying_answer(words, i, self._cue_at, flags.named)):
            # The name before the colon begins after the last answer: "edema: none, effusion: none".
            previous_colon = next((colon for colon in range(i - 1, -1, -1) if words[colon].word == ":"), i)
            commas = (comma for comma in range(i - 1, previous_colon, -1) if words[comma].word == ",")
            for position in range(next(commas, -1) + 1, i):
                scope.denied[position] = True
            self.denying, end = False, answer_end
        elif kind == "hedge_before":
            self._open_hedge(i, end)
        elif word == ",":
            self.comma = i
            self.denying = self.denying and _denial_continues(words, i, self._cue_at, flags)
            if not self.differential and not any(later.word in _OR_WORDS for later in words[i + 1 : i + 6]):
                self.doubting = 0
        elif word == "over" and {"favor", "favored", "favoring"} & set(self._texts[self.clause_start : i]):
            self.denying, self.doubting = True, 0  # "favor edema over pneumonia"
        elif (
            word == "than" and "likely" in self._texts[:i] and not _COMPARATIVE.fullmatch(self._texts[i - 1])
        ):
            is_less = "less" in self._texts[:i]  # "less likely than"
            self.denying, self.doubting = not is_less, PROBABLE if is_less else 0
            if is_less:
                scope.links.append(i)
        elif word == "with" or (word == "the" and self.denying and _starts_clause(words, i, flags.subjects)):
            self.denying = False  # "no effusion with edema", "no effusion the lungs are clear"
        elif word in ("and", "/") and (self.denying or self.doubting):
            next_is_described = word == "and" and any(flags.attribute_starts[i + 1 : i + 3])
            if next_is_described or _starts_clause(words, i, flags.subjects):
                self.denying, self.doubting = False, 0
        return end

    def _open_negation(self, i: int) -> None:
        """Open a negation at index ``i``, unless it denies only words before it."""
        texts, flags = self._texts, self._flags
        # "Not seen" in "the base is not seen because of the effusion" does not deny the effusion.
        flags_before = (*flags.named[self.clause_start : i], *flags.subjects[self.clause_start : i])
        has_subject = any((*flags_before, *flags.placed[self.clause_start : i]))
        if not (texts[i] == "not" and i in self._backward_negation and has_subject):
            self.denying = True
        if texts[i] == "without" or texts[i - 1] in (",", "but"):
            self.supposing = False
        self.doubting = self.comma = 0

    def _open_hedge(self, i: int, end: int) -> None:
        """Open the hedge ``words[i:end]`` unless a negation reaches it."""
        # "No effusion to suggest failure" doubts nothing; "no effusion, findings consistent with" does.
        texts, comma = self._texts, self.comma
        continues = any(self._flags.named[comma:i]) or bool(_OR_WORDS.intersection(texts[comma:i]))
        if not self.denying or (comma > 0 and not continues):
            strength = _grade_hedge(texts[i:end], self._vocabulary)
            self.denying, self.doubting = False, min(self.doubting or strength, strength)
            self.differential = "differential" in texts[i:end]


def _add_not_seen_cues(
    words: Sequence[Token], cues: list[PhraseMatch[str]], others: Sequence[PhraseMatch[str]], flags: WordFlags
) -> list[PhraseMatch[str]]:
    """Return the cues that reach back, in order, extended by phrases such as "could not be demonstrated" and
    "none" after a name.

    ``others`` are the cues that reach forward; only negations among them can share words with such a phrase.
    """
    if not any(token.word in _NOT_WORDS | _NONE_WORDS for token in words):
        return cues
    taken_words = {i for cue in cues for i in range(cue.first, cue.end)}
    taken_words |= {i for cue in others if cue.value != "negation_before" for i in range(cue.first, cue.end)}
    further_cues = []
    for i, token in enumerate(words):
        if token.word == "neither" and i and words[i - 1].word in _DENIED_PARTICIPLES:
            further_cues.append(PhraseMatch(i, i + 1, "negation"))  # "seen neither here nor there"
        elif token.word in _NONE_WORDS and i and flags.named[i - 1]:
            further_cues.append(PhraseMatch(i, i + 1, "negation"))  # "stones none, hydronephrosis none"
        elif token.word in _NOT_WORDS and i not in taken_words:
            end = skip(words, i + 1, _BEFORE_SEEN)
            if end < len(words) and words[end].word in _DENIED_PARTICIPLES and end not in taken_words:
                further_cues.append(PhraseMatch(i, end + 1, "negation"))
    return sorted([*cues, *further_cues]) if further_cues else cues


def _find_late_denials(words: Sequence[Token], named: Sequence[bool]) -> dict[int, PhraseMatch[str]]:
    """Return a mapping from first index to cue for the denials that only later words reveal: "rules an
    effusion out", "excludes an effusion", "unlikely pneumonia"."""
    for i, token in enumerate(words):
        excludes = token.word == "exclude" and token.end - token.start == len("excludes")
        if excludes or (token.word in ("unlikely", "improbable") and any(named[i + 1 : i + 2])):
            words_before = {earlier.word for earlier in words[max(0, i - 2) : i]}
            return {} if words_before & _NOT_WORDS else {i: PhraseMatch(i, i + 1, "negation_before")}
        if token.word == "ruled" or (token.word == "rule" and token.end - token.start == len("rules")):
            out_at = next((j for j in range(i + 1, min(i + 8, len(words))) if words[j].word == "out"), 0)
            if out_at == i + 1:
                return {i: PhraseMatch(i, out_at + 1, "negation_before")}
            if out_at and any(named[i:out_at]):
                return {
                    i: PhraseMatch(i, i + 1, "negation_before"),
                    out_at: PhraseMatch(out_at, out_at + 1, "stops"),
                }
    return {}


def _grade_hedge(cue: Iterable[str], vocabulary: Vocabulary) -> int:
    """Return the strength of a hedge: :data:`POSSIBLE` for "may be", :data:`PROBABLE` for "likely"."""
    return POSSIBLE if vocabulary.possible.intersection(cue) else PROBABLE


def _precedes_finding(words: Sequence[Token], i: int) -> bool:
    """Return whether the word at index ``i`` precedes the finding that it describes, as in "cleared left
    lower lobe pneumonia"."""
    next_word = words[i + 1].word if i + 1 < len(words) else ","
    is_first = i == 0 or words[i - 1].word in (",", "interval", "now", "completely")
    return is_first and next_word not in (",", "since", "compared", "and", "on", "in")


def _starts_clause(words: Sequence[Token], i: int, subjects: Sequence[bool]) -> bool:
    """Return whether a structure with its own verb, and thus a clause, follows the word at index ``i``: "no
    effusion and the heart is normal"."""
    end = next((j for j in range(i + 1, len(words)) if words[j].word == ","), len(words))
    return any(subjects[i + 1 : min(i + 4, end)]) and any(
        token.word in BE for token in words[i + 2 : min(i + 7, end)]
    )


def _denial_continues(
    words: Sequence[Token], comma: int, cue_at: dict[int, PhraseMatch[str]], flags: WordFlags
) -> bool:
    """Return whether a list of denied findings continues after a comma.

    The list ends if a clause follows. Otherwise it continues if "or" or "nor" follows before the next cue and
    before "may". Without "or", it ends if one of these comes before the next comma: a finding that lists
    rarely deny, a finding with "may", a finding whose verb no word such as "seen" follows, or a degree, size,
    change or side that begins among the first three words. ``cue_at`` maps the index of a cue's first word to
    the cue.
    """
    points_back = any(token.word in _PRONOUNS for token in words[comma + 1 : comma + 2])
    if points_back or _starts_clause(words, comma, flags.subjects):
        return False
    size, kinds = len(words), {i: cue.value for i, cue in cue_at.items()}
    # An "or" after another cue or "may" belongs to that: "no effusion, possible edema or pneumonia".
    list_end = next((i for i in range(comma + 1, size) if kinds.get(i) == "stops"), size)
    other_cues = {i for i, kind in kinds.items() if kind in ("negation_before", "hedge_before")}
    other_cues |= {i for i, token in enumerate(words) if token.word in _MAY_WORDS}
    next_start = next((i for i in range(comma + 1, size) if i in other_cues), size)
    if any(words[i].word in _OR_WORDS for i in range(comma + 1, min(list_end, next_start))):
        return True
    # Without an "or", the words up to the next comma show whether one more item or a statement follows.
    item_end = next((i for i in range(comma + 1, list_end) if words[i].word == ","), list_end)
    name_at = next((i for i in range(comma + 1, item_end) if flags.named[i]), item_end)
    verb_at = next((i for i in range(name_at + 1, item_end - 1) if words[i].word in BE), None)
    has_may = any(words[i].word in _MAY_WORDS for i in range(name_at + 1, item_end))
    is_of_seeing = verb_at is None or words[verb_at + 1].word in _SIGHT
    if name_at < item_end and (flags.rarely_denied[name_at] or has_may or not is_of_seeing):
        return False
    return not any(flags.attribute_starts[comma + 1 : min(comma + 4, item_end)])


def _apply_backward_cues(
    words: Sequence[Token],
    backward_cues: Sequence[PhraseMatch[str]],
    flags: WordFlags,
    vocabulary: Vocabulary,
    scope: ScopeWords,
) -> None:
    """Apply the cues that reach back, by updating ``scope.denied`` and ``scope.doubted`` in place.

    A cue reaches back to the beginning of its clause, but not across an earlier cue; a hedge reaches only the
    last item of a list (:func:`_find_item_start`). A denied word that a hedge reaches is doubted and no
    longer denied.
    """
    earlier_end = 0
    for cue in backward_cues:
        if flags.blocked[cue.end - 1] or (cue.value == "negation" and _denies_only_part(words, cue)):
            continue
        last_word = words[cue.end - 1].word
        next_word = words[cue.end].word if cue.end < len(words) else "than"
        name_follows = cue.end < len(words) and flags.named[cue.end]
        # These cues describe the words after them: "unlikely pneumonia", "likely edema", "doubtful for".
        if last_word in ("unlikely", "improbable") and name_follows:
            continue
        if last_word in ("?", "likely", "favored") and next_word != "than":
            continue
        if last_word == "doubtful" and next_word == "for":
            continue
        if cue.first and words[cue.first - 1].word == "not":
            continue  # "not absent"
        start = max(earlier_end, scope.clause[cue.first])
        cue_words = [token.word for token in words[cue.first : cue.end]]
        if cue.value == "hedge" or _LIKELIHOOD & set(cue_words):
            start = max(start, _find_item_start(words, cue.first, flags.named))
        for position in range(start, cue.first):
            scope.denied[position] = cue.value == "negation"
            if cue.value != "negation":
                scope.doubted[position] = _grade_hedge(cue_words, vocabulary)
        earlier_end = cue.end


def _find_item_start(words: Sequence[Token], i: int, named: Sequence[bool]) -> int:
    """Return the index of the first word to which a hedge at index ``i`` reaches back: the word after the
    last comma in "opacity, pneumonia not excluded", which doubts only pneumonia.

    0 if no finding follows that comma, or if a conjunction does.
    """
    comma = next((position for position in range(i - 1, -1, -1) if words[position].word == ","), -1)
    is_joined = any(token.word in ("and", "or", "/") for token in words[comma + 1 : i])
    return comma + 1 if any(named[comma + 1 : i]) and not is_joined else 0


def _match_denying_answer(
    words: Sequence[Token], colon: int, cue_at: dict[int, PhraseMatch[str]], named: Sequence[bool]
) -> int:
    """Return the index after an answer that denies the name before a colon, as in "Effusion: none"; 0 if
    there is no such answer."""
    if colon + 1 >= len(words):
        return 0
    answer_end = next((i for i in range(colon + 1, len(words)) if words[i].word in (",", ":")), len(words))
    if words[colon + 1].word in _DENYING_ANSWERS:
        cue = cue_at.get(colon + 1)
        if (cue is None or cue.value == "negation_before") and not any(named[colon + 1 : answer_end]):
            return answer_end
    return 0


def _denies_only_part(words: Sequence[Token], cue: PhraseMatch[str]) -> bool:
    """Return whether a cue such as "not seen" concerns only a part of a finding or only one view, so that it
    does not deny the finding."""
    if words[cue.first].word == "neither":  # seen "on the frontal nor on the lateral view"
        return False
    # "The tip is not seen", "the tip of the catheter is not seen"
    word_before = next((i for i in range(cue.first - 1, -1, -1) if words[i].word not in BE), -1)
    if word_before >= 0 and words[word_before].word in _PART_NOUNS:
        return True
    if any(words[i].word in _PART_NOUNS and words[i + 1].word == "of" for i in range(word_before)):
        return True
    # "Not seen on the lateral view", "was not present in the prior study"
    cue_words = {token.word for token in words[max(0, cue.first - 1) : cue.end]}
    words_after = [token.word for token in words[cue.end : cue.end + 6]]
    other_views = _VIEWS | (_STUDIES if cue_words & {"was", "were"} else set())
    return (
        bool(cue_words & (_SIGHT | {"present"}))
        and bool(words_after)
        and words_after[0] in ("on", "in")
        and bool(other_views & set(words_after))
    )
