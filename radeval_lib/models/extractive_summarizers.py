"""Summarizers: their protocol and measure, and those that extract sentences of the findings."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import ModelError
from radeval_lib.stats import tokens

# The end of a sentence: a sign, the quotes and brackets that it closes, and blanks.
_END = re.compile(r"([.!?;][\"')\]]*)\s+")
_EMPTY_LINE = re.compile(r"\n\s*\n")
# A piece that ends with the number of an item: "1." of "1. Clear lungs", "FINDINGS: 2."
_NUMBERED = re.compile(r"(^|\s)\d{1,2}[.)]$")
# A piece that ends with a number of its own: "ribs 7 and 8.", "grade 1."
_COUNTED = re.compile(r"(,|\b(and|or|to|through|ribs?|grade|levels?|segments?|stage|type))\s\d{1,2}\.$", re.I)
# A piece that ends with a full stop within a sentence: "seen by Dr."
_ABBREVIATED = re.compile(r"\b(dr|mr|mrs|ms|vs|no|approx|e\.g|i\.e)\.$", re.I)


class Summarizer(Protocol):
    """Writes the impression of each findings section."""

    def summarize(self, findings: Sequence[str]) -> list[str]:
        """Return one impression per text, in order. No text is empty; equal texts get equal impressions."""


def sentences(text: str) -> list[str]:
    """Return the sentences of a section in order, each on one line; at least one if the text is not empty.

    An empty line ends a sentence; a line break, a few abbreviations and the number of a list ("1.") do not.
    The word before a number shows whether it ends a sentence instead ("ribs 7 and 8.").
    """
    result: list[str] = []
    pieces = map(tokens.one_line, _EMPTY_LINE.split(_END.sub(r"\1\n\n", text)))
    for piece in filter(None, pieces):
        last = result[-1] if result else ""
        of_a_list = _NUMBERED.search(last) and not _COUNTED.search(last)
        if of_a_list or _ABBREVIATED.search(last):
            result[-1] = f"{last} {piece}"
        else:
            result.append(piece)
    return result


def rouge_l(references: Sequence[str], candidates: Sequence[str]) -> NDArray[np.float64]:
    """Return ROUGE-L F1 of each pair by ``rouge_score`` with stemming, shape (n,), as the metric
    ``rouge_l``."""
    tokenize = tokens.RougeTokenizer().tokenize
    pairs = zip(references, candidates, strict=True)
    return np.array([tokens.rouge_l(tokenize(ref), tokenize(cand)) for ref, cand in pairs], dtype=np.float64)


def mean_rouge_l(records: Sequence[ReportPair], written: Sequence[str]) -> dict[str, float]:
    """Return ``rouge_l``: the mean of :func:`rouge_l` over records and summaries; 0 if there are none."""
    values = rouge_l([reveal(record.impression) for record in records], written)
    return {"rouge_l": float(values.mean()) if len(values) else 0.0}


# "intra - abdominal", "and / or": signs within a word.
_INNER = re.compile(r"(?<=\w) ?([-/]) ?(?=\w)")
# "1 . 5": a decimal point.
_DECIMAL = re.compile(r"(?<=\d)\s*\.\s+(?=\d)")
# "clear .": signs that have no blank before them.
_BEFORE = re.compile(r"\s+([.,;:!?%)\]])")
# "( left": signs that have none behind.
_AFTER = re.compile(r"([(\[])\s+")
# The first letter of the text, and of what follows a full stop.
_START = re.compile(r"(^|[.!?]\s+)([a-z])")


def sentence_case(text: str) -> str:
    """Return lower-case words with spaced punctuation as sentences, capitalized and closed up.

    >>> sentence_case("no acute intra - abdominal process . 1 . 5 cm cyst .")
    'No acute intra-abdominal process. 1.5 cm cyst.'
    """
    joined = _DECIMAL.sub(".", _INNER.sub(r"\1", text))
    joined = _AFTER.sub(r"\1", _BEFORE.sub(r"\1", joined)).strip()
    return _START.sub(lambda match: match[1] + match[2].upper(), joined)


Encode = Callable[[Sequence[str]], NDArray[np.floating[Any]]]
"""Function of texts that returns their vectors, shape (texts, dimension), as ``Encoder.encode``."""


def _by_text(split: Sequence[Sequence[str]], rows: NDArray[Any]) -> list[NDArray[Any]]:
    """Split an array with one row per sentence into one part per text."""
    return np.split(rows, np.cumsum([len(row) for row in split])[:-1]) if split else []


class LeadSentences:
    """Extracts the first ``count`` sentences of the findings, 1 or more."""

    def __init__(self, count: int = 3) -> None:
        if count < 1:
            raise ModelError(f"count is {count}", "lead", "Give at least 1.")
        self.count = count
        self.name = f"Lead-{count}"

    def summarize(self, findings: Sequence[str]) -> list[str]:
        return [" ".join(sentences(text)[: self.count]) for text in findings]


class ClusterExtractor:
    """Extracts, in report order, the sentence nearest each centre of ``count`` clusters of sentence
    vectors."""

    name = "Bert-Ext"

    def __init__(self, encode: Encode, *, count: int = 2, seed: int = 0) -> None:
        self.encode, self.count, self.seed = encode, count, seed

    def summarize(self, findings: Sequence[str]) -> list[str]:
        split = [sentences(text) for text in findings]
        vectors = self.encode([sentence for row in split for sentence in row])
        return [
            " ".join(row[index] for index in sorted(self._central(of_text)))
            for row, of_text in zip(split, _by_text(split, vectors), strict=True)
        ]

    def _central(self, vectors: NDArray[np.floating[Any]]) -> set[int]:
        """Return positions of the sentences nearest to the centres; if there are no more distinct vectors
        than clusters, the first position of each."""
        from sklearn.cluster import KMeans

        first = np.unique(vectors.round(5), axis=0, return_index=True)[1]
        if len(first) <= self.count:
            return set(first.tolist())
        clusters = KMeans(self.count, n_init=4, random_state=self.seed).fit(vectors.astype(np.float64))
        distances = np.linalg.norm(vectors[:, None] - clusters.cluster_centers_[None], axis=2)
        return set(distances.argmin(axis=0).tolist())


def oracle_sentences(findings: str, impression: str, most: int = 4) -> list[int]:
    """Return the positions of the sentences, chosen greedily, with the highest ROUGE-L against the
    impression.

    Each step adds the sentence that raises ROUGE-L most and stops if none does (Nallapati et al. 2017,
    section 2.2). At least one sentence is chosen.
    """
    split = sentences(findings)
    chosen: list[int] = []
    best = -1.0
    while len(chosen) < most:
        left = [index for index in range(len(split)) if index not in chosen]
        extracts = [" ".join(split[index] for index in sorted([*chosen, added])) for added in left]
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
    """Return the best extract of each text by :func:`oracle_sentences`. It reads the answer, so it bounds
    extraction."""
    return [
        " ".join(sentences(text)[index] for index in oracle_sentences(text, impression))
        for text, impression in zip(findings, impressions, strict=True)
    ]


# Thresholds of a sentence's probability that are tried on dev.
_THRESHOLDS = np.round(np.arange(0.15, 0.8, 0.05), 2)


class SentenceSelector:
    """Keeps the sentences with at least a threshold's probability: one or more, at most ``most``.

    A sentence is described by its vector, its similarity to the mean vector of the report, its place from
    either end, and its length.
    """

    name = "Sentence selector"

    def __init__(self, encode: Encode, *, most: int = 4) -> None:
        self.encode, self.most = encode, most
        self.coefficients: NDArray[np.float32] = np.zeros(0, dtype=np.float32)
        self.intercept, self.threshold = 0.0, 0.5

    def fit(self, pairs: Sequence[ReportPair], dev: Sequence[ReportPair]) -> SentenceSelector:
        """Fit to the greedy extracts of ``pairs``; ``dev`` chooses the threshold by mean ROUGE-L.

        A :class:`ModelError` if either is empty.
        """
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler

        if not (pairs and dev):
            raise ModelError("no training or no dev reports", "selector", "Give some of both.")
        split, features = self._described([reveal(pair.findings) for pair in pairs])
        labels = []
        for pair, row in zip(pairs, split, strict=True):
            kept = set(oracle_sentences(reveal(pair.findings), reveal(pair.impression), self.most))
            labels += [index in kept for index in range(len(row))]
        scaler = StandardScaler().fit(features)
        fitted = LogisticRegression(max_iter=500, class_weight="balanced")
        fitted.fit(scaler.transform(features), labels)
        weights = fitted.coef_[0] / scaler.scale_
        self.coefficients = weights.astype(np.float32)
        self.intercept = float(fitted.intercept_[0] - (weights * scaler.mean_).sum())
        split, shares = self._probabilities([reveal(pair.findings) for pair in dev])
        impressions = [reveal(pair.impression) for pair in dev]
        written = (self._summaries(split, shares, threshold) for threshold in _THRESHOLDS)
        means = [float(rouge_l(impressions, summaries).mean()) for summaries in written]
        self.threshold = float(_THRESHOLDS[int(np.argmax(means))])  # the lowest of equals
        return self

    def summarize(self, findings: Sequence[str]) -> list[str]:
        return self._summaries(*self._probabilities(findings), self.threshold)

    def _described(self, texts: Sequence[str]) -> tuple[list[list[str]], NDArray[np.float64]]:
        """Return the sentences of each text, and the features of all sentences, shape (sentences,
        features)."""
        split = [sentences(text) for text in texts]
        vectors = np.asarray(self.encode([sentence for row in split for sentence in row]), dtype=np.float64)
        rows = []
        for row, of_text in zip(split, _by_text(split, vectors), strict=True):
            mean, number = of_text.mean(axis=0), np.arange(len(row))
            norms = np.linalg.norm(of_text, axis=1) * np.linalg.norm(mean)
            likeness = of_text @ mean / np.maximum(norms, 1e-9)
            word_counts = [len(sentence.split()) for sentence in row]
            lengths = np.log1p(word_counts), np.full(len(row), np.log1p(len(row)))
            positions = number / len(row), number == 0, number == len(row) - 1
            rows.append(np.column_stack([of_text, likeness, *positions, *lengths]))
        return split, np.concatenate(rows) if rows else np.zeros((0, 0))

    def _probabilities(self, texts: Sequence[str]) -> tuple[list[list[str]], list[NDArray[np.float64]]]:
        """Return the sentences of each text, and how likely each is to be kept."""
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
