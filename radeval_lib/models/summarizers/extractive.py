"""Summaries made of the findings' own sentences: the first ones, the central ones, and the best possible
ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radeval_lib.models.loading import ModelError
from radeval_lib.models.summarizers.base import checked, rouge_l, sentences

Encode = Callable[[Sequence[str]], NDArray[np.floating[Any]]]
"""Texts to vectors, shape (number of texts, dimension): ``Encoder.encode``."""


def _positive(value: int, name: str) -> int:
    if value < 1:
        raise ModelError(f"{value} sentences", name, "Ask for at least one.")
    return value


class Lead:
    """The first sentences of the findings.

    Parameters
    ----------
    count : how many.
    """

    def __init__(self, count: int = 3) -> None:
        self.count = _positive(count, "lead")
        self.name = f"Lead-{count}"

    def summarize(self, findings: Sequence[str]) -> list[str]:
        return [" ".join(sentences(text)[: self.count]) for text in checked(findings, self.name)]


class ClusterExtractor:
    """The sentence nearest the centre of each of ``count`` clusters of sentence vectors, in report order."""

    name = "Bert-Ext"

    def __init__(self, encode: Encode, *, count: int = 2, seed: int = 0) -> None:
        self.encode, self.count, self.seed = encode, _positive(count, "Bert-Ext"), seed

    def summarize(self, findings: Sequence[str]) -> list[str]:
        split = [sentences(text) for text in checked(findings, self.name)]
        vectors = self.encode([one for row in split for one in row])
        ends = np.cumsum([len(row) for row in split])
        return [
            " ".join(row[index] for index in self._central(vectors[end - len(row) : end]))
            for row, end in zip(split, ends, strict=True)
        ]

    def _central(self, vectors: NDArray[np.floating[Any]]) -> list[int]:
        from sklearn.cluster import KMeans

        distinct = len(np.unique(vectors.round(5), axis=0))
        if len(vectors) <= self.count or distinct <= self.count:
            first = {vector.round(5).tobytes(): index for index, vector in reversed(list(enumerate(vectors)))}
            return sorted(first.values())
        found = KMeans(self.count, n_init=4, random_state=self.seed).fit(vectors.astype(np.float64))
        distances = np.linalg.norm(vectors[:, None] - found.cluster_centers_[None], axis=2)
        return sorted({int(index) for index in distances.argmin(axis=0)})


def oracle_sentences(findings: str, impression: str, most: int = 4) -> list[int]:
    """Positions of the sentences whose extract has the highest ROUGE-L against the impression, found
    greedily.

    Each step adds the sentence that raises ROUGE-L most and stops where none does (Nallapati et al. 2017,
    section 2.2). At least one sentence is chosen.
    """
    split = sentences(findings)
    chosen: list[int] = []
    best = -1.0
    while len(chosen) < _positive(most, "oracle"):
        left = [index for index in range(len(split)) if index not in chosen]
        extracts = [" ".join(split[index] for index in sorted([*chosen, one])) for one in left]
        if not extracts:
            break
        scores = rouge_l([impression] * len(extracts), extracts)
        top = int(scores.argmax())
        if scores[top] <= best:
            break
        best = float(scores[top])
        chosen.append(left[top])
    return sorted(chosen)


def oracle(findings: Sequence[str], impressions: Sequence[str], most: int = 4) -> list[str]:
    """The best extract of each text by :func:`oracle_sentences`: a bound for extraction, for it reads the
    answer."""
    result = []
    for text, impression in zip(checked(findings, "oracle"), impressions, strict=True):
        split = sentences(text)
        result.append(" ".join(split[index] for index in oracle_sentences(text, impression, most)))
    return result
