"""An NER model that trains in seconds: a linear one over words, their ends and their neighbours."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any

from radeval_lib.models.ner.entities import decode_standard, span_scores
from radeval_lib.roles.generated import iob
from radeval_lib.rules import generator
from radeval_lib.rules.generator.records import Style

Sentence = tuple[list[str], list[str]]


def sentences(style: Style, reports: int, seed: int) -> list[Sentence]:
    """Words and IOB tags of the sentences of generated chest reports, ``hospital`` or ``encyclopaedic``. No
    entity begins with an article, as a few names of places do in the generator."""
    drawn = generator.generate(reports, seed=seed, style=style, modality_anatomy=("X-Ray", "CHEST"))
    return [
        (words, _without_articles(words, tags)) for report in drawn for words, tags in iob(report.findings)
    ]


def _without_articles(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """The tags where an entity begins behind its article."""
    shortened = list(tags)
    for place, (word, tag) in enumerate(zip(words, tags, strict=True)):
        if tag.startswith("B-") and word.lower() in ("a", "an", "the"):
            shortened[place] = "O"
            if tags[place + 1 : place + 2] == [f"I-{tag[2:]}"]:
                shortened[place + 1] = tag
    return shortened


def features(words: Sequence[str], place: int) -> dict[str, str]:
    """What the model sees of a word: itself, its end, and two words on either side."""
    padded = ["<", "<", *(word.lower() for word in words), ">", ">"]
    here = place + 2
    near = {f"word{gap:+d}": padded[here + gap] for gap in (-2, -1, 0, 1, 2)}
    return {**near, "end": padded[here][-3:], "before": " ".join(padded[here - 2 : here])}


def train(examples: Sequence[Sentence]) -> Any:
    """A model fitted to one sentence or more; the same sentences give the same model.

    Returns
    -------
    a scikit-learn pipeline over :func:`features`, which predicts one tag per word; where all words of the
    examples have one tag, as in sentences without entities, always that

    Raises
    ------
    ValueError
        If there is no word, or a sentence has not as many tags as words.
    """
    from sklearn.dummy import DummyClassifier
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    _check_lengths("words", [words for words, _ in examples], "tags", [tags for _, tags in examples])
    seen = [features(words, place) for words, _ in examples for place in range(len(words))]
    right = [tag for _, tags in examples for tag in tags]
    if not right:
        raise ValueError("no words to train on: give one sentence or more")
    several = len(set(right)) > 1
    model = LinearSVC(C=0.5, random_state=0) if several else DummyClassifier(strategy="most_frequent")
    return make_pipeline(DictVectorizer(sparse=False), model).fit(seen, right)


def _check_lengths(one: str, first: Sequence[Sized], other: str, second: Sequence[Sized]) -> None:
    """A ValueError where there are not as many sentences of both, or one is longer than its counterpart."""
    if len(first) != len(second):
        raise ValueError(f"{len(first)} sentences of {one}, but {len(second)} of {other}")
    for number, (its, own) in enumerate(zip(first, second, strict=True), start=1):
        if len(its) != len(own):
            raise ValueError(f"sentence {number} has {len(its)} {one}, but {len(own)} {other}")


def predict(tagger: Any, texts: Sequence[Sequence[str]]) -> list[list[str]]:
    """The tags of each sentence, given as its words; none of a sentence without words."""
    seen = [features(words, place) for words in texts for place in range(len(words))]
    tags = iter(tagger.predict(seen) if seen else ())
    return [[str(next(tags)) for _ in words] for words in texts]


def spans(tags: Sequence[str]) -> set[tuple[int, int, str]]:
    """Entities as first word, word after the last, and type; an ``I-`` that continues nothing begins one."""
    return set(decode_standard(tags))


def score(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> dict[str, float]:
    """Micro ``precision``, ``recall`` and ``f1`` of entities whose ends and type are all right, 0 where there
    is nothing to divide by; a ValueError where the sentences, or the tags of one, are not as many."""
    _check_lengths("gold tags", gold, "predicted tags", predicted)
    counts = span_scores(list(map(spans, gold)), list(map(spans, predicted)), list(map(len, gold))).spans
    return {name: getattr(counts, name) for name in ("precision", "recall", "f1")}
