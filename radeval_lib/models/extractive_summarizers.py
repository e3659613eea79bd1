"""Summarize findings by extracting sentences; define the protocol and ROUGE-L measure of all summarizers."""

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
# A piece of text that ends with a number that belongs to its sentence: "ribs 7 and 8.", "grade 1."
_ENDS_IN_TEXT_NUMBER = re.compile(
    r"(,|\b(and|or|to|through|ribs?|grade|levels?|segments?|stage|type))\s\d{1,2}\.$", re.I
)
# A piece of text that ends with an abbreviation, whose full stop does not end a sentence: "seen by Dr."
_ENDS_IN_ABBREVIATION = re.compile(r"\b(dr|mr|mrs|ms|vs|no|approx|e\.g|i\.e)\.$", re.I)


class Summarizer(Protocol):
    """A model or rule that writes an impression for each findings section."""

    def summarize(self, findings: Sequence[str]) -> list[str]:
        """Return one impression for each findings section, in order.

        No section may be empty. Equal sections yield equal impressions.
        """


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a report section, in order and each on one line; an empty list for blank text.

    A sentence ends at an empty line, or at a full stop, exclamation mark, question mark or semicolon before
    white space. It does not end after an abbreviation such as "Dr.", or after the number of a list item, such
    as "1." or "FINDINGS: 2.". A number after a comma or after a word such as "ribs", "grade" or "and" ("ribs
    7 and 8.") is not the number of a list item, so a sentence may end there.
    """
    sentences: list[str] = []
    pieces = map(tokens.one_line, _EMPTY_LINE.split(_SENTENCE_END.sub(r"\1\n\n", text)))
    for piece in filter(None, pieces):
        last = sentences[-1] if sentences else ""
        ends_in_item_number = _ENDS_IN_ITEM_NUMBER.search(last) and not _ENDS_IN_TEXT_NUMBER.search(last)
        if ends_in_item_number or _ENDS_IN_ABBREVIATION.search(last):
            sentences[-1] = f"{last} {piece}"
        else:
            sentences.append(piece)
    return sentences


def compute_rouge_l(references: Sequence[str], candidates: Sequence[str]) -> NDArray[np.float64]:
    """Return the ROUGE-L F1 (0 to 1) of each pair of reference and candidate, shape (len(references),).

    Words are stemmed, as in the metric ``rouge_l``.
    """
    tokenize = tokens.RougeTokenizer().tokenize
    pairs = zip(references, candidates, strict=True)
    return np.array([tokens.rouge_l(tokenize(ref), tokenize(cand)) for ref, cand in pairs], dtype=np.float64)


def measure_rouge_l(records: Sequence[ReportPair], summaries: Sequence[str]) -> dict[str, float]:
    """Return a dictionary with ``rouge_l``, the mean ROUGE-L F1 (0 to 1) of summaries.

    ``summaries``: one per record, in order; the record's impression is its reference. The mean is 0 if there
    are no records.
    """
    scores = compute_rouge_l([reveal(record.impression) for record in records], summaries)
    return {"rouge_l": float(scores.mean()) if len(scores) else 0.0}


# "intra - abdominal", "and / or": a hyphen or slash within a word.
_WITHIN_WORD = re.compile(r"(?<=\w) ?([-/]) ?(?=\w)")
# "1 . 5": a decimal point.
_DECIMAL = re.compile(r"(?<=\d)\s*\.\s+(?=\d)")
# "clear .": white space before a punctuation mark or closing bracket.
_BEFORE_CLOSING = re.compile(r"\s+([.,;:!?%)\]])")
# "( left": white space after an opening bracket.
_AFTER_OPENING = re.compile(r"([(\[])\s+")
# The first letter of a sentence, in lower case.
_SENTENCE_START = re.compile(r"(^|[.!?]\s+)([a-z])")


def restore_case(text: str) -> str:
    """Return a text with a capital at the start of each sentence and the usual spaces around punctuation.

    ``text``: lower-case words and punctuation marks, all separated by spaces.

    >>> restore_case("no acute intra - abdominal process . 1 . 5 cm cyst .")
    'No acute intra-abdominal process. 1.5 cm cyst.'
    """
    spaced = _DECIMAL.sub(".", _WITHIN_WORD.sub(r"\1", text))
    spaced = _AFTER_OPENING.sub(r"\1", _BEFORE_CLOSING.sub(r"\1", spaced)).strip()
    return _SENTENCE_START.sub(lambda match: match[1] + match[2].upper(), spaced)


Encode = Callable[[Sequence[str]], NDArray[np.floating[Any]]]
"""A function, such as ``Encoder.encode``, that returns one vector per text, shape (texts, dimension)."""


def _split_by_section(sections: Sequence[Sequence[str]], rows: NDArray[Any]) -> list[NDArray[Any]]:
    """Return one array per section, with a row for each of its sentences.

    ``sections``: the sentences of each section. ``rows``: an array with one row per sentence of all sections,
    in order.
    """
    return np.split(rows, np.cumsum(list(map(len, sections)))[:-1]) if sections else []


class LeadSentences:
    """A summarizer that extracts the first ``count`` sentences of the findings.

    Raises :class:`~radeval_lib.errors.ModelError` if ``count`` is below 1.
    """

    def __init__(self, count: int = 3) -> None:
        if count < 1:
            raise ModelError(f"count is {count}, below 1", "LeadSentences", "Set count to at least 1.")
        self.count = count
        self.name = f"Lead-{count}"

    def summarize(self, findings: Sequence[str]) -> list[str]:
        """Return the first ``count`` sentences of each findings section, or all if there are fewer."""
        return [" ".join(split_sentences(text)[: self.count]) for text in findings]


class ClusterExtractor:
    """A summarizer that clusters the sentences of a findings section by k-means, and extracts the sentence
    nearest to the centre of each cluster.

    Parameters
    ----------
    encode : function that returns the vectors of sentences.
    count : number of clusters, and thus the maximum number of sentences in an extract.
    seed : seed of k-means.
    """

    name = "Bert-Ext"

    def __init__(self, encode: Encode, *, count: int = 2, seed: int = 0) -> None:
        self.encode, self.count, self.seed = encode, count, seed

    def summarize(self, findings: Sequence[str]) -> list[str]:
        """Return the extract of each findings section, with sentences in the order of the section."""
        sections = [split_sentences(text) for text in findings]
        vectors = self.encode([sentence for sentences in sections for sentence in sentences])
        return [
            " ".join(sentences[index] for index in sorted(self._find_central_positions(rows)))
            for sentences, rows in zip(sections, _split_by_section(sections, vectors), strict=True)
        ]

    def _find_central_positions(self, vectors: NDArray[np.floating[Any]]) -> set[int]:
        """Return the position of the vector nearest to the centre of each cluster.

        If at most ``count`` vectors are distinct after rounding to five decimals, return the position of the
        first occurrence of each.
        """
        from sklearn.cluster import KMeans

        distinct = np.unique(vectors.round(5), axis=0, return_index=True)[1]
        if len(distinct) <= self.count:
            return set(distinct.tolist())
        clusters = KMeans(self.count, n_init=4, random_state=self.seed).fit(vectors.astype(np.float64))
        distances = np.linalg.norm(vectors[:, None] - clusters.cluster_centers_[None], axis=2)
        return set(distances.argmin(axis=0).tolist())


def choose_oracle(findings: str, impression: str, most: int = 4) -> list[int]:
    """Return the ascending positions of up to ``most`` sentences of the findings that together have a high
    ROUGE-L against the impression.

    The search is greedy (Nallapati et al. 2017, Section 2.2): each step adds the sentence that raises ROUGE-L
    most, and the search stops when no sentence raises it. At least one sentence is chosen, unless the
    findings have none.
    """
    sentences = split_sentences(findings)
    chosen: list[int] = []
    best_score = -1.0
    while len(chosen) < most:
        unchosen = [index for index in range(len(sentences)) if index not in chosen]
        extracts = [" ".join(sentences[index] for index in sorted([*chosen, option])) for option in unchosen]
        if not extracts:
            break
        scores = compute_rouge_l([impression] * len(extracts), extracts)
        best = int(scores.argmax())
        if scores[best] <= best_score:
            break
        best_score = float(scores[best])
        chosen.append(unchosen[best])
    return sorted(chosen)


def extract_oracle(findings: Sequence[str], impressions: Sequence[str]) -> list[str]:
    """Return an extract of each findings section, made of the sentences that :func:`choose_oracle` chooses.

    The choice uses the impressions, so the ROUGE-L of these extracts approximates an upper bound for
    extractive summarizers.
    """
    return [
        " ".join(split_sentences(text)[index] for index in choose_oracle(text, impression))
        for text, impression in zip(findings, impressions, strict=True)
    ]


# Probability thresholds that :meth:`SentenceSelector.fit` tries on dev.
_THRESHOLDS = np.round(np.arange(0.15, 0.8, 0.05), 2)


class SentenceSelector:
    """A summarizer that extracts the sentences to which a logistic regression gives a high probability.

    It extracts up to ``most`` sentences whose probability reaches a threshold, the most probable first, or
    the most probable sentence alone if none reaches it. The features of a sentence are its vector from
    ``encode``, the cosine similarity of this vector to the section's mean vector, the sentence's position in
    the section, and the lengths of sentence and section.

    Parameters
    ----------
    encode : function that returns the vectors of sentences.
    most : maximum number of sentences in an extract.
    """

    name = "Sentence selector"

    def __init__(self, encode: Encode, *, most: int = 4) -> None:
        self.encode, self.most = encode, most
        self.coefficients: NDArray[np.float32] = np.zeros(0, dtype=np.float32)
        self.intercept, self.threshold = 0.0, 0.5

    def fit(self, pairs: Sequence[ReportPair], dev: Sequence[ReportPair]) -> SentenceSelector:
        """Fit the selector to the sentences that :func:`choose_oracle` chooses in ``pairs``; return it.

        The threshold with the highest mean ROUGE-L on ``dev`` is taken; in a tie, the lowest. Raises
        :class:`~radeval_lib.errors.ModelError` if ``pairs`` or ``dev`` is empty, and ValueError if every
        sentence in ``pairs`` is chosen, so that there is nothing to tell apart.
        """
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler

        if not (pairs and dev):
            problem = f"too few reports: {len(pairs)} for training and {len(dev)} for dev"
            raise ModelError(problem, "SentenceSelector.fit", "Provide at least one report for each.")
        sections, features = self._compute_features([reveal(pair.findings) for pair in pairs])
        targets = []
        for pair, sentences in zip(pairs, sections, strict=True):
            oracle = set(choose_oracle(reveal(pair.findings), reveal(pair.impression), self.most))
            targets += [index in oracle for index in range(len(sentences))]
        scaler = StandardScaler().fit(features)
        regression = LogisticRegression(max_iter=500, class_weight="balanced")
        regression.fit(scaler.transform(features), targets)
        weights = regression.coef_[0] / scaler.scale_
        self.coefficients = weights.astype(np.float32)
        self.intercept = float(regression.intercept_[0] - (weights * scaler.mean_).sum())
        sections, probabilities = self._predict([reveal(pair.findings) for pair in dev])
        impressions = [reveal(pair.impression) for pair in dev]
        trials = (self._extract(sections, probabilities, threshold) for threshold in _THRESHOLDS)
        means = [float(compute_rouge_l(impressions, extracts).mean()) for extracts in trials]
        self.threshold = float(_THRESHOLDS[int(np.argmax(means))])
        return self

    def summarize(self, findings: Sequence[str]) -> list[str]:
        """Return the extract of each findings section, with sentences in the order of the section."""
        return self._extract(*self._predict(findings), self.threshold)

    def _compute_features(self, findings: Sequence[str]) -> tuple[list[list[str]], NDArray[np.float64]]:
        """Return (the sentences of each section, an array with one row of features per sentence).

        The rows are those of all sections' sentences, in order; the shape is (0, 0) if there are no sections.
        """
        sections = [split_sentences(text) for text in findings]
        all_sentences = [sentence for sentences in sections for sentence in sentences]
        vectors = np.asarray(self.encode(all_sentences), dtype=np.float64)
        blocks = []
        for sentences, rows in zip(sections, _split_by_section(sections, vectors), strict=True):
            mean, indices, count = rows.mean(axis=0), np.arange(len(rows)), len(rows)
            norms = np.linalg.norm(rows, axis=1) * np.linalg.norm(mean)
            similarity = rows @ mean / np.maximum(norms, 1e-9)
            word_counts = [len(sentence.split()) for sentence in sentences]
            lengths = np.log1p(word_counts), np.full(count, np.log1p(count))
            positions = indices / count, indices == 0, indices == count - 1
            blocks.append(np.column_stack([rows, similarity, *positions, *lengths]))
        return sections, np.concatenate(blocks) if blocks else np.zeros((0, 0))

    def _predict(self, findings: Sequence[str]) -> tuple[list[list[str]], list[NDArray[np.float64]]]:
        """Return (the sentences of each section, an array per section with the probability, 0 to 1, that each
        of its sentences belongs in the extract)."""
        sections, features = self._compute_features(findings)
        logits: Any = features @ self.coefficients.astype(np.float64) + self.intercept if sections else []
        return sections, _split_by_section(sections, 1 / (1 + np.exp(-np.asarray(logits))))

    def _extract(
        self, sections: list[list[str]], probabilities: list[NDArray[np.float64]], threshold: float
    ) -> list[str]:
        """Return the extract of each section.

        ``sections`` and ``probabilities`` are returned by ``_predict``. Sentences are extracted if their
        probability is at least ``threshold`` (0 to 1), at most ``most`` of them; if there are none, the most
        probable sentence is extracted.
        """
        extracts = []
        for sentences, values in zip(sections, probabilities, strict=True):
            ranked = sorted(range(len(sentences)), key=lambda index: (-values[index], index))
            chosen = [index for index in ranked[: self.most] if values[index] >= threshold] or ranked[:1]
            extracts.append(" ".join(sentences[index] for index in sorted(chosen)))
        return extracts
