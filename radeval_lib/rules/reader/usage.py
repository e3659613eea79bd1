"""Which words of a sentence its reading used, and which it left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from radeval_lib.rules.reader.marked_sentence import MarkedSentence
from radeval_lib.rules.reader.mentions import Mention, Unused
from radeval_lib.rules.reader.phrases import PhraseMatch


def usage(sentence: MarkedSentence, mentions: list[Mention]) -> tuple[int, tuple[Unused, ...]]:
    """How many words that carry meaning were used, and which were not.

    ``mentions`` are the findings that were read. What is only talked about, or says how something was before,
    counts as neither.
    """
    sentence.use_all(sentence.named)
    kinds = _kinds(sentence, mentions)
    # "Calcified" is a finding of its own in "tortuous calcified aorta"
    calcified = any(sense.key in sentence.known.calcified for one in mentions for sense in one.senses)
    looks = sentence.known.looks - ({"calcified"} if not calcified else set()) if mentions else frozenset()
    needless = sentence.known.passed_over | looks
    used, unused = 0, []
    for at, (word, start, end) in enumerate(sentence.words):
        aside = sentence.past[at] or sentence.scope.hypothetical[at] or not word.isalnum()
        passed = (
            word in needless
            or (len(word) == 1 and not word.isdigit())
            or (word == "interval" and at > 0 and sentence.words[at - 1].word == "the")
            or _weighs_nothing(sentence, at)
        )
        if sentence.used[at]:
            used += not (aside or passed)
        elif not aside and (kinds[at] or not (passed or word.isdigit())):
            unused.append(Unused(start, end, kinds[at] or "word"))
    return used, tuple(dict.fromkeys(unused))


def _weighs_nothing(sentence: MarkedSentence, at: int) -> bool:
    """Whether a word of degree without a step is of a change, or denied: "no significant effusion"."""
    of_change = any(at < one.first <= at + 2 for one in sentence.changes)
    return sentence.words[at].word in sentence.known.unscaled and (of_change or sentence.scope.denied[at])


def _kinds(sentence: MarkedSentence, mentions: list[Mention]) -> list[str]:
    """What each word is, as :class:`Unused` calls it; empty for a word that is none of these."""
    kinds = [
        "degree" if word.word in sentence.known.unscaled and not _weighs_nothing(sentence, at) else ""
        for at, word in enumerate(sentence.words)
    ]
    groups: dict[str, Sequence[PhraseMatch[Any]]] = {
        "size": sentence.sizes, "place": sentence.spots, "side": sentence.sides, "degree": sentence.degrees,
        "change": sentence.changes, "negation": _vain_negations(sentence, mentions),
    }  # fmt: skip
    for kind, group in groups.items():
        for match in group:
            kinds[match.first : match.end] = [kind] * (match.end - match.first)
    return kinds


def _vain_negations(sentence: MarkedSentence, mentions: list[Mention]) -> list[PhraseMatch[str]]:
    """The words of denial that deny nothing that was read; the others are marked as used."""
    vain = []
    for cue in sentence.scope.before:
        if cue.value != "negation_before":
            sentence.use(cue.first, cue.end)
            continue
        behind = next((one for one in mentions if one.end > cue.first), None)
        before = next((one for one in reversed(mentions) if one.first < cue.first), None)
        if any(one is not None and one.presence == "absent" for one in (behind, before)):
            sentence.use(cue.first, cue.end)
        elif not any(sentence.used[cue.first : cue.end]):
            vain.append(cue)
    for found in sentence.scope.after:
        if found.value == "hedge" or any(
            one.presence == "absent" and one.first < found.first for one in mentions
        ):
            sentence.use(found.first, found.end)
    return vain
