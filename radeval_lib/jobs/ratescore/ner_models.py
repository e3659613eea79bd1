"""Trainings of NER models: what one is, what it learns from, and its counts on the test part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from radeval_lib.data.records import AnnotatedSentence, plain_words
from radeval_lib.errors import ParameterError
from radeval_lib.models.ner.entities import gold_spans, span_scores
from radeval_lib.models.ner.schemes import Scheme

NOTEBOOK = "ratescore/ner_training"
SOURCES = ("MIMIC-IV", "Radiopaedia")
CORPORA = ("both", *SOURCES)


@dataclass(frozen=True)
class Training:
    """What distinguishes one training from the others; anything else is a ParameterError.

    Attributes
    ----------
    scheme : ``iob`` or ``span``.
    init_model : see :mod:`radeval_lib.models.initial`.
    corpus : one of :data:`CORPORA`.
    sentences : training sentences of each source, or all where there are fewer; 0: all.
    """

    scheme: str
    init_model: str
    corpus: str
    sentences: int

    def __post_init__(self) -> None:
        for name, choices in {"scheme": ("iob", "span"), "corpus": CORPORA}.items():
            if (value := getattr(self, name)) not in choices:
                raise ParameterError(f"unknown {name} {value!r}", NOTEBOOK, f"Choices: {', '.join(choices)}.")
        if self.sentences < 0:
            raise ParameterError(f"sentences must not be negative: {self.sentences}", NOTEBOOK)


def starting_graphs(
    records: Sequence[AnnotatedSentence], reports: int, rng: np.random.Generator
) -> list[AnnotatedSentence]:
    """Return what a tagger of graphs learns from where a training starts from one.

    ``records``: the corpus of graphs, one record per report. ``reports``: how many are drawn from its
    training part, or all where there are fewer, beside all of its dev part; 0: all.
    """
    train_set = [row for row in records if row.split == "train"]
    return [*_drawn(train_set, reports, rng), *(row for row in records if row.split == "dev")]


def choose(
    sentences: Sequence[AnnotatedSentence], training: Training, rng: np.random.Generator
) -> list[AnnotatedSentence]:
    """Return the training sentences: of each source as many as the training takes, drawn without return."""
    chosen: list[AnnotatedSentence] = []
    for source in SOURCES if training.corpus == "both" else (training.corpus,):
        own = [row for row in sentences if row.split == "train" and row.group == source]
        chosen += _drawn(own, training.sentences, rng)
    return chosen


def _drawn(rows: Sequence[AnnotatedSentence], size: int, rng: np.random.Generator) -> list[AnnotatedSentence]:
    """So many of them, or all where there are fewer, in their order; 0: all."""
    return [rows[index] for index in sorted(rng.permutation(len(rows))[: size or None])]


def tally(scheme: Scheme, sentences: Sequence[AnnotatedSentence], seed: int) -> pd.DataFrame:
    """Return counts of strict spans, one row per test case, which is the report that sentences are from:
    ``seed``, ``case``, ``source``, ``matched``, ``predicted``, ``gold``, ``correct_words``, ``words``. No
    sentence is a ValueError."""
    if not sentences:
        raise ValueError("the test part has no sentence to count on")
    rows = []
    for sentence, spans in zip(sentences, scheme.predict(list(map(plain_words, sentences))), strict=True):
        scores = span_scores([gold_spans(sentence)], [spans], [len(sentence.tokens)])
        case = {"seed": seed, "case": f"{sentence.group}/{sentence.report}", "source": sentence.group}
        tail = {"correct_words": scores.correct_words, "words": scores.words}
        rows.append({**case, **asdict(scores.spans), **tail})
    return pd.DataFrame(rows).groupby(["seed", "case", "source"], sort=False, as_index=False).sum()
