"""How close generated chest X-ray findings come to Open-i's: words, lengths, negations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from radeval_lib.lexicon.loading import load_lexicon
from radeval_lib.synthetic.generator import Pair, generate
from radeval_lib.synthetic.records import Denial, PlannedFinding, Style

CHEST: Pair = ("X-Ray", "CHEST")

_WORD = re.compile(r"[a-z]+")
_MASK = re.compile(r"x{2,}")  # de-identification in Open-i
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
#: Words of negation that stand before, and behind, what they deny.
_BEFORE = re.compile(r"\b(no|not|without|negative for|free of|absence of|neither)\b")
_BEHIND = re.compile(r"\b(absent|ruled out|(is|are) not)\b")
_PERCENTILES = (5, 25, 50, 75, 95)


@dataclass(frozen=True, slots=True)
class TextProfile:
    """Lengths and negations of a set of texts.

    ``sentence_words`` and ``report_words``: percentiles 5, 25, 50, 75 and 95 of the words per sentence and
    report; ``report_sentences``: of the sentences per report; ``negated_sentences``: share with a word of
    negation; ``negated_findings``: share of the mentions of findings that such a word denies.
    """

    sentence_words: tuple[float, ...]
    report_words: tuple[float, ...]
    report_sentences: tuple[float, ...]
    negated_sentences: float
    negated_findings: float


@dataclass(frozen=True, slots=True)
class Closeness:
    """What :func:`measure` found.

    ``coverage``: share of Open-i's findings tokens (lower-case alphabetic words, de-identification marks
    left out) that the generator's vocabulary has; ``type_coverage``: the same for distinct words;
    ``missing``: the commonest words that it lacks, with their counts; ``gold_negated``: share of the
    generator's mentioned findings that its gold denies; ``long_copies``: different generated sentences of
    more than eight words that stand in Open-i word for word (stock phrases that arise by composition).
    """

    coverage: float
    type_coverage: float
    real: TextProfile
    generated: TextProfile
    gold_negated: float
    long_copies: int
    missing: tuple[tuple[str, int], ...]


def words(text: str) -> list[str]:
    """Lower-case alphabetic words, without marks of de-identification."""
    return [word for word in _WORD.findall(text.lower()) if not _MASK.fullmatch(word)]


def sentences(text: str) -> list[str]:
    """Sentences that hold a word."""
    return [part for part in _SENTENCE.split(text) if words(part)]


@lru_cache(maxsize=1)
def finding_words() -> frozenset[str]:
    """The head words of the chest findings in the lexicon, singular and plural: what counts as a mention."""
    heads = set()
    for concept in load_lexicon().concepts.values():
        if concept.region == "chest" and not concept.device:
            phrases = [phrase for name in concept.names for phrase in (name.one, name.many)]
            phrases += [phrase for phrase, _ in concept.denied]
            heads |= {phrase.marks[phrase.head].tokens.lower() for phrase in phrases}
    return frozenset(heads)


def mentions(sentence: str) -> tuple[int, int]:
    """How many findings a sentence mentions, and how many of them it denies.

    A mention is a word of :func:`finding_words`; it is denied when a word of negation stands before it, or
    one such as "absent" behind it. The rule is crude, and the same for both sides.
    """
    text = sentence.lower()
    before, behind = _BEFORE.search(text), _BEHIND.search(text)
    found = denied = 0
    for match in _WORD.finditer(text):
        if match[0] in finding_words():
            found += 1
            denied += bool(
                (before and before.start() < match.start()) or (behind and behind.start() > match.start())
            )
    return found, denied


def profile(texts: Iterable[str]) -> TextProfile:
    """Lengths and negations of texts, by the rules of this module."""
    sentence_words: list[int] = []
    report_words: list[int] = []
    report_sentences: list[int] = []
    negated = mentioned = denied = 0
    for text in texts:
        parts = sentences(text)
        report_sentences.append(len(parts))
        report_words.append(len(words(text)))
        for part in parts:
            sentence_words.append(len(words(part)))
            negated += bool(_BEFORE.search(part.lower()) or _BEHIND.search(part.lower()))
            counts = mentions(part)
            mentioned, denied = mentioned + counts[0], denied + counts[1]
    return TextProfile(
        _percentiles(sentence_words),
        _percentiles(report_words),
        _percentiles(report_sentences),
        negated / len(sentence_words),
        denied / max(1, mentioned),
    )


def _percentiles(values: list[int]) -> tuple[float, ...]:
    return tuple(float(value) for value in np.percentile(values, _PERCENTILES))


def measure(
    real: Iterable[str],
    n: int = 20000,
    seed: int = 0,
    *,
    style: Style | None = None,
    modality_anatomy: Pair = CHEST,
) -> Closeness:
    """Compare ``n`` generated findings sections with ``real`` ones.

    The vocabulary comes from both styles (or the one given); the lengths and negations from the hospital
    style, the one that imitates such reports.
    """
    real = list(real)
    counts: Counter[str] = Counter()
    whole_sentences: set[tuple[str, ...]] = set()
    for text in real:
        counts.update(words(text))
        whole_sentences.update(tuple(words(part)) for part in sentences(text))
    vocabulary: set[str] = set()
    texts: list[str] = []
    copies: set[tuple[str, ...]] = set()
    denied = mentioned = 0
    for report in generate(n, seed, style=style, modality_anatomy=modality_anatomy):
        text = report.findings.text
        vocabulary.update(words(text))
        if report.style == (style or "hospital"):
            texts.append(text)
            contents = [statement.content for statement in report.plan]
            denied += sum(len(content.concepts) for content in contents if isinstance(content, Denial))
            mentioned += sum(isinstance(content, PlannedFinding) for content in contents)
        for part in sentences(text):
            said = tuple(words(part))
            if len(said) > 8 and said in whole_sentences:
                copies.add(said)
    total = sum(counts.values())
    return Closeness(
        sum(count for word, count in counts.items() if word in vocabulary) / total,
        sum(word in vocabulary for word in counts) / len(counts),
        profile(real),
        profile(texts),
        denied / max(1, denied + mentioned),
        len(copies),
        tuple((word, count) for word, count in counts.most_common() if word not in vocabulary)[:40],
    )
