"""Attaches changes to the findings of a sentence that they are said of."""

from __future__ import annotations

from itertools import pairwise

from radeval_lib.rules.reader.marked_sentence import MarkedSentence
from radeval_lib.rules.reader.meanings import WHOLE
from radeval_lib.rules.reader.mentions import Mention
from radeval_lib.rules.reader.nearest import nearest
from radeval_lib.rules.reader.phrases import PhraseMatch
from radeval_lib.rules.reader.scope import BE

# Between two findings and a change they say that it is of both: "effusion and atelectasis are stable".
_PLURAL = frozenset(["are", "have", "were", "all", "both", "each"])
# Where they stand between two findings, these are not items of one list.
_NOT_LISTING = BE | {"with", "without", "no", "but", "which", "or", "than", "there"}


def attach_changes(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """Attach each change to the mention that is nearest to it, and to those listed with it, in place.

    What says how something was before is left out; words that were attached, or that are part of a finding,
    are marked as used.
    """
    for change in sentence.now(sentence.changes):
        whole = any(one.first == change.end and one.value[0].key == WHOLE for one in sentence.subjects)
        if whole or _names_finding(sentence, change, mentions):
            sentence.use(change.first, change.end)
            continue
        one = nearest(sentence, _may_have_changed(sentence, change, mentions), change, 1, 0, loose=True)
        if _of_structure(sentence, change, mentions):
            continue
        if one is not None and one.change in (None, change.value) and not _of_normal(sentence, change, one):
            one.change = change.value
            _share_change(sentence, change, one, mentions)
            if not _may_be_of_others(sentence, change, one, mentions):
                sentence.use(change.first, change.end)


def _may_have_changed(
    sentence: MarkedSentence, change: PhraseMatch[str], mentions: list[Mention]
) -> list[Mention]:
    """The mentions without what is denied behind the change, or what a sign before it is read as: "again
    noted without fracture", "a nodule, stable, and read as a granuloma"."""
    signs = any(one.end <= change.first for one in mentions)
    read_as = min((link for link in sentence.scope.links if signs and link > change.first), default=None)
    stated = [
        one
        for one in mentions
        if one.first < change.first or (one.presence != "absent" and (read_as is None or one.first < read_as))
    ]
    return mentions if sentence.scope.denied[change.first] else stated


def _names_finding(sentence: MarkedSentence, change: PhraseMatch[str], mentions: list[Mention]) -> bool:
    """Whether a word of change is part of a finding: "the vascularity is increased"."""
    if any(one.first <= change.first < one.end for one in mentions):
        return True
    word = sentence.words[change.first].word
    return any(
        word in sense.lead and 0 <= one.first - change.end <= 5 for one in mentions for sense in one.senses
    )


def _of_structure(sentence: MarkedSentence, change: PhraseMatch[str], mentions: list[Mention]) -> bool:
    """Whether a change is said of a structure within commas, or beside it: "large heart, mediastinum
    stable", "stable mediastinum with tortuous aorta"."""
    for one in sentence.subjects:
        # "The tortuous aorta is stable": that is said of the finding
        if one.value[0].key not in sentence.known.stable or any(
            each.start <= sentence.words[one.first].start < each.stop
            or (each.end <= one.first <= each.end + 3 and not _parted(sentence, each.end, one.first))
            for each in mentions
        ):
            continue
        between = sentence.between(*sorted((one.first, one.end, change.first, change.end))[1:3])
        behind = one.end <= change.first and between and between <= BE | {"grossly", "also"}
        if behind or (change.end <= one.first and between <= {"the", "appearance", "of"}):
            return True
    commas = [at for at, word in enumerate(sentence.words) if word.word == ","]
    begin = max((at for at in commas if at < change.first), default=-1)
    end = min((at for at in commas if at > change.first), default=len(sentence.words))
    return (
        begin >= 0
        and any(
            begin < one.first < end and one.value[0].key in sentence.known.stable for one in sentence.subjects
        )
        and not any(begin < one.first < end for one in mentions)
    )


def _of_normal(sentence: MarkedSentence, change: PhraseMatch[str], finding: Mention) -> bool:
    """Whether a word of change is nearer to what is called normal: "the heart remains normal"."""

    def between(first: int, end: int) -> int:
        return max(first - change.end, change.first - end, 0)

    apart = between(finding.first, finding.end)
    return any(said and between(at, at + 1) < apart for at, said in enumerate(sentence.normal))


def _share_change(
    sentence: MarkedSentence, change: PhraseMatch[str], owner: Mention, mentions: list[Mention]
) -> None:
    """ "Stable effusion and atelectasis", "effusion and atelectasis are stable": both are."""
    at = mentions.index(owner)
    if change.end <= owner.first:
        sharing = mentions[at : at + 2]
        between = sentence.between(sharing[0].end, sharing[-1].first)
        # "Unchanged appearance of the left nodule and the right mass"
        of_all = "appearance" in sentence.between(change.end, owner.first) and not between & _NOT_LISTING
        joined = between <= {"and", "/"} or (of_all and "and" in between)
        others = sharing[1:] if joined else []
    else:
        behind = sentence.between(owner.end, change.first)
        plural = bool(behind & _PLURAL)
        # "Effusion and atelectasis, unchanged", "... as before"
        bare = change.value == "unchanged" and not behind & (BE | {"with", "which", "that"})
        others = []
        for one, after in reversed(list(pairwise(mentions[: at + 1]))):
            between = sentence.between(one.end, after.first)
            listed = between & {"and", ","} and not between & _NOT_LISTING
            if not (between == {"/"} or (listed and (plural or (bare and "," not in between)))):
                break
            others.append(one)
    for one in others:
        if one.change is None and one.presence == owner.presence != "absent":
            one.change = change.value


def _may_be_of_others(
    sentence: MarkedSentence, change: PhraseMatch[str], owner: Mention, mentions: list[Mention]
) -> bool:
    """Whether a change behind two findings of a clause may be of both, and was read as of one."""
    before = [one for one in mentions if one.first < owner.first and one.presence != "absent"]
    if change.first < owner.end or not before or before[-1].change == change.value:
        return False
    between = sentence.between(before[-1].end, owner.first)
    return bool(between & {"and", "with", "/"}) and not between & (BE | {","})


def _parted(sentence: MarkedSentence, first: int, end: int) -> bool:
    return bool(sentence.between(first, end) & {",", "with", "and", "without", "in"})
