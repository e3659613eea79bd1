"""Metamorphic relations of the rules judge: what must hold whatever a report says, and how often it does not.

No label is needed: a report is changed in a way whose effect on the judgement is known beforehand. The first
relations change nothing that it says (:data:`FORMS`); the others change one finding that stands alone in its
sentence, or swap reference and candidate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import pandas as pd

from notebooks.ratescore.where_it_fails import WRAPPED, split_sentences
from radeval_lib.categories import LETTERS
from radeval_lib.rules.judge import Judgement, judge_pair
from radeval_lib.rules.judge.alignment import find_relation
from radeval_lib.rules.judge.items import read_content
from radeval_lib.rules.reader import read
from radeval_lib.rules.reader.records import IGNORED
from radeval_lib.rules.reader.vocabulary import load_vocabulary
from radeval_lib.rules.report_text import MASK, tokenize

#: What each error, a to f, becomes where reference and candidate change places: a false finding (a) is then
#: missing (b), a comparison that is made up (e) is omitted (f).
_MIRRORED = "bacdfe"
_NAMED_SIDES = re.compile(  # "right middle lobe", "left ventricle", "both": no other side has the like
    r"(?i)middle lobe|lingula|both|\bbi(?:lateral|basilar|basal|apical)|atri|ventric|arch|circumflex|quadrant"
    r"|silhouette"
)
_NORMAL = (
    "The lungs are clear. Heart size is normal. No pneumothorax or pleural effusion. The bones are intact."
)
_HISTORY = "HISTORY: Fever. Large left pleural effusion and pneumothorax a week ago. FINDINGS: "


def _closed(text: str) -> str:
    """Return a report whose last sentence has a full stop too."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _lines(text: str, between: str, *, stops: bool = True, before: str = "") -> str:
    """Return the sentences of a report, with full stops or without."""
    parts = split_sentences(_closed(text))
    return before + between.join(parts if stops else [part.rstrip(".") for part in parts])


def _numbered(text: str, between: str) -> str:
    return between.join(f"{number}. {part}" for number, part in enumerate(split_sentences(_closed(text)), 1))


#: Layouts that change the marks between sentences too.
MARKED: dict[str, Callable[[str], str]] = {
    "a sentence a line, no full stops": lambda text: _lines(text, "\n", stops=False),
    "line ends of Windows": lambda text: _lines(text, "\r\n", stops=False),
    "line ends typed": lambda text: _lines(text, r"\n"),
    "line ends as tags": lambda text: _lines(text, "<br>"),
    "empty lines": lambda text: _lines(text, "\n\n"),
    "stars in one line": lambda text: _lines(text, " * ", stops=False, before="* "),
    "dashes in one line": lambda text: _lines(text, " - ", stops=False, before="- "),
    "numbered list, a line each": lambda text: _numbered(text, "\n"),
    "numbered list in one line": lambda text: _numbered(text, " "),
}
#: Forms that change nothing of what a report says of this study.
FORMS = {
    "letter case: upper": str.upper,
    "letter case: lower": str.lower,
    **{name: WRAPPED[name] for name in ("wrapped at 60 columns", "wrapped at 80 columns")},
    "one sentence per line": lambda text: WRAPPED["one sentence per line"](_closed(text)),
    **MARKED,
    "a history in front": lambda text: _HISTORY + text,
    "order of sentences": lambda text: " ".join(reversed(split_sentences(_closed(text)))),
    "repeated sentences": lambda text: " ".join(2 * split_sentences(_closed(text))),
}
IDENTITY, SWAPPED, NORMAL = "identity", "reports swapped", "normal statements added"
DELETED, DENIED = "one finding deleted", "one finding denied"
MOVED, GROWN = "one finding on the other side", "one measurement tripled"


def _counts(judgement: Judgement) -> tuple[object, ...]:
    """Return what a judgement comes to, whatever its words."""
    return (
        judgement.count(True),
        judgement.count(False),
        judgement.matched_findings,
        round(judgement.weighted_errors, 9),
    )


def _beside(text: str, other: str) -> tuple[object, object]:
    """Return what a report comes to as reference and as candidate of another."""
    return _counts(judge_pair(text, other)), _counts(judge_pair(other, text))


def _same(text: str, form: str) -> bool:
    """Return whether a report in another form has no error beside itself."""
    return not judge_pair(text, form).weighted_errors and not judge_pair(form, text).weighted_errors


def _mirrored(text: str, other: str) -> bool:
    """Return whether swapped reports have each other's false for missing findings, and all else alike."""
    there, back = judge_pair(text, other), judge_pair(other, text)
    mirror = [LETTERS.index(letter) for letter in _MIRRORED]
    return there.matched_findings == back.matched_findings and all(
        there.count(grade) == tuple(back.count(grade)[position] for position in mirror)
        for grade in (True, False)
    )


def _only(judgement: Judgement, category: str) -> bool:
    """Return whether a judgement is one error of this category, and nothing else."""
    return [error.category for error in judgement.errors] == [category] and not judgement.slight


def lone_findings(text: str) -> Iterator[tuple[list[str], int]]:
    """Yield the sentences of a report, and the number of one with a finding whose change has a known effect.

    That finding is the only one that its sentence names; the sentence says nothing else of a structure (that
    it is normal, or enlarged), has no word of denial or doubt, none masked and no colon; and the others speak
    neither of it nor of a relative.
    """
    parts = split_sentences(_closed(text))
    for position, sentence in enumerate(parts):
        keys = _only_finding(sentence)
        if keys and not _is_related(keys, sentence, " ".join(_without(parts, position))):
            yield parts, position


def _only_finding(sentence: str) -> set[str]:
    """Return what the one finding of a sentence that says nothing else can be; empty for any other
    sentence."""
    settings, words = load_vocabulary(), [word.word for word in tokenize(sentence)]
    named = settings.observations.find(words)
    if len(named) != 1 or named[0].value[0].key in (IGNORED, "acute_disease"):
        return set()
    # "There is" ends the reach of a denial, and denies nothing itself.
    unclear = any(cue.value != "stops" or cue.first for cue in settings.forward_cues.find(words))
    unclear |= any(group.find(words) for group in (settings.backward_cues, settings.links))
    structures = {subject.key for item in settings.subjects.find(words) for subject in item.value}
    name = set(words[named[0].first : named[0].end])
    states = any(
        item.value in ("normal", "abnormal")
        or any((key, item.value) in settings.abnormal_states for key in structures)
        for item in settings.states.find(words)
        if words[item.first] not in name
    )
    if unclear or states or MASK in words or ":" in sentence:
        return set()
    return {sense.key for sense in named[0].value}


def _is_related(keys: set[str], sentence: str, rest: str) -> bool:
    """Return whether the rest of a report mentions a sentence's finding, one of ``keys``, or a relative of
    it."""
    settings = load_vocabulary()
    kin = {key for pair in (*settings.related, *settings.hyponyms) if keys & set(pair) for key in pair} | keys
    if kin & {finding.observation for finding in read(rest).findings}:
        return True
    return any(find_relation(a, b) for a in read_content(sentence).stated for b in read_content(rest).stated)


def _without(parts: list[str], position: int, *instead: str) -> list[str]:
    return [*parts[:position], *instead, *parts[position + 1 :]]


def denial(sentence: str) -> str | None:
    """Return a sentence turned into a denial; None where it is empty, points ("the"), is about change or what
    has been."""
    if load_vocabulary().changes.find([word.word for word in tokenize(sentence)]) or re.match(
        r"(?i)(?:the|this|these|and|there ha[sd]|there have)\b|\s*$", sentence
    ):
        return None
    match = re.match(r"(?i)there (?:is|are) (?:an? |some )?", sentence)
    if match:
        return f"There is no {sentence[match.end() :]}"
    bare = re.sub(r"(?i)^an? ", "", sentence)
    return f"No evidence of {bare[0].lower()}{bare[1:]}"


def other_side(sentence: str) -> str | None:
    """Return a sentence that says left or right once, with the other; None where that is part of a name."""
    sides = list(re.finditer(r"(?i)\b(?:left|right)\b", sentence))
    if len(sides) != 1 or _NAMED_SIDES.search(sentence):
        return None
    side = sides[0].group()
    other = "right" if side.lower() == "left" else "left"
    if side[0].isupper():
        other = other.upper() if side.isupper() else other.capitalize()
    return f"{sentence[: sides[0].start()]}{other}{sentence[sides[0].end() :]}"


def tripled(sentence: str) -> str | None:
    """Return a sentence with one measurement, three times as large; None for others, and for what is a
    distance."""
    sizes = re.findall(r"(?i)\b(\d+(?:\.\d+)?)[ -]?(?:mm|cm)\b", sentence)
    if len(sizes) != 1 or re.search(r"(?i)above|below|from|between|carina|tip|\bx\b|\bby\b|/", sentence):
        return None
    return re.sub(
        rf"\b{re.escape(sizes[0])}(?=[ -]?(?:mm|cm))", f"{3 * float(sizes[0]):g}", sentence, flags=re.I
    )


#: Changes of a sentence with a lone finding: the change, which gives None where it cannot be made, and the
#: one error that follows where the changed report is the candidate, and where it is the reference.
_CHANGES: dict[str, tuple[Callable[[str], str | None], str, str]] = {
    DELETED: (lambda sentence: "", "b", "a"),
    DENIED: (denial, "b", "a"),
    MOVED: (other_side, "c", "c"),
    GROWN: (tripled, "d", "d"),
}


def tries(texts: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield every relation tried on every text, and whether it held; where a relation needs another text, it
    is the next one."""
    for text, other in pairwise([*texts, *texts[:1]]):
        yield IDENTITY, not judge_pair(text, text).weighted_errors
        expected = _beside(text, other)
        for name, layout in FORMS.items():
            form = layout(text)
            yield name, _same(text, form) and _beside(form, other) == expected
        if not read_content(text).stated:
            more = f"{text} {_NORMAL}"
            yield NORMAL, not judge_pair(text, more).errors and not judge_pair(more, text).errors
        for parts, position in lone_findings(text):
            for name, (change, as_candidate, as_reference) in _CHANGES.items():
                if (changed := change(parts[position])) is not None:
                    new = " ".join(filter(None, _without(parts, position, changed)))
                    yield (
                        name,
                        _only(judge_pair(text, new), as_candidate)
                        and _only(judge_pair(new, text), as_reference),
                    )
        yield SWAPPED, _mirrored(text, other)


def violation_rates(texts: Sequence[str]) -> pd.DataFrame:
    """Return how often each relation was tried on texts and violated: ``tries``, ``violations``, ``rate``."""
    table = pd.DataFrame(tries(texts), columns=["relation", "held"])
    violated = (~table["held"]).groupby(table["relation"], sort=False)
    return violated.agg(tries="size", violations="sum", rate="mean")
