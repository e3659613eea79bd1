"""Finds which words of a sentence are denied, doubted or hypothetical: the scope of negations and hedges.

A negation reaches forward to the end of its list or clause. A comma ends it ("no effusion, tortuous aorta")
unless another item of the list follows. A hedge also reaches forward. Cues behind a name ("is not seen",
"cannot be excluded") reach back to the beginning of the clause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from radeval_lib.rules.reader.changes import SEEN, skip
from radeval_lib.rules.reader.phrases import PhraseMatch, word_set
from radeval_lib.rules.reader.vocabulary import Vocabulary
from radeval_lib.rules.report_text import Token

# Before "than", it compares sizes or times: "likely larger than before".
_COMPARATIVE = re.compile("worse|more|less|(?!rather$).*er")
_OR_WORDS = frozenset(["or", "nor"])
_MAY_WORDS = frozenset(["may", "might", "could"])
# Answers that deny the name before a colon: "Effusion: none".
_DENYING_ANSWERS = frozenset(["none", "no", "negative", "nil", "absent", "not", "denied", "n"])
# "The tip is not seen" denies neither the catheter nor its tip.
_PARTS = word_set(
    """
    tip end portion part hole margin border extent termination origin course port sideport angle
    component edge contour detail aspect
    """
)
# Participles with which "not" may say only that a view does not show something.
_SIGHT = word_set("seen visualized identified appreciated visible apparent evident demonstrated")
_VIEWS = word_set("view projection lateral frontal ap pa portable image radiograph film")
# What "not" is said of in "could not be clearly demonstrated", and what may stand between.
_SEEN = SEEN | word_set(
    """
    found shown detected encountered demonstrable recognized discerned appreciated confirmed visible apparent
    discernible recognizable detectable depicted revealed established made perceived proven
    verified ascertained substantiated
    """
)
_NOT_WORDS = frozenset(["not", "cannot", "nowhere", "never", "neither", "longer"])
_BEFORE_SEEN = word_set(
    "to be been being able well clearly definitely definitively readily convincingly reliably any so yet"
)
_NONE_WORDS = frozenset(["none", "nil"])
# "Unlikely", "not favored" and "none" deny what they are said of, and nothing before a comma.
_LIKELIHOOD = _NONE_WORDS | word_set(
    "likely unlikely doubtful favored favoured felt thought believed considered"
)
_POINTING = frozenset(["this", "these", "it", "they"])
_STUDIES = frozenset(["ct", "study", "exam", "examination", "scan", "comparison"])
#: Verbs by which a clause says something of its structure.
BE = frozenset(["is", "are", "was", "were", "remain", "remains", "appear", "appears", "has", "have"])
#: Strengths of a hedge.
POSSIBLE, PROBABLE = 1, 2


class WordFlags(NamedTuple):
    """Boolean properties of the n words of a statement; every field has length n.

    Attributes
    ----------
    blocked : words that begin no cue because they are part of another phrase, such as a change.
    descriptors : words at which a degree, size, change or side begins.
    subjects : words at which a structure's name begins, as the subject of a clause.
    named : words within the name of a finding.
    placed : words within the name of a place.
    seldom : words within the name of a finding that is rarely denied in lists, so that after a comma it is
        not taken as one more item of a list of denials.
    """

    blocked: Sequence[bool]
    descriptors: Sequence[bool]
    subjects: Sequence[bool]
    named: Sequence[bool]
    placed: Sequence[bool]
    seldom: Sequence[bool]


class ScopeWords(NamedTuple):
    """The words of a statement, n in all, that negations and hedges reach; :func:`find_scope` returns it.

    Attributes
    ----------
    denied, hypothetical : for each word, whether a negation, or a phrase such as "rule out" or "history of",
        reaches it; length n.
    doubted : for each word, the weakest hedge that reaches it: :data:`POSSIBLE`, :data:`PROBABLE`, or 0;
        length n.
    clause : for each word, the first word of its clause; length n.
    links : words at which a finding is linked to the diagnosis that it is read as ("likely represents").
    forward_cues : cues that reach forward, and those that only end a reach ("but").
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
    """Return which words of a statement each negation, hedge and hypothetical phrase reaches.

    One pass from left to right applies the cues that reach forward. Cues that reach back are applied
    afterwards and override them.

    Parameters
    ----------
    words : the statement's n words.
    vocabulary : the vocabulary, for its cues and links.
    flags : properties of the words.
    """
    text = [word.word for word in words]
    cues, cues_behind = vocabulary.forward_cues.find(text), vocabulary.backward_cues.find(text)
    cues_behind = _add_wordings_of_not_seen(words, cues_behind, cues, flags)
    cue_at = {cue.first: cue for cue in cues if not flags.blocked[cue.first]} | _find_late_denials(
        words, flags.named
    )
    links = {link.first for link in vocabulary.links.find(text)}
    forward_pass = _ForwardPass(words, text, vocabulary, flags, cue_at, cues_behind)
    reached = ScopeWords([], [], [], [], [], [], cues_behind)
    at = 0
    while at < len(words):
        end = forward_pass.step(at, reached)
        if at in links:
            reached.links.append(at)
        forward_pass.talking = forward_pass.talking or text[at] in vocabulary.relatives
        reached.denied.extend([forward_pass.denying] * (end - at))
        reached.doubted.extend([forward_pass.doubting] * (end - at))
        reached.hypothetical.extend([forward_pass.talking] * (end - at))
        reached.clause.extend([forward_pass.start] * (end - at))
        at = end
    reached.forward_cues.extend(cue_at.values())
    _reach_back(words, cues_behind, flags, vocabulary, reached)
    return reached


class _ForwardPass:
    """The state of a pass over the words from left to right: the cues whose scope is still open.

    Attributes
    ----------
    denying : whether a negation is open.
    doubting : the strength of the open hedge, 0 if there is none.
    talking : whether a hypothetical phrase is open; only "without", or a negation behind a comma or "but",
        ends it.
    listing : whether the hedge introduces a differential diagnosis, which commas do not end.
    start : the index of the first word of the clause.
    comma : the index of the last comma since the negation began, 0 if there is none.
    """

    def __init__(
        self,
        words: Sequence[Token],
        text: list[str],
        vocabulary: Vocabulary,
        flags: WordFlags,
        begins: dict[int, PhraseMatch[str]],
        after: Sequence[PhraseMatch[str]],
    ) -> None:
        """Begin before the first word, with no cue open; ``begins`` are the cues by their first word."""
        self._words, self._text, self._vocabulary, self._flags = words, text, vocabulary, flags
        self._begins = begins
        self._denied_behind = {
            at for cue in after if cue.value == "negation" for at in range(cue.first, cue.end)
        }
        self.denying = self.talking = self.listing = False
        self.doubting = self.start = self.comma = 0

    def step(self, at: int, reached: ScopeWords) -> int:
        """Update the state for the cue or word at index ``at``, and return the index behind it.

        ``reached`` has the results for the words before, which change if an answer denies the name before its
        colon.
        """
        words, flags, word, cue = self._words, self._flags, self._text[at], self._begins.get(at)
        kind, end = (cue.value, cue.end) if cue else ("", at + 1)
        if kind == "stops" and not (self.denying and word == "status"):
            self.denying, self.doubting, self.start = False, 0, at
        elif kind == "negation_before":
            self._begin_denial(at)
        elif word == "cleared" and _precedes_finding(words, at):
            self.denying = True
            self._begins[at] = PhraseMatch(at, end, "negation_before")
        elif kind == "hypothetical":
            self.talking = True
        elif word == ":" and (answered := _match_denying_answer(words, at, self._begins, flags.named)):
            # The name before the colon begins behind the last answer: "edema: none, effusion: none".
            earlier = next((colon for colon in range(at - 1, -1, -1) if words[colon].word == ":"), at)
            commas = (comma for comma in range(at - 1, earlier, -1) if words[comma].word == ",")
            for position in range(next(commas, -1) + 1, at):
                reached.denied[position] = True
            self.denying, end = False, answered
        elif kind == "hedge_before":
            self._begin_doubt(at, end)
        elif word == ",":
            self.comma = at
            self.denying = self.denying and _denial_continues(words, at, self._begins, flags)
            if not self.listing and not any(later.word in _OR_WORDS for later in words[at + 1 : at + 6]):
                self.doubting = 0
        elif word == "over" and {"favor", "favored", "favoring"} & set(self._text[self.start : at]):
            self.denying, self.doubting = True, 0  # "favor edema over pneumonia"
        elif (
            word == "than" and "likely" in self._text[:at] and not _COMPARATIVE.fullmatch(self._text[at - 1])
        ):
            is_less = "less" in self._text[:at]  # "less likely than"
            self.denying, self.doubting = not is_less, PROBABLE if is_less else 0
            if is_less:
                reached.links.append(at)
        elif word == "with" or (word == "the" and self.denying and _starts_clause(words, at, flags.subjects)):
            self.denying = False  # "no effusion with edema", "no effusion the lungs are clear"
        elif word in ("and", "/") and (self.denying or self.doubting):
            next_is_described = word == "and" and any(flags.descriptors[at + 1 : at + 3])
            if next_is_described or _starts_clause(words, at, flags.subjects):
                self.denying, self.doubting = False, 0
        return end

    def _begin_denial(self, at: int) -> None:
        """Open a negation at index ``at``, unless it denies only words before it."""
        text, flags = self._text, self._flags
        # "The base is not seen because of the effusion" denies nothing behind it.
        flags_before = (*flags.named[self.start : at], *flags.subjects[self.start : at])
        has_subject = any((*flags_before, *flags.placed[self.start : at]))
        if not (text[at] == "not" and at in self._denied_behind and has_subject):
            self.denying = True
        if text[at] == "without" or text[at - 1] in (",", "but"):
            self.talking = False
        self.doubting = self.comma = 0

    def _begin_doubt(self, at: int, end: int) -> None:
        """Open the hedge of the words from ``at`` to before ``end``, unless a negation reaches it."""
        # "No effusion to suggest failure" doubts nothing; "no effusion, findings consistent with" does.
        text, comma = self._text, self.comma
        continues = any(self._flags.named[comma:at]) or bool(_OR_WORDS.intersection(text[comma:at]))
        if not self.denying or (comma > 0 and not continues):
            strength = _grade_hedge(text[at:end], self._vocabulary)
            self.denying, self.doubting = False, min(self.doubting or strength, strength)
            self.listing = "differential" in text[at:end]


def _add_wordings_of_not_seen(
    words: Sequence[Token], after: list[PhraseMatch[str]], cues: Sequence[PhraseMatch[str]], flags: WordFlags
) -> list[PhraseMatch[str]]:
    """Return the cues that reach back, in order, extended by the wordings of "could not be demonstrated" and
    by "none" behind a name.

    ``cues`` are the cues that reach forward, whose words cannot belong to such a wording.
    """
    if not any(token.word in _NOT_WORDS | _NONE_WORDS for token in words):
        return after
    taken_words = {at for cue in after for at in range(cue.first, cue.end)}
    taken_words |= {at for cue in cues if cue.value != "negation_before" for at in range(cue.first, cue.end)}
    further_cues = []
    for at, token in enumerate(words):
        if token.word == "neither" and at and words[at - 1].word in _SEEN:
            further_cues.append(PhraseMatch(at, at + 1, "negation"))  # "seen neither here nor there"
        elif token.word in _NONE_WORDS and at and flags.named[at - 1]:
            further_cues.append(PhraseMatch(at, at + 1, "negation"))  # "stones none, hydronephrosis none"
        elif token.word in _NOT_WORDS and at not in taken_words:
            end = skip(words, at + 1, _BEFORE_SEEN)
            if end < len(words) and words[end].word in _SEEN and end not in taken_words:
                further_cues.append(PhraseMatch(at, end + 1, "negation"))
    return sorted([*after, *further_cues]) if further_cues else after


def _find_late_denials(words: Sequence[Token], named: Sequence[bool]) -> dict[int, PhraseMatch[str]]:
    """Return, by the index of their first word, the denials that are recognized only by the words after them:
    "rules an effusion out", "excludes an effusion", "unlikely pneumonia"."""
    for at, token in enumerate(words):
        excludes = token.word == "exclude" and token.end - token.start == len("excludes")
        if excludes or (token.word in ("unlikely", "improbable") and any(named[at + 1 : at + 2])):
            words_before = {word.word for word in words[max(0, at - 2) : at]}
            return {} if words_before & _NOT_WORDS else {at: PhraseMatch(at, at + 1, "negation_before")}
        if token.word == "ruled" or (token.word == "rule" and token.end - token.start == len("rules")):
            out_at = next((to for to in range(at + 1, min(at + 8, len(words))) if words[to].word == "out"), 0)
            if out_at == at + 1:
                return {at: PhraseMatch(at, out_at + 1, "negation_before")}
            if out_at and any(named[at:out_at]):
                return {
                    at: PhraseMatch(at, at + 1, "negation_before"),
                    out_at: PhraseMatch(out_at, out_at + 1, "stops"),
                }
    return {}


def _grade_hedge(cue: Iterable[str], vocabulary: Vocabulary) -> int:
    """Return the strength of a hedge: :data:`POSSIBLE` for "may be", :data:`PROBABLE` for "likely"."""
    return POSSIBLE if vocabulary.possible.intersection(cue) else PROBABLE


def _precedes_finding(words: Sequence[Token], at: int) -> bool:
    """Return whether the word at ``at`` stands before the finding that it describes, as in "cleared left
    lower lobe pneumonia"."""
    next_word = words[at + 1].word if at + 1 < len(words) else ","
    is_first = at == 0 or words[at - 1].word in (",", "interval", "now", "completely")
    return is_first and next_word not in (",", "since", "compared", "and", "on", "in")


def _starts_clause(words: Sequence[Token], at: int, subjects: Sequence[bool]) -> bool:
    """Return whether a clause begins behind the word at ``at``, which a structure with its own verb
    shows: "no effusion and the heart is normal"."""
    end = next((to for to in range(at + 1, len(words)) if words[to].word == ","), len(words))
    return any(subjects[at + 1 : min(at + 4, end)]) and any(
        word.word in BE for word in words[at + 2 : min(at + 7, end)]
    )


def _denial_continues(
    words: Sequence[Token], comma: int, begins: dict[int, PhraseMatch[str]], flags: WordFlags
) -> bool:
    """Return whether a list of denied findings continues after a comma.

    The list ends if a clause follows. Otherwise it continues if "or" or "nor" follows before the next cue and
    before "may". Without "or", it ends if one of these comes before the next comma: a finding that lists
    rarely deny, a finding with "may" or with a verb other than one of seeing, or a descriptor among the first
    three words. ``begins`` are the cues by the index of their first word.
    """
    points_back = any(word.word in _POINTING for word in words[comma + 1 : comma + 2])
    if points_back or _starts_clause(words, comma, flags.subjects):
        return False
    size, kinds = len(words), {at: cue.value for at, cue in begins.items()}
    # The "or" behind another cue or "may" belongs to that: "no effusion, possible edema or pneumonia".
    list_end = next((at for at in range(comma + 1, size) if kinds.get(at) == "stops"), size)
    other_cues = {at for at, kind in kinds.items() if kind in ("negation_before", "hedge_before")}
    other_cues |= {at for at, word in enumerate(words) if word.word in _MAY_WORDS}
    next_start = next((at for at in range(comma + 1, size) if at in other_cues), size)
    if any(words[at].word in _OR_WORDS for at in range(comma + 1, min(list_end, next_start))):
        return True
    # Without an "or", the words up to the next comma decide: is there one more item, or a statement?
    item_end = next((at for at in range(comma + 1, list_end) if words[at].word == ","), list_end)
    name_at = next((at for at in range(comma + 1, item_end) if flags.named[at]), item_end)
    verb_at = next((at for at in range(name_at + 1, item_end - 1) if words[at].word in BE), None)
    has_may = any(words[at].word in _MAY_WORDS for at in range(name_at + 1, item_end))
    is_of_seeing = verb_at is None or words[verb_at + 1].word in _SIGHT
    if name_at < item_end and (flags.seldom[name_at] or has_may or not is_of_seeing):
        return False
    return not any(flags.descriptors[comma + 1 : min(comma + 4, item_end)])


def _reach_back(
    words: Sequence[Token],
    after: Sequence[PhraseMatch[str]],
    flags: WordFlags,
    vocabulary: Vocabulary,
    reached: ScopeWords,
) -> None:
    """Apply the cues that reach back: update ``denied`` and ``doubted`` of ``reached``, in place.

    A cue reaches back to the beginning of its clause, but not across an earlier cue; a hedge reaches only the
    last item of a list (:func:`_find_item_start`). A denied word that a hedge reaches is doubted and no
    longer denied.
    """
    earlier_end = 0
    for match in after:
        if flags.blocked[match.end - 1] or (match.value == "negation" and _denies_a_part_only(words, match)):
            continue
        last_word = words[match.end - 1].word
        next_word = words[match.end].word if match.end < len(words) else "than"
        name_follows = match.end < len(words) and flags.named[match.end]
        # These are said of the words that follow: "unlikely pneumonia", "likely edema", "doubtful for edema".
        if last_word in ("unlikely", "improbable") and name_follows:
            continue
        if last_word in ("?", "likely", "favored") and next_word != "than":
            continue
        if last_word == "doubtful" and next_word == "for":
            continue
        if match.first and words[match.first - 1].word == "not":
            continue  # "not absent"
        start = max(earlier_end, reached.clause[match.first])
        cue_words = [word.word for word in words[match.first : match.end]]
        if match.value == "hedge" or _LIKELIHOOD & set(cue_words):
            start = max(start, _find_item_start(words, match.first, flags.named))
        for position in range(start, match.first):
            reached.denied[position] = match.value == "negation"
            if match.value != "negation":
                reached.doubted[position] = _grade_hedge(cue_words, vocabulary)
        earlier_end = match.end


def _find_item_start(words: Sequence[Token], at: int, named: Sequence[bool]) -> int:
    """Return the index of the first word that a hedge at ``at`` reaches back to: the word after the last
    comma in "opacity, pneumonia not excluded", which doubts only pneumonia. It is 0 if no finding, or a
    conjunction, follows that comma."""
    comma = next((position for position in range(at - 1, -1, -1) if words[position].word == ","), -1)
    is_joined = any(word.word in ("and", "or", "/") for word in words[comma + 1 : at])
    return comma + 1 if any(named[comma + 1 : at]) and not is_joined else 0


def _match_denying_answer(
    words: Sequence[Token], colon: int, begins: dict[int, PhraseMatch[str]], named: Sequence[bool]
) -> int:
    """Return the index behind an answer that denies the name before a colon, as in "Effusion: none"; 0 if
    there is no such answer."""
    if colon + 1 >= len(words):
        return 0
    answer_end = next((at for at in range(colon + 1, len(words)) if words[at].word in (",", ":")), len(words))
    if words[colon + 1].word in _DENYING_ANSWERS:
        cue = begins.get(colon + 1)
        if (cue is None or cue.value == "negation_before") and not any(named[colon + 1 : answer_end]):
            return answer_end
    return 0


def _denies_a_part_only(words: Sequence[Token], match: PhraseMatch[str]) -> bool:
    """Return whether a cue such as "not seen" is about a part of a finding or one view only, so that it
    denies nothing."""
    if words[match.first].word == "neither":  # seen "on the frontal nor on the lateral view"
        return False
    # "The tip is not seen", "the tip of the catheter is not seen"
    word_before = next((at for at in range(match.first - 1, -1, -1) if words[at].word not in BE), -1)
    if word_before >= 0 and words[word_before].word in _PARTS:
        return True
    if any(words[at].word in _PARTS and words[at + 1].word == "of" for at in range(word_before)):
        return True
    # "Not seen on the lateral view", "was not present in the prior study"
    cue_words = {word.word for word in words[max(0, match.first - 1) : match.end]}
    words_behind = [word.word for word in words[match.end : match.end + 6]]
    other_views = _VIEWS | (_STUDIES if cue_words & {"was", "were"} else set())
    return (
        bool(cue_words & (_SIGHT | {"present"}))
        and bool(words_behind)
        and words_behind[0] in ("on", "in")
        and bool(other_views & set(words_behind))
    )
