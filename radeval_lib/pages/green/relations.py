"""Metamorphic relations of the rules judge: what must hold whatever a report says, and how often it does not.

No label is needed: a report is changed in a way whose effect on the judgement is known beforehand. The first
relations change nothing that it says (:data:`FORMS`); the others change one finding that stands alone in its
sentence, or swap reference and candidate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from textwrap import fill

import pandas as pd

from radeval_lib.data.records import Report
from radeval_lib.data.restricted import reveal
from radeval_lib.findings import read
from radeval_lib.findings.vocabulary import IGNORED, vocabulary
from radeval_lib.models.judges.rules import Judgement, judge_pair
from radeval_lib.models.judges.rules.items import relation, said
from radeval_lib.pages.ratescore.forms import parts
from radeval_lib.report_text import MASK, tokens

_MIRROR = [1, 0, 2, 3, 5, 4]
_SIDED = re.compile(
    r"(?i)middle lobe|lingula|both|\bbi(?:lateral|basilar|basal|apical)|atri|ventric|arch|circumflex|quadrant"
    r"|silhouette"
)
_NORMAL = (
    "The lungs are clear. Heart size is normal. No pneumothorax or pleural effusion. The bones are intact."
)


def _closed(text: str) -> list[str]:
    """The sentences of a report, the last with a full stop too."""
    return parts(text if text.endswith((".", "!", "?")) else f"{text}.")


def _listed(text: str, between: str) -> str:
    return between.join(f"{place}. {part}" for place, part in enumerate(_closed(text), 1))


def _lines(text: str, between: str, *, stops: bool = True, before: str = "") -> str:
    """The sentences of a report, with full stops or without."""
    sentences = _closed(text) if stops else [part.rstrip(".") for part in _closed(text)]
    return before + between.join(sentences)


_HISTORY = "HISTORY: Fever. Large left pleural effusion and pneumothorax a week ago. FINDINGS: "
FORMS = {
    "letter case: upper": str.upper,
    "letter case: lower": str.lower,
    "wrapped at 60 columns": lambda text: fill(text, 60),
    "wrapped at 80 columns": lambda text: fill(text, 80),
    "a sentence a line": lambda text: _lines(text, "\n"),
    "a sentence a line, no full stops": lambda text: _lines(text, "\n", stops=False),
    "line ends of Windows": lambda text: _lines(text, "\r\n", stops=False),
    "line ends typed": lambda text: _lines(text, r"\n"),
    "line ends as tags": lambda text: _lines(text, "<br>"),
    "empty lines": lambda text: _lines(text, "\n\n"),
    "stars in one line": lambda text: _lines(text, " * ", stops=False, before="* "),
    "dashes in one line": lambda text: _lines(text, " - ", stops=False, before="- "),
    "numbered list, a line each": lambda text: _listed(text, "\n"),
    "numbered list in one line": lambda text: _listed(text, " "),
    "a history in front": lambda text: _HISTORY + text,
    "order of sentences": lambda text: " ".join(reversed(_closed(text))),
    "repeated sentences": lambda text: " ".join(2 * _closed(text)),
}
"""Forms that change nothing of what a report says of this study."""
IDENTITY, SWAPPED, NORMAL = "identity", "reports swapped", "normal statements added"
DELETED, DENIED = "one finding deleted", "one finding denied"
MOVED, GROWN = "one finding on the other side", "one measurement tripled"


def _numbers(found: Judgement) -> tuple[object, ...]:
    return found.count(True), found.count(False), found.matched_findings, round(found.weighted_errors, 9)


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
    return there.matched_findings == back.matched_findings and all(
        there.count(grade) == tuple(back.count(grade)[place] for place in _MIRROR) for grade in (True, False)
    )


def _only(found: Judgement, category: str) -> bool:
    return [one.category for one in found.errors] == [category] and not found.slight


def lone_findings(text: str) -> Iterator[tuple[list[str], int]]:
    """The sentences of a report, and the number of one with a finding whose change has a known effect.

    That finding is the only one that its sentence names; the sentence says nothing else of a structure (that
    it is normal, or enlarged), has no word of denial or doubt, none masked and no colon; and the others speak
    neither of it nor of a relative.
    """
    known = vocabulary()
    sentences = _closed(text)
    for place, sentence in enumerate(sentences):
        words = [word.word for word in tokens(sentence)]
        named = known.observations.find(words)
        if len(named) != 1 or named[0].value[0].key in (IGNORED, "acute_disease"):
            continue
        name = set(words[named[0].first : named[0].end])
        structures = {subject.key for one in known.subjects.find(words) for subject in one.value}
        # "There is" ends the reach of a denial, and denies nothing itself.
        unclear = any(cue.value != "stops" or cue.first for cue in known.cues.find(words))
        unclear |= any(group.find(words) for group in (known.after, known.links))
        states = any(
            one.value in ("normal", "abnormal")
            or any((key, one.value) in known.abnormal_states for key in structures)
            for one in known.states.find(words)
            if words[one.first] not in name
        )
        if unclear or states or MASK in words or ":" in sentence:
            continue
        rest = " ".join(_without(sentences, place))
        spoken = {one.observation for one in read(rest).findings}
        keys = {sense.key for sense in named[0].value}
        related = {key for pair in (*known.kin, *known.kinds) if keys & set(pair) for key in pair} | keys
        own = said(sentence).stated
        if not spoken & related and not any(relation(a, b) for a in own for b in said(rest).stated):
            yield sentences, place


def _without(sentences: list[str], place: int, *instead: str) -> list[str]:
    return [*sentences[:place], *instead, *sentences[place + 1 :]]


def denial(sentence: str) -> str | None:
    """A sentence turned into a denial; None where it points ("the"), is about change or what has been."""
    if vocabulary().changes.find([word.word for word in tokens(sentence)]) or re.match(
        r"(?i)(?:the|this|these|and|there ha[sd]|there have)\b", sentence
    ):
        return None
    found = re.match(r"(?i)there (?:is|are) (?:an? |some )?", sentence)
    if found:
        return f"There is no {sentence[found.end() :]}"
    bare = re.sub(r"(?i)^an? ", "", sentence)
    return f"No evidence of {bare[0].lower()}{bare[1:]}"


def other_side(sentence: str) -> str | None:
    """A sentence that says left or right once, with the other; None where that is part of a name."""
    sides = list(re.finditer(r"(?i)\b(?:left|right)\b", sentence))
    if len(sides) != 1 or _SIDED.search(sentence):
        return None
    side = sides[0].group()
    other = "right" if side.lower() == "left" else "left"
    if side[0].isupper():
        other = other.upper() if side.isupper() else other.capitalize()
    return f"{sentence[: sides[0].start()]}{other}{sentence[sides[0].end() :]}"


def tripled(sentence: str) -> str | None:
    """A sentence with one measurement, three times as large; None for others, and for what is a distance."""
    sizes = re.findall(r"(?i)\b(\d+(?:\.\d+)?)[ -]?(?:mm|cm)\b", sentence)
    if len(sizes) != 1 or re.search(r"(?i)above|below|from|between|carina|tip|\bx\b|\bby\b|/", sentence):
        return None
    return re.sub(
        rf"\b{re.escape(sizes[0])}(?=[ -]?(?:mm|cm))", f"{3 * float(sizes[0]):g}", sentence, flags=re.I
    )


_CHANGES = {
    DELETED: (lambda sentence: "", "b", "a"),
    DENIED: (denial, "b", "a"),
    MOVED: (other_side, "c", "c"),
    GROWN: (tripled, "d", "d"),
}


def tries(texts: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Every relation tried on every text, and whether it held; where a relation needs another text, it is the
    next one."""
    for text, other in pairwise([*texts, *texts[:1]]):
        yield IDENTITY, not judge_pair(text, text).weighted_errors
        for name, put in FORMS.items():
            yield name, _alike(text, put(text), other)
        if not said(text).stated:
            more = f"{text} {_NORMAL}"
            yield NORMAL, not judge_pair(text, more).errors and not judge_pair(more, text).errors
        for sentences, place in lone_findings(text):
            for name, (change, there, back) in _CHANGES.items():
                if (changed := change(sentences[place])) is not None:
                    new = " ".join(filter(None, _without(sentences, place, changed)))
                    yield name, _only(judge_pair(text, new), there) and _only(judge_pair(new, text), back)
        yield SWAPPED, _mirrored(text, other)


def rates(texts: Sequence[str]) -> pd.DataFrame:
    """How often each relation was tried on texts and violated: ``tries``, ``violations``, ``rate``."""
    table = pd.DataFrame(tries(texts), columns=["relation", "held"])
    violated = (~table["held"]).groupby(table["relation"], sort=False)
    return violated.agg(tries="size", violations="sum", rate="mean")


def of_reports(reports: Iterable[Report]) -> pd.DataFrame:
    """:func:`rates` on the findings of reports, restricted or not."""
    return rates([reveal(report.findings) for report in reports if len(report.findings)])
