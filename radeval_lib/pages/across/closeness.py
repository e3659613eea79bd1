"""How close generated chest X-ray findings come to Open-i's: words, lengths, negations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from radeval_lib.synthetic.generator import Pair, generate

CHEST: Pair = ("X-Ray", "CHEST")

_WORD = re.compile(r"[a-z]+")
_MASK = re.compile(r"x{2,}")  # de-identification in Open-i
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_NEGATION = re.compile(
    r"\b(no|not|without|negative for|free of|absence of|neither|absent|ruled out)\b", re.IGNORECASE
)
_PERCENTILES = (5, 25, 50, 75, 95)


@dataclass(frozen=True)
class TextProfile:
    """Percentiles 5, 25, 50, 75 and 95 of lengths, by what is counted, and the share of sentences with a word
    of negation."""

    lengths: dict[str, list[float]]
    negated: float


@dataclass(frozen=True)
class Closeness:
    """What :func:`measure` found.

    ``coverage``: share of Open-i's findings tokens (lower-case alphabetic words, de-identification marks
    left out) that the generator's vocabulary has; ``type_coverage``: the same for distinct words;
    ``missing``: the words that it lacks, the commonest first; ``long_copies``: different generated sentences
    of more than eight words that stand in Open-i word for word (stock phrases that arise by composition).
    """

    coverage: float
    type_coverage: float
    missing: list[str]
    long_copies: int
    real: TextProfile
    generated: TextProfile


def words(text: str) -> list[str]:
    """Lower-case alphabetic words, without marks of de-identification."""
    return [word for word in _WORD.findall(text.lower()) if not _MASK.fullmatch(word)]


def sentences(text: str) -> list[str]:
    """Sentences that hold a word."""
    return [part for part in _SENTENCE.split(text) if words(part)]


def profile(texts: Sequence[str]) -> TextProfile:
    """Lengths and negations of texts, by the rules of this module."""
    reports = [sentences(text) for text in texts]
    parts = [part for report in reports for part in report]
    counted = {
        "words a sentence": [len(words(part)) for part in parts],
        "words a report": [len(words(text)) for text in texts],
        "sentences a report": [len(report) for report in reports],
    }
    return TextProfile(
        {title: np.percentile(values, _PERCENTILES).tolist() for title, values in counted.items()},
        sum(bool(_NEGATION.search(part)) for part in parts) / len(parts),
    )


def measure(real: Sequence[str], n: int, seed: int = 0) -> Closeness:
    """Compare ``n`` generated findings sections with ``real`` ones.

    The vocabulary comes from both styles; the lengths and negations from the hospital style, the one that
    imitates such reports.
    """
    made = [(one.style, one.findings.text) for one in generate(n, seed, modality_anatomy=CHEST)]
    vocabulary = {word for _, text in made for word in words(text)}
    counts = Counter(word for text in real for word in words(text))
    known = [word for word in counts if word in vocabulary]
    said, written = (
        {tuple(words(part)) for text in texts for part in sentences(text)}
        for texts in ([text for _, text in made], real)
    )
    return Closeness(
        coverage=sum(counts[word] for word in known) / counts.total(),
        type_coverage=len(known) / len(counts),
        missing=[word for word, _ in counts.most_common() if word not in vocabulary],
        long_copies=sum(len(sentence) > 8 for sentence in said & written),
        real=profile(real),
        generated=profile([text for style, text in made if style == "hospital"]),
    )
