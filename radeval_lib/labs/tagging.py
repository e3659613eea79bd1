"""An NER model that trains in seconds: a linear one over words, their ends and their neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from radeval_lib.data.generated import iob
from radeval_lib.models.entities import decode_standard, span_scores
from radeval_lib.rules import generator
from radeval_lib.rules.generator.records import Style

Sentence = tuple[list[str], list[str]]


def sentences(style: Style, reports: int, seed: int) -> list[Sentence]:
    """Return the words and IOB tags of sentences in generated chest reports, ``hospital`` or
    ``encyclopaedic`` in style. No entity begins with an article, unlike some places in the generator."""
    drawn = generator.generate(reports, seed=seed, style=style, modality_anatomy=("X-Ray", "CHEST"))
    tagged = [sentence for report in drawn for sentence in iob(report.findings)]
    for words, tags in tagged:
        for index, (word, tag) in enumerate(zip(words, list(tags), strict=True)):
            if tag.startswith("B-") and word.lower() in ("a", "an", "the"):
                tags[index] = "O"
                if tags[index + 1 : index + 2] == [f"I-{tag[2:]}"]:
                    tags[index + 1] = tag
    return tagged


def features(words: Sequence[str], index: int) -> dict[str, str]:
    """Return the features of a word: itself, its ending, and two words on either side."""
    padded = ["<", "<", *(word.lower() for word in words), ">", ">"]
    here = index + 2
    near = {f"word{gap:+d}": padded[here + gap] for gap in (-2, -1, 0, 1, 2)}
    return {**near, "end": padded[here][-3:], "before": " ".join(padded[here - 2 : here])}


def train(examples: Sequence[Sentence]) -> Any:
    """Return a scikit-learn pipeline over :func:`features` that predicts one tag per word. The sentences need
    two or more tags; the same sentences give the same model."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    seen = [features(words, index) for words, _ in examples for index in range(len(words))]
    right = [tag for _, tags in examples for tag in tags]
    model = LinearSVC(C=0.5, random_state=0)
    return make_pipeline(DictVectorizer(sparse=False), model).fit(seen, right)


def predict(tagger: Any, texts: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the tags of each sentence, given as its words; empty for a sentence without words."""
    seen = [features(words, index) for words in texts for index in range(len(words))]
    tags = iter(tagger.predict(seen) if seen else ())
    return [[str(next(tags)) for _ in words] for words in texts]


def spans(tags: Sequence[str]) -> set[tuple[int, int, str]]:
    """Return entities as (first word, word after the last, type). An ``I-`` that continues nothing begins an
    entity."""
    return set(decode_standard(tags))


def score(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return micro ``precision``, ``recall`` and ``f1`` of entities with the right ends and type; 0 if there
    is nothing to divide by."""
    counts = span_scores(list(map(spans, gold)), list(map(spans, predicted)), list(map(len, gold))).spans
    return {name: getattr(counts, name) for name in ("precision", "recall", "f1")}
