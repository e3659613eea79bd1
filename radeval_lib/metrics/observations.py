"""Fourteen chest observations by rules, in the manner of the CheXpert labeler (Irvin et al. 2019), and
their agreement.

It stands where CheXbert (Smit et al. 2020) stands in the papers, until that model's weights fill the role:
the same fourteen labels in four classes, found by expressions and cues (``observations.yml``) and not by a
trained model, so its values are not CheXbert's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from radeval_lib import own_yaml
from radeval_lib.metrics.base import Metric, MetricError, register
from radeval_lib.metrics.reasons import Reason
from radeval_lib.metrics.signature import FRONT_DOOR
from radeval_lib.rules.reader.changes import denied_changes
from radeval_lib.rules.report_text import findings, tokens
from radeval_lib.stats.tokens import one_line

POSITIVE, NEGATIVE, UNCERTAIN = 1, 0, -1
_PROBABLE = 2  # a doubt that people code as present; UNCERTAIN to all others
NO_FINDING = "No Finding"
FIVE = ("Cardiomegaly", "Edema", "Consolidation", "Atelectasis", "Pleural Effusion")
"""The five observations that are most often reported apart."""

_RULES = Path(__file__).with_name("observations.yml")
# What follows a heading: "pneumothorax: none", "effusion: not seen, ...".
_NONE = re.compile(r"\s*:\s*(?:none|no|nil|negative|absent|not seen)\s*(?:$|,)")
_STRENGTH = {None: 0, NEGATIVE: 1, UNCERTAIN: 2, _PROBABLE: 3, POSITIVE: 4}


class _Rules(NamedTuple):
    mentions: dict[str, re.Pattern[str]]
    normal: dict[str, re.Pattern[str]]
    codes: dict[str, re.Pattern[str]]
    cues: dict[str, re.Pattern[str]]


def _either(expressions: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in expressions))


@lru_cache(maxsize=1)
def _rules() -> _Rules:
    raw = own_yaml.read(_RULES)
    kinds, coded_as = raw.pop("observations"), raw.pop("codes")
    mentions = {name: _either(kind["mentions"]) for name, kind in kinds.items()}
    return _Rules(
        mentions,
        {name: _either(kind["normal"]) for name, kind in kinds.items() if kind.get("normal")},
        {name: mentions[own] if isinstance(own, str) else _either(own) for name, own in coded_as.items()},
        {key: _either(rf"\b(?:{one})\b" for one in words) for key, words in raw.items()},
    )


@lru_cache(maxsize=1)
def observations() -> tuple[str, ...]:
    """The fourteen names, in the labeler's order."""
    return (*_rules().mentions, NO_FINDING)


def label(text: str) -> dict[str, int | None]:
    """What a report says of each observation: 1 positive, 0 negative, -1 uncertain, None not mentioned.

    The strongest mention counts (positive, then uncertain, then negative). No Finding is 1 where no other
    observation but Support Devices is positive or uncertain, else None; an empty text has none.
    """
    rules = _rules()
    found: dict[str, int | None] = dict.fromkeys(observations())
    for name, value in _strongest(text, rules.mentions, rules.normal).items():
        found[name] = UNCERTAIN if value == _PROBABLE else value
    others = (value for name, value in found.items() if name not in (NO_FINDING, "Support Devices"))
    if text.strip() and not any(value in (POSITIVE, UNCERTAIN) for value in others):
        found[NO_FINDING] = POSITIVE
    return found


def codes() -> tuple[str, ...]:
    """Open-i's codes that :func:`coded` reads, by the names of the ``openi_labels`` data set."""
    return tuple(_rules().codes)


def coded(text: str) -> frozenset[str]:
    """The findings of :func:`codes` that a report states as people code them: what is positive, probable or
    one of two, but not what is merely possible."""
    found = _strongest(text, _rules().codes, {})
    return frozenset(name for name, value in found.items() if value in (POSITIVE, _PROBABLE))


def _strongest(
    text: str, mentions: Mapping[str, re.Pattern[str]], normal: Mapping[str, re.Pattern[str]]
) -> dict[str, int]:
    """For each finding that a report mentions, the strongest value with which it does."""
    found: dict[str, int] = {}
    for statement in findings(text):
        sentence = _without_denied_changes(one_line(statement.text).lower(), mentions.values())
        for name, pattern in mentions.items():
            values = [_value_of(match, _rules().cues) for match in pattern.finditer(sentence)]
            if not values and name in normal and normal[name].search(sentence):
                values = [NEGATIVE]
            for value in values:
                if _STRENGTH[value] > _STRENGTH[found.get(name)]:
                    found[name] = value
    return found


def _without_denied_changes(sentence: str, mentions: Iterable[re.Pattern[str]]) -> str:
    """A sentence in which only findings are denied: blanks where a change is ("no worsening of edema")."""
    words = tokens(sentence)
    spans = [match.span() for pattern in mentions for match in pattern.finditer(sentence)]
    named = [any(start <= word.start < end for start, end in spans) for word in words]
    for change in denied_changes(words, named):
        start, end = words[change.first].start, words[change.end - 1].end
        sentence = sentence[:start] + " " * (end - start) + sentence[end:]
    return sentence


def _value_of(mention: re.Match[str], cues: Mapping[str, re.Pattern[str]]) -> int:
    """What the sentence of a mention says of it: positive, probable, uncertain or negative."""
    upto, after = _reach(mention, cues["stops"])
    if cues["uncertain_after"].search(after):
        return UNCERTAIN
    doubts = [*cues["uncertain_before"].finditer(upto), *cues["probable"].finditer(upto)]
    # "cannot exclude" and "not excluded" doubt and deny nothing.
    denials = [one for one in cues["negation_before"].finditer(upto) if not _within(one, doubts)]
    denied = bool(denials) or cues["negation_after"].search(after) is not None or bool(_NONE.match(after))
    # "no features to suggest edema" denies, and so does "possible effusion without edema".
    last = max((one.start() for one in denials), default=0)
    doubts = [one for one in doubts if one.start() >= last and not _within(one, denials)]
    # "no edema or effusion": the "or" joins two denied things and doubts neither.
    words = {one.group() for one in doubts} - ({"or", "vs", "versus"} if denied else set())
    if words:
        return _PROBABLE if all(cues["probable"].fullmatch(word) for word in words) else UNCERTAIN
    return NEGATIVE if denied else POSITIVE


def _reach(mention: re.Match[str], stops: re.Pattern[str]) -> tuple[str, str]:
    """Where cues count: before a mention and in it ("heart size is not enlarged"), from the last word that
    stops them, or from the doubt in that word; and behind it to the next one."""
    sentence, (begin, end) = mention.string, mention.span()
    start = 0
    for stop in stops.finditer(sentence[:begin]):
        start = stop.start("doubt") if stop["doubt"] else stop.end()
    following = stops.search(sentence[end:])
    return sentence[start:end], sentence[end : end + following.start() if following else None]


def _within(one: re.Match[str], others: Iterable[re.Match[str]]) -> bool:
    return any(other.start() <= one.start() and one.end() <= other.end() for other in others)


def positive(labels: Mapping[str, int | None]) -> frozenset[str]:
    """The observations that count as present: positive and uncertain ones, as F1-CheXbert counts."""
    return frozenset(name for name, value in labels.items() if value in (POSITIVE, UNCERTAIN))


@register
class ObservationF1(Metric):
    """F1 of the observations that two reports state as present; 1 where neither states any.

    It fits reports of the chest alone.

    Parameters
    ----------
    labels : ``14``, or ``5`` for Cardiomegaly, Edema, Consolidation, Atelectasis and Pleural Effusion.
    """

    name = "observations"
    title = "observations by rules"
    citation = "smit2020chexbert"
    variant = "f1"
    by_rules = True
    reads_lines = True
    normalises = FRONT_DOOR

    labels: int = 14

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.labels not in (5, 14):
            raise MetricError(f"labels must be 14 or 5, not {self.labels}", "observations")
        self._kept = frozenset(observations() if self.labels == 14 else FIVE)

    def cautions(self, reference: str, candidate: str, detail: Any) -> Iterable[str]:
        for text in (detail["reference"], detail["candidate"]):
            if all(value is None for name, value in text.items() if name != NO_FINDING):
                yield "a text mentions none of the observations; the rules fit chest reports alone"

    def _reasons(self, reference: str, candidate: str, detail: Any) -> Iterable[Reason]:
        ours, theirs = (positive(detail[side]) & self._kept for side in ("reference", "candidate"))
        for name in sorted(ours | theirs):
            if name in ours & theirs:
                yield Reason("matched", "observation", name)
            else:
                alone = "reference" if name in ours else "candidate"
                yield Reason("unmatched", "observation", name, f"the {alone} alone states it")

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterable[tuple[float, Any]]:
        known = {text: label(text) for text in {text for pair in pairs for text in pair}}
        for reference, candidate in pairs:
            ours, theirs = (positive(known[text]) & self._kept for text in (reference, candidate))
            total = len(ours) + len(theirs)
            value = 2 * len(ours & theirs) / total if total else 1.0
            yield value, {"reference": known[reference], "candidate": known[candidate]}
