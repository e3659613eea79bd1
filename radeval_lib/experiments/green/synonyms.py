"""Whether an encoder knows two names of one finding from the names of two findings, and what that would add
to the judge by rules, whose default asks none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from sklearn.metrics import roc_auc_score

from radeval_lib.experiments.green.summary import Encode
from radeval_lib.metrics.ratescore.scoring import unit
from radeval_lib.models.judges.rules import Judgement
from radeval_lib.models.judges.rules.alignment import SYNONYM
from radeval_lib.models.judges.rules.items import name, names_of
from radeval_lib.synthetic.vocabulary import load_lexicon
from radeval_lib.wording import in_words, percent, with_interval

MISTAKEN = 0.001
"""The share of the pairs of different findings that a threshold may take for synonyms."""


class EncodedNames:
    """Says whether two observations are the same in other words.

    Parameters
    ----------
    encode : an encoder's ``encode``.
    threshold : the cosine of both names from which on they are taken for synonyms.
    """

    def __init__(self, encode: Encode, threshold: float) -> None:
        self.threshold = threshold
        self._vector = lru_cache(maxsize=None)(lambda text: unit(encode([text]))[0])

    def likeness(self, one: str, other: str) -> float:
        """The cosine of two names."""
        return float(self._vector(one) @ self._vector(other))

    def __call__(self, one: str, other: str) -> bool:
        """Whether two observations (keys of the lexicon) are synonyms."""
        return self.likeness(name(one), name(other)) >= self.threshold


@dataclass(frozen=True)
class Recognition:
    """How well cosines tell synonyms.

    ``threshold`` is the cosine that the share :data:`MISTAKEN` of the pairs of different concepts reaches,
    ``recognised`` the share of the ``synonyms``, pairs of names of one concept, that reach it too; ``area``
    is the area under the ROC curve.
    """

    threshold: float
    recognised: float
    synonyms: int
    area: float


def recognise(encode: Encode) -> Recognition:
    """Measure an encoder on all pairs of names in the lexicon; no report is read.

    Concepts of several regions with one first name, as effusions of joints, are one finding here; names that
    several findings share tell nothing and are left out.
    """
    findings: dict[str, set[str]] = {}
    for concept in load_lexicon().concepts.values():
        for text in names_of(concept):
            findings.setdefault(text, set()).add(names_of(concept)[0])
    named = [(next(iter(of)), text) for text, of in findings.items() if len(of) == 1]
    vectors = unit(encode([text for _, text in named]))
    above = np.triu_indices(len(named), 1)
    cosines = (vectors @ vectors.T)[above]
    keys = np.array([key for key, _ in named])
    same = keys[above[0]] == keys[above[1]]
    threshold = float(np.quantile(cosines[~same], 1 - MISTAKEN))
    return Recognition(
        threshold,
        float((cosines[same] >= threshold).mean()),
        int(same.sum()),
        float(roc_auc_score(same, cosines)),
    )


def links_by_encoder(judgements: Sequence[Judgement]) -> int:
    """Pairs of findings that only the encoder relates."""
    return sum(how == SYNONYM for one in judgements for _, _, how in one.links)


def synonym_words(known: Recognition, gained: tuple[float, float, float], links: int) -> str:
    """What an encoder would add to the judge's lists.

    Parameters
    ----------
    gained : see :func:`~radeval_lib.experiments.green.planted.gain`.
    links : see :func:`links_by_encoder`.
    """
    value, low, high = gained
    reading = (
        f"Of {known.synonyms:,} pairs of names that the lexicon gives one finding, the encoder recognises "
        f"{percent(known.recognised)} at the cosine of {known.threshold:.2f} (area under the ROC curve "
        f"{known.area:.2f})."
    )
    if not links:
        return (
            f"{reading} On the planted errors it relates no two findings that the lists do not relate, so it "
            "adds nothing there. The judge works without it."
        )
    change = with_interval(value, low, high, "+.3f")
    verdict = "makes it better" if low > 0 else "makes it worse" if high < 0 else "makes no clear difference"
    pairs = "one pair" if links == 1 else f"{in_words(links)} pairs"
    return (
        f"{reading} On the planted errors it relates {pairs} of findings that the lists do not relate, which "
        f"{verdict} (micro-F1 {change}). The judge works without it."
    )
