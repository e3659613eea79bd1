"""Summaries made of the findings' own sentences: the first, the central, the best possible, or learned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import ModelError, check_at_least
from radeval_lib.models.summarizers.base import checked, rouge_l, sentences

Encode = Callable[[Sequence[str]], NDArray[np.floating[Any]]]
"""Texts to vectors, shape (number of texts, dimension): ``Encoder.encode``."""


def _by_text(split: Sequence[Sequence[str]], rows: NDArray[Any]) -> list[NDArray[Any]]:
    """Return what belongs to the sentences of each text, of one row per sentence."""
    if len(rows) != (wanted := sum(map(len, split))):
        raise ModelError(f"{len(rows)} vectors of {wanted} sentences", "encoder")
    return np.split(rows, np.cumsum([len(row) for row in split])[:-1]) if split else []


class LeadSentences:
    """The first ``count`` sentences of the findings; at least one."""

    def __init__(self, count: int = 3) -> None:
        check_at_least(1, "lead", ModelError, count=count)
        self.count = count
        self.name = f"Lead-{count}"

    def summarize(self, findings: Sequence[str]) -> list[str]:
        return [" ".join(sentences(text)[: self.count]) for text in checked(findings, self.name)]


class ClusterExtractor:
    """The sentence nearest the centre of each of ``count`` clusters of sentence vectors, in report order."""

    name = "Bert-Ext"

    def __init__(self, encode: Encode, *, count: int = 2, seed: int = 0) -> None:
        check_at_least(1, self.name, ModelError, count=count)
        self.encode, self.count, self.seed = encode, count, seed

    def summarize(self, findings: Sequence[str]) -> list[str]:
        split = [sentences(text) for text in checked(findings, self.name)]
        vectors = self.encode([one for row in split for one in row])
        return [
            " ".join(row[index] for index in self._central(own))
            for row, own in zip(split, _by_text(split, vectors), strict=True)
        ]

    def _central(self, vectors: NDArray[np.floating[Any]]) -> list[int]:
        """Return positions of the sentences nearest to the centres; of no more vectors than clusters, all."""
        from sklearn.cluster import KMeans

        distinct = len(np.unique(vectors.round(5), axis=0))
        if len(vectors) <= self.count or distinct <= self.count:
            return sorted(np.unique(vectors.round(5), axis=0, return_index=True)[1].tolist())
        found = KMeans(self.count, n_init=4, random_state=self.seed).fit(vectors.astype(np.float64))
        distances = np.linalg.norm(vectors[:, None] - found.cluster_centers_[None], axis=2)
        return sorted({int(index) for index in distances.argmin(axis=0)})


def oracle_sentences(findings: str, impression: str, most: int = 4) -> list[int]:
    """Return positions of the sentences whose extract has the highest ROUGE-L against the impression, found
    greedily.

    Each step adds the sentence that raises ROUGE-L most and stops where none does (Nallapati et al. 2017,
    section 2.2). At least one sentence is chosen.
    """
    split = sentences(findings)
    chosen: list[int] = []
    best = -1.0
    while len(chosen) < most:
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


def oracle(findings: Sequence[str], impressions: Sequence[str]) -> list[str]:
    """Return the best extract of each text by :func:`oracle_sentences`: a bound for extraction, for it reads
    the answer. A :class:`ModelError` where there are not as many impressions as texts."""
    if len(findings) != len(impressions):
        raise ModelError(f"{len(findings)} findings and {len(impressions)} impressions", "oracle")
    return [
        " ".join(sentences(text)[index] for index in oracle_sentences(text, impression))
        for text, impression in zip(checked(findings, "oracle"), impressions, strict=True)
    ]


# Of the probability of a sentence, what is tried on dev.
_THRESHOLDS = np.round(np.arange(0.15, 0.8, 0.05), 2)


class SentenceSelector:
    """Keeps the sentences whose probability reaches a threshold: at least one, at most ``most``.

    A sentence is described by its vector, its similarity to the mean vector of the report, its place from
    either end, and its length.
    """

    name = "Sentence selector"

    def __init__(self, encode: Encode, *, most: int = 4) -> None:
        check_at_least(1, self.name, ModelError, most=most)
        self.encode, self.most = encode, most
        self.coefficients: NDArray[np.float32] = np.zeros(0, dtype=np.float32)
        self.intercept, self.threshold = 0.0, 0.5

    def fit(self, pairs: Sequence[ReportPair], dev: Sequence[ReportPair]) -> SentenceSelector:
        """Learn from the greedy extracts of ``pairs``; ``dev`` chooses the threshold, by mean ROUGE-L.

        Raises
        ------
        ModelError
            If either has no pair or a pair without findings, or there is nothing to tell sentences apart by.
        """
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler

        if not pairs or not dev:
            raise ModelError("no pairs to learn from" if not pairs else "no dev pairs", self.name)
        split, features = self._described(checked([reveal(one.findings) for one in pairs], self.name))
        labels = []
        for pair, row in zip(pairs, split, strict=True):
            kept = set(oracle_sentences(reveal(pair.findings), reveal(pair.impression), self.most))
            labels += [index in kept for index in range(len(row))]
        if len(set(labels)) < 2:
            raise ModelError("every sentence is kept, or none", self.name, "Give reports of more sentences.")
        scaler = StandardScaler().fit(features)
        fitted = LogisticRegression(max_iter=500, class_weight="balanced")
        fitted.fit(scaler.transform(features), labels)
        weights = fitted.coef_[0] / scaler.scale_
        self.coefficients = weights.astype(np.float32)
        self.intercept = float(fitted.intercept_[0] - (weights * scaler.mean_).sum())
        self.threshold = self._best_threshold(dev)
        return self

    def summarize(self, findings: Sequence[str]) -> list[str]:
        texts = checked(findings, self.name)
        return self._summaries(*self._probabilities(texts), self.threshold)

    def _described(self, texts: Sequence[str]) -> tuple[list[list[str]], NDArray[np.float64]]:
        """Return the sentences of each text, and the features of all sentences, shape (sentences,
        features)."""
        split = [sentences(text) for text in texts]
        vectors = np.asarray(self.encode([one for row in split for one in row]), dtype=np.float64)
        rows = []
        for row, own in zip(split, _by_text(split, vectors), strict=True):
            mean, place = own.mean(axis=0), np.arange(len(row))
            norms = np.linalg.norm(own, axis=1) * np.linalg.norm(mean)
            likeness = own @ mean / np.maximum(norms, 1e-9)
            lengths = np.log1p([len(one.split()) for one in row]), np.full(len(row), np.log1p(len(row)))
            places = place / len(row), place == 0, place == len(row) - 1
            rows.append(np.column_stack([own, likeness, *places, *lengths]))
        return split, np.concatenate(rows) if rows else np.zeros((0, 0))

    def _probabilities(self, texts: Sequence[str]) -> tuple[list[list[str]], list[NDArray[np.float64]]]:
        """Return the sentences of each text, and how likely each is to be kept."""
        if not self.coefficients.size:
            raise ModelError("it has learned nothing yet", self.name, "Call fit.")
        split, features = self._described(texts)
        logits: Any = features @ self.coefficients.astype(np.float64) + self.intercept if split else []
        return split, _by_text(split, 1 / (1 + np.exp(-np.asarray(logits))))

    def _summaries(
        self, split: list[list[str]], shares: list[NDArray[np.float64]], threshold: float
    ) -> list[str]:
        result = []
        for row, values in zip(split, shares, strict=True):
            ranked = sorted(range(len(row)), key=lambda index: (-values[index], index))
            kept = [index for index in ranked[: self.most] if values[index] >= threshold] or ranked[:1]
            result.append(" ".join(row[index] for index in sorted(kept)))
        return result

    def _best_threshold(self, dev: Sequence[ReportPair]) -> float:
        """Return the threshold with the highest mean ROUGE-L on dev, the lowest of equals."""
        split, shares = self._probabilities(checked([reveal(one.findings) for one in dev], self.name))
        impressions = [reveal(pair.impression) for pair in dev]
        written = (self._summaries(split, shares, threshold) for threshold in _THRESHOLDS)
        means = [float(rouge_l(impressions, summaries).mean()) for summaries in written]
        return float(_THRESHOLDS[int(np.argmax(means))])
