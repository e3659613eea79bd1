"""What must hold of the rules judge whatever a report says: metamorphic relations, and how often each is violated.

No label is needed: a report is changed in a way whose effect on the judgement is known. The first relations change
nothing that it says (:data:`FORMS`); the others delete or deny one finding, or swap reference and candidate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from textwrap import fill
from typing import NamedTuple

import pandas as pd

from radeval_lib.findings import read
from radeval_lib.findings.vocabulary import IGNORED, plain, vocabulary
from radeval_lib.findings.words import MASK, tokens
from radeval_lib.models.judges.rules import Judgement, judge_pair
from radeval_lib.models.judges.rules.items import Item, relation, said
from radeval_lib.pages.ratescore.forms import parts

_MIRROR = [1, 0, 2, 3, 5, 4]


def _closed(text: str) -> list[str]:
    """The sentences of a report, the last with a full stop too."""
    return parts(text if text.endswith((".", "!", "?")) else f"{text}.")


def _listed(text: str, between: str) -> str:
    return between.join(f"{place}. {part}" for place, part in enumerate(_closed(text), 1))


FORMS = {
    "letter case: upper": str.upper,
    "letter case: lower": str.lower,
    "white space": lambda text: "\n " + "  ".join(text.split()) + "\t\n",
    "line wrapping": lambda text: fill(text, 40),
    "order of sentences": lambda text: " ".join(reversed(_closed(text))),
    "numbered list: a line each": lambda text: _listed(text, "\n"),
    "numbered list: in one line": lambda text: _listed(text, " "),
    "repeated sentences": lambda text: " ".join(2 * _closed(text)),
}
"""Forms that change nothing of what a report says."""
IDENTITY, DELETED, DENIED, SWAPPED = "identity", "one finding deleted", "one finding denied", "reports swapped"


class Try(NamedTuple):
    """One relation tried on a reference and a candidate."""

    relation: str
    held: bool
    reference: str
    candidate: str


def _numbers(found: Judgement) -> tuple[object, ...]:
    return found.count(True), found.count(False), found.matched_findings, round(found.weighted_errors, 9)


def _counts(found: Judgement) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    return found.count(True), found.count(False), found.matched_findings


def _alike(text: str, form: str, other: str) -> bool:
    """Whether a report in another form is the same report, by itself and beside another."""
    return (
        not judge_pair(text, form).weighted_errors
        and not judge_pair(form, text).weighted_errors
        and _numbers(judge_pair(text, other)) == _numbers(judge_pair(form, other))
        and _numbers(judge_pair(other, text)) == _numbers(judge_pair(other, form))
    )


def _mirrored(one: str, other: str) -> bool:
    """Whether swapped reports have each other's false for missing findings, and all else alike."""
    there, back = judge_pair(one, other), judge_pair(other, one)
    return (there.matched_findings, *_counts(there)[:2]) == (
        back.matched_findings,
        *(tuple(counts[place] for place in _MIRROR) for counts in _counts(back)[:2]),
    )


def _only(found: Judgement, category: str) -> bool:
    return [one.category for one in found.errors] == [category] and not found.slight


class Lone(NamedTuple):
    """A finding that stands alone: the rest of its report, and the report with a denial of it in its place.

    ``denied`` is None where a denial could not be put in plain words.
    """

    rest: str
    denied: str | None


def lone_findings(text: str) -> Iterator[Lone]:
    """The findings of a report of which one can say beforehand what it takes to delete or deny them.

    Such a finding is the only one that its sentence names, the sentence has no word of negation, doubt or
    normality and nothing masked, and the other sentences speak neither of it nor of a near relative. To be
    denied in plain words, its sentence must not begin with an article that points ("the") and speak of no change.
    """
    known = vocabulary()
    sentences = _closed(text)
    for place, sentence in enumerate(sentences):
        words = tokens(sentence)
        named = known.observations.find(words)
        if len(named) != 1 or named[0].value[0].key in (IGNORED, "acute_disease"):
            continue
        said_so = {word.word for word in words[named[0].first : named[0].end]}
        unclear = [cue for cue in (*known.cues.find(words), *known.after.find(words), *known.links.find(words))]
        states = [one for one in known.states.find(words) if words[one.first].word not in said_so]
        if unclear or states or MASK in {word.word for word in words} or re.search("[;:]", sentence):
            continue
        rest = " ".join(sentences[:place] + sentences[place + 1 :])
        own = said(sentence).stated
        spoken = {one.observation for one in read(rest).findings}
        keys = {sense.key for sense in named[0].value}
        kin = {key for pair in known.kin if pair & keys for key in pair} | keys
        if spoken & kin or any(relation(one, other) for one in own for other in said(rest).stated):
            continue
        denied = None
        if not known.changes.find(words) and not re.match(r"(?i)(?:the|this|these)\b", sentence):
            found = re.match(r"(?i)there (?:is|are) (?:an? |some )?", sentence)
            bare = sentence[found.end() :] if found else re.sub(r"(?i)^an? ", "", sentence)
            denial = f"There is no {bare}" if found else f"No evidence of {bare[0].lower()}{bare[1:]}"
            denied = " ".join([*sentences[:place], denial, *sentences[place + 1 :]])
        yield Lone(rest, denied)


def tries(texts: Sequence[str]) -> Iterator[Try]:
    """Every relation tried on every text; beside it stands the next one, where a relation needs another."""
    for text, other in pairwise([*texts, *texts[:1]]):
        yield Try(IDENTITY, not judge_pair(text, text).weighted_errors, text, text)
        for name, put in FORMS.items():
            form = put(text)
            yield Try(name, _alike(text, form, other), text, form)
        for lone in lone_findings(text):
            for name, changed in ((DELETED, lone.rest), (DENIED, lone.denied)):
                if changed is None:
                    continue
                held = _only(judge_pair(text, changed), "b") and _only(judge_pair(changed, text), "a")
                yield Try(name, held, text, changed)
        yield Try(SWAPPED, _mirrored(text, other), text, other)


def rates(found: Iterable[Try]) -> pd.DataFrame:
    """How often each relation was tried and violated.

    Index ``relation``; ``tries``, ``violations``, ``rate``.
    """
    table = pd.DataFrame([(one.relation, not one.held) for one in found], columns=["relation", "violated"])
    grouped = table.groupby("relation", sort=False)["violated"]
    return pd.DataFrame({"tries": grouped.size(), "violations": grouped.sum(), "rate": grouped.mean()})
