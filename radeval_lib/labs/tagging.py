"""An NER model that trains in seconds: a linear classifier of words by their spelling and neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from radeval_lib.data.generated import encode_iob
from radeval_lib.models.entities import compare_spans, decode_standard
from radeval_lib.rules import generator
from radeval_lib.rules.generator.records import Style

Sentence = tuple[list[str], list[str]]  # the words of a sentence, and their IOB tags


def sentences(style: Style, n_reports: int, seed: int) -> list[Sentence]:
    """Return the sentences in the findings of generated chest radiograph reports, as (words, IOB tags).

    ``n_reports`` is the number of reports, and ``style`` is ``hospital`` or ``encyclopaedic``. An article at
    the beginning of an entity is tagged ``O``.
    """
    reports = generator.generate(n_reports, seed=seed, style=style, modality_anatomy=("X-Ray", "CHEST"))
    tagged_sentences = [sentence for report in reports for sentence in encode_iob(report.findings)]
    for words, tags in tagged_sentences:
        for index, (word, tag) in enumerate(zip(words, list(tags), strict=True)):
            if tag.startswith("B-") and word.lower() in ("a", "an", "the"):
                tags[index] = "O"
                if tags[index + 1 : index + 2] == [f"I-{tag[2:]}"]:
                    tags[index + 1] = tag
    return tagged_sentences


def features(words: Sequence[str], index: int) -> dict[str, str]:
    """Return the features of the word at ``index``: the word, its last three letters and its neighbours.

    ``word-2`` to ``word+2`` are the word (``word+0``) and its neighbours, ``end`` the word's last letters,
    and ``before`` the two preceding words, all in lower case. ``<`` and ``>`` stand for words beyond the
    sentence.
    """
    tokens = ["<", "<", *(word.lower() for word in words), ">", ">"]
    position = index + 2
    neighbours = {f"word{offset:+d}": tokens[position + offset] for offset in (-2, -1, 0, 1, 2)}
    return {**neighbours, "end": tokens[position][-3:], "before": " ".join(tokens[position - 2 : position])}


def train(examples: Sequence[Sentence]) -> Any:
    """Return a scikit-learn pipeline that predicts a word's tag from its :func:`features`.

    ``examples`` must have at least two different tags. The same examples give the same model.
    """
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    inputs = [features(words, index) for words, _ in examples for index in range(len(words))]
    targets = [tag for _, tags in examples for tag in tags]
    model = LinearSVC(C=0.5, random_state=0)
    return make_pipeline(DictVectorizer(sparse=False), model).fit(inputs, targets)


def predict(tagger: Any, texts: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the predicted tags of each sentence; ``texts`` has the words of each sentence."""
    inputs = [features(words, index) for words in texts for index in range(len(words))]
    tags = iter(tagger.predict(inputs) if inputs else ())
    return [[str(next(tags)) for _ in words] for words in texts]


def spans(tags: Sequence[str]) -> set[tuple[int, int, str]]:
    """Return the entities of a sentence as (index of the first word, index after the last word, type).

    An ``I-`` tag that continues no entity begins a new entity.
    """
    return set(decode_standard(tags))


def score(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return micro ``precision``, ``recall`` and ``f1`` of entities, from 0 to 1; 0 if undefined.

    ``gold`` and ``predicted`` have the tags of each sentence. A predicted entity is correct if its words and
    type are those of a gold entity.
    """
    counts = compare_spans(list(map(spans, gold)), list(map(spans, predicted)), list(map(len, gold))).spans
    return {name: getattr(counts, name) for name in ("precision", "recall", "f1")}
