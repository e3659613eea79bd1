"""Summarize findings by extracting sentences; define the protocol and the measure of all summarizers."""

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

# The end of a sentence: a punctuation mark, closing quotes and brackets, and white space.
_SENTENCE_END = re.compile(r"([.!?;][\"')\]]*)\s+")
_EMPTY_LINE = re.compile(r"\n\s*\n")
# A piece of text that ends with the number of a list item: "1." of "1. Clear lungs", "FINDINGS: 2."
_ENDS_IN_ITEM_NUMBER = re.compile(r"(^|\s)\d{1,2}[.)]$")
# A piece of text that ends with a number of its own sentence: "ribs 7 and 8.", "grade 1."
_ENDS_IN_OWN_NUMBER = re.compile(
    r"(,|\b(and|or|to|through|ribs?|grade|levels?|segments?|stage|type))\s\d{1,2}\.$", re.I
)
# A piece of text that ends with an abbreviation, so its full stop does not end a sentence: "seen by Dr."
_ENDS_IN_ABBREVIATION = re.compile(r"\b(dr|mr|mrs|ms|vs|no|approx|e\.g|i\.e)\.$", re.I)


class Summarizer(Protocol):
    """A model or rule that writes an impression for each findings section."""

    def summarize(self, findings: Sequence[str]) -> list[str]:
        """Return one impression for each findings section, in order.

        No section may be empty. Equal sections get equal impressions.
        """


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a report section, in order and each on one line; an empty list for blank text.

    A sentence ends at an empty line, or at a full stop, exclamation mark, question mark or semicolon before
    white space. It does not end after an abbreviation such as "Dr.", or after the number of a list item, such
    as "1." or "FINDINGS: 2.". A number after a comma or a word such as "ribs", "grade" or "and" ("ribs 7 and
    8.") is not read as the number of a list item, so a sentence may end there.
    """
    sentences: list[str] = []
    pieces = map(tokens.one_line, _EMPTY_LINE.split(_SENTENCE_END.sub(r"\1\n\n", text)))
    for piece in filter(None, pieces):
        last = sentences[-1] if sentences else ""
        ends_in_item_number = _ENDS_IN_ITEM_NUMBER.search(last) and not _ENDS_IN_OWN_NUMBER.search(last)
        if ends_in_item_number or _ENDS_IN_ABBREVIATION.search(last):
            sentences[-1] = f"{last} {piece}"
        else:
            sentences.append(piece)
    return sentences


def compute_rouge_l(references: Sequence[str], candidates: Sequence[str]) -> NDArray[np.float64]:
    """Return the ROUGE-L F1 (0 to 1) of each pair of reference and candidate, shape (n,).

    Words are stemmed, as in the metric ``rouge_l``.
    """
    tokenize = tokens.RougeTokenizer().tokenize
    pairs = zip(references, candidates, strict=True)
    return np.array([tokens.rouge_l(tokenize(ref), tokenize(cand)) for ref, cand in pairs], dtype=np.float64)


def measure_rouge_l(records: Sequence[ReportPair], summaries: Sequence[str]) -> dict[str, float]:
    """Return ``rouge_l``: the mean ROUGE-L F1 (0 to 1) of summaries against the records' impressions.

    ``summaries``: one per record, in order. The mean is 0 if there are no records.
    """
    values = compute_rouge_l([reveal(record.impression) for record in records], summaries)
    return {"rouge_l": float(values.mean()) if len(values) else 0.0}


# "intra - abdominal", "and / or": a hyphen or slash within a word.
_WITHIN_WORD = re.compile(r"(?<=\w) ?([-/]) ?(?=\w)")
# "1 . 5": a decimal point.
_DECIMAL = re.compile(r"(?<=\d)\s*\.\s+(?=\d)")
# "clear .": white space before a closing mark.
_BEFORE_CLOSING = re.compile(r"\s+([.,;:!?%)\]])")
# "( left": white space after an opening bracket.
_AFTER_OPENING = re.compile(r"([(\[])\s+")
# The first letter of a sentence.
_SENTENCE_START = re.compile(r"(^|[.!?]\s+)([a-z])")


def restore_case(text: str) -> str:
    """Return a text with a capital at the start of each sentence and the usual spaces around punctuation.

    ``text``: lower-case words, with spaces around each punctuation mark.

    >>> restore_case("no acute intra - abdominal process . 1 . 5 cm cyst .")
    'No acute intra-abdominal process. 1.5 cm cyst.'
    """
    joined = _DECIMAL.sub(".", _WITHIN_WORD.sub(r"\1", text))
    joined = _AFTER_OPENING.sub(r"\1", _BEFORE_CLOSING.sub(r"\1", joined)).strip()
    return _SENTENCE_START.sub(lambda match: match[1] + match[2].upper(), joined)


Encode = Callable[[Sequence[str]], NDArray[np.floating[Any]]]
"""Function that returns one vector per text, shape (texts, dimension), such as ``Encoder.encode``."""


def _split_by_text(split: Sequence[Sequence[str]], rows: NDArray[Any]) -> list[NDArray[Any]]:
    """Return one array per text: the rows of its sentences.

    ``split``: the sentences of each text. ``rows``: an array with one row per sentence of all texts, in
    order.
    """
    return np.split(rows, np.cumsum([len(row) for row in split])[:-1]) if split else []


class LeadSentences:
    """A summarizer that extracts the first ``count`` sentences of the findings (at least 1)."""

    def __init__(self, count: int = 3) -> None:
        if count < 1:
            raise ModelError(f"count is {count}, below 1", "LeadSentences", "Give at least 1.")
        self.count = count
        self.name = f"Lead-{count}"

    def summarize(self, findings: Sequence[str]) -> list[str]:
        """Return the first ``count`` sentences of each findings section, or all if there are fewer."""
        return [" ".join(split_sentences(text)[: self.count]) for text in findings]


class ClusterExtractor:
    """A summarizer that clusters the sentences of a findings section and extracts the one nearest to the
    centre of each cluster.

    Parameters
    ----------
    encode : function that returns the vectors of sentences, which are clustered by k-means.
    count : number of clusters, and thus the most sentences that are extracted.
    seed : seed of k-means.
    """

    name = "Bert-Ext"

    def __init__(self, encode: Encode, *, count: int = 2, seed: int = 0) -> None:
        self.encode, self.count, self.seed = encode, count, seed

    def summarize(self, findings: Sequence[str]) -> list[str]:
        """Return the extract of each findings section, with sentences in the order of the section."""
        split = [split_sentences(text) for text in findings]
        vectors = self.encode([sentence for row in split for sentence in row])
        return [
            " ".join(row[index] for index in sorted(self._central_positions(of_text)))
            for row, of_text in zip(split, _split_by_text(split, vectors), strict=True)
        ]

    def _central_positions(self, vectors: NDArray[np.floating[Any]]) -> set[int]:
        """Return the positions of the vectors that are nearest to the centres of their clusters.

        If there are at most ``count`` distinct vectors (after rounding to five decimals), return the position
        at which each of them first occurs.
        """
        from sklearn.cluster import KMeans

        first = np.unique(vectors.round(5), axis=0, return_index=True)[1]
        if len(first) <= self.count:
            return set(first.tolist())
        clusters = KMeans(self.count, n_init=4, random_state=self.seed).fit(vectors.astype(np.float64))
        distances = np.linalg.norm(vectors[:, None] - clusters.cluster_centers_[None], axis=2)
        return set(distances.argmin(axis=0).tolist())


def choose_oracle(findings: str, impression: str, most: int = 4) -> list[int]:
    """Return the ascending positions of up to ``most`` sentences of the findings that together have a high
    ROUGE-L against the impression.

    The search is greedy (Nallapati et al. 2017, Section 2.2): each step adds the sentence that raises ROUGE-L
    most; the search stops if no sentence raises it. At least one sentence is chosen, unless the findings have
    none.
    """
    split = split_sentences(findings)
    chosen: list[int] = []
    best = -1.0
    while len(chosen) < most:
        unchosen = [index for index in range(len(split)) if index not in chosen]
        extracts = [" ".join(split[index] for index in sorted([*chosen, added])) for added in unchosen]
        if not extracts:
            break
        scores = compute_rouge_l([impression] * len(extracts), extracts)
        top = int(scores.argmax())
        if scores[top] <= best:
            break
        best = float(scores[top])
        chosen.append(unchosen[top])
    return sorted(chosen)


def extract_oracle(findings: Sequence[str], impressions: Sequence[str]) -> list[str]:
    """Return the extract of each findings section whose sentences :func:`choose_oracle` chooses.

    The choice uses the impressions, so the ROUGE-L of these extracts approximates an upper bound for
    summarizers that extract sentences.
    """
    return [
        " ".join(split_sentences(text)[index] for index in choose_oracle(text, impression))
        for text, impression in zip(findings, impressions, strict=True)
    ]


# Thresholds of a sentence's probability that :meth:`SentenceSelector.fit` tries on dev.
_THRESHOLDS = np.round(np.arange(0.15, 0.8, 0.05), 2)


class SentenceSelector:
    """A summarizer that extracts the sentences to which a logistic regression gives a high probability.

    It extracts the sentences whose probability reaches a threshold, at most the ``most`` with the highest
    probability, or the most probable sentence if none reaches it. Features of a sentence are its vector from
    ``encode``, the cosine similarity of this vector to the section's mean vector, the sentence's position in
    the section, and the lengths of sentence and section.

    Parameters
    ----------
    encode : function that returns the vectors of sentences.
    most : the most sentences of an extract.
    """

    name = "Sentence selector"

    def __init__(self, encode: Encode, *, most: int = 4) -> None:
        self.encode, self.most = encode, most
        self.coefficients: NDArray[np.float32] = np.zeros(0, dtype=np.float32)
        self.intercept, self.threshold = 0.0, 0.5

    def fit(self, pairs: Sequence[ReportPair], dev: Sequence[ReportPair]) -> SentenceSelector:
        """Fit the selector to the sentences that :func:`choose_oracle` chooses in ``pairs``; return it.

        The threshold is the one with the highest mean ROUGE-L on ``dev``; if several have it, the lowest.
        Raises :class:`ModelError` if ``pairs`` or ``dev`` is empty.
        """
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler

        if not (pairs and dev):
            problem = f"{len(pairs)} training and {len(dev)} dev reports"
            raise ModelError(problem, "SentenceSelector.fit", "Give at least one report of each.")
        split, features = self._features([reveal(pair.findings) for pair in pairs])
        labels = []
        for pair, row in zip(pairs, split, strict=True):
            kept = set(choose_oracle(reveal(pair.findings), reveal(pair.impression), self.most))
            labels += [index in kept for index in range(len(row))]
        scaler = StandardScaler().fit(features)
        fitted = LogisticRegression(max_iter=500, class_weight="balanced")
        fitted.fit(scaler.transform(features), labels)
        weights = fitted.coef_[0] / scaler.scale_
        self.coefficients = weights.astype(np.float32)
        self.intercept = float(fitted.intercept_[0] - (weights * scaler.mean_).sum())
        split, probabilities = self._probabilities([reveal(pair.findings) for pair in dev])
        impressions = [reveal(pair.impression) for pair in dev]
        extracts = (self._extract(split, probabilities, threshold) for threshold in _THRESHOLDS)
        means = [float(compute_rouge_l(impressions, summaries).mean()) for summaries in extracts]
        self.threshold = float(_THRESHOLDS[int(np.argmax(means))])
        return self

    def summarize(self, findings: Sequence[str]) -> list[str]:
        """Return the extract of each findings section, with sentences in the order of the section."""
        return self._extract(*self._probabilities(findings), self.threshold)

    def _features(self, texts: Sequence[str]) -> tuple[list[list[str]], NDArray[np.float64]]:
        """Return (the sentences of each text, an array with one row of features per sentence of all texts).

        The array has shape (0, 0) if there are no texts.
        """
        split = [split_sentences(text) for text in texts]
        vectors = np.asarray(self.encode([sentence for row in split for sentence in row]), dtype=np.float64)
        rows = []
        for row, of_text in zip(split, _split_by_text(split, vectors), strict=True):
            mean, number = of_text.mean(axis=0), np.arange(len(row))
            norms = np.linalg.norm(of_text, axis=1) * np.linalg.norm(mean)
            similarity = of_text @ mean / np.maximum(norms, 1e-9)
            word_counts = [len(sentence.split()) for sentence in row]
            lengths = np.log1p(word_counts), np.full(len(row), np.log1p(len(row)))
            positions = number / len(row), number == 0, number == len(row) - 1
            rows.append(np.column_stack([of_text, similarity, *positions, *lengths]))
        return split, np.concatenate(rows) if rows else np.zeros((0, 0))

    def _probabilities(self, texts: Sequence[str]) -> tuple[list[list[str]], list[NDArray[np.float64]]]:
        """Return (the sentences of each text, for each text an array with the probability, 0 to 1, that each
        of its sentences belongs in the extract)."""
        split, features = self._features(texts)
        logits: Any = features @ self.coefficients.astype(np.float64) + self.intercept if split else []
        return split, _split_by_text(split, 1 / (1 + np.exp(-np.asarray(logits))))

    def _extract(
        self, split: list[list[str]], probabilities: list[NDArray[np.float64]], threshold: float
    ) -> list[str]:
        """Return the extract of each text.

        ``split`` and ``probabilities``: as returned by ``_probabilities``. ``threshold``: the least
        probability (0 to 1) of a sentence to extract, unless none reaches it.
        """
        extracts = []
        for row, values in zip(split, probabilities, strict=True):
            ranked = sorted(range(len(row)), key=lambda index: (-values[index], index))
            kept = [index for index in ranked[: self.most] if values[index] >= threshold] or ranked[:1]
            extracts.append(" ".join(row[index] for index in sorted(kept)))
        return extracts
