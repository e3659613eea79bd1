"""The jobs of RaTEScore, an NER training for each row of Tables 6 and 7: settings, training data, and counts
on the test part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
import pandas as pd
from pydantic import BaseModel, Field, model_validator

from radeval_lib.data.records import AnnotatedSentence, plain_words
from radeval_lib.errors import ParameterError
from radeval_lib.models.entities import gold_spans, span_scores
from radeval_lib.models.ner_models import Scheme
from radeval_lib.registry import SYNTHETIC
from radeval_lib.study.jobs import Job
from radeval_lib.study.profiles import Profile, Size

NOTEBOOK = "ratescore/ner_training"
SOURCES = ("MIMIC-IV", "Radiopaedia")
CORPORA = ("both", *SOURCES)
SchemeName = Literal["iob", "span"]


class RatescoreSettings(BaseModel, extra="forbid", frozen=True):
    """The section ``ratescore`` of a profile's ``experiments``.

    Attributes
    ----------
    recogniser_sentences : training sentences of each source for the NER model that other notebooks use.
    training_sentences, training_seeds : the same for each training of a comparison, and its seeds.
    starting_graphs : reports that a training learns from first if it starts from a tagger of graphs.
    initial_models : by scheme; the first of ``iob`` is that of the NER model that other notebooks use.
    trim : whether the trainings of a comparison keep only the vocabulary that occurs.
    training : by scheme, the trainer's settings and those of the scheme.
    """

    recogniser_sentences: Size
    training_sentences: Size
    training_seeds: Size
    starting_graphs: Size
    initial_models: dict[SchemeName, Annotated[list[str], Field(min_length=1)]]
    trim: bool
    training: dict[SchemeName, dict[str, Any]]

    @model_validator(mode="after")
    def _has_what_is_trained(self) -> Self:
        if "iob" not in self.initial_models:
            raise ValueError("needs a model under iob, from which the NER model of other notebooks starts")
        if missing := self.initial_models.keys() - self.training.keys():
            raise ValueError(f"training has no settings of {min(missing)}, which initial_models names")
        return self


def settings(profile: Profile) -> RatescoreSettings:
    """Return the profile's settings for this system."""
    return profile.section("ratescore", RatescoreSettings)


@dataclass(frozen=True)
class Training:
    """The options that distinguish one training from the others; any other value is a ParameterError.

    Attributes
    ----------
    scheme : ``iob`` or ``span``.
    init_model : see :mod:`radeval_lib.models.derived`.
    corpus : one of :data:`CORPORA`.
    sentences : training sentences of each source, or all if there are fewer; 0: all.
    """

    scheme: str
    init_model: str
    corpus: str
    sentences: int

    def __post_init__(self) -> None:
        for name, choices in {"scheme": ("iob", "span"), "corpus": CORPORA}.items():
            if (value := getattr(self, name)) not in choices:
                raise ParameterError(f"unknown {name} {value!r}", NOTEBOOK, f"Use {' or '.join(choices)}.")
        if self.sentences < 0:
            raise ParameterError(f"sentences is {self.sentences}", NOTEBOOK, "Give 0 or more.")


def trainings(profile: Profile) -> list[Training]:
    """Return the trainings of a profile: the study's NER model, then Table 6's rows, then Table 7's.

    Sources: Zhao et al. 2024, Tables 6 (schemes and initial models, both sources) and 7 (each source alone).
    Table 7 is not trained on generated sentences, because half of their test part is of each style, which
    decides the outcome. The NER model that the other notebooks use is the IOB scheme with the first model, on
    more sentences if the comparisons have few.
    """
    chosen = settings(profile)
    size, models = chosen.training_sentences, chosen.initial_models
    first = models["iob"][0]
    sources = () if profile.roles["ner_corpus"] == SYNTHETIC else SOURCES
    rows = [
        Training("iob", first, "both", chosen.recogniser_sentences),
        *(Training(scheme, model, "both", size) for scheme in models for model in models[scheme]),
        *(Training("iob", first, source, size) for source in sources),
    ]
    return list(dict.fromkeys(rows))


def job_list(profile: Profile) -> list[Job]:
    """Return the trainings as jobs; the first keeps its model."""
    return [Job.of(NOTEBOOK, **asdict(training)) for training in trainings(profile)]


def starting_graphs(
    records: Sequence[AnnotatedSentence], reports: int, rng: np.random.Generator
) -> list[AnnotatedSentence]:
    """Return the training data of a tagger of graphs, if a training starts from one.

    ``records``: the corpus of graphs, one record per report. ``reports``: how many are drawn from its
    training part, or all if there are fewer, beside all of its dev part; 0: all.
    """
    train_set = [row for row in records if row.split == "train"]
    return [*_drawn(train_set, reports, rng), *(row for row in records if row.split == "dev")]


def choose(
    sentences: Sequence[AnnotatedSentence], training: Training, rng: np.random.Generator
) -> list[AnnotatedSentence]:
    """Return the training sentences without repeats, from each source the number that the training takes."""
    chosen: list[AnnotatedSentence] = []
    for source in SOURCES if training.corpus == "both" else (training.corpus,):
        of_source = [row for row in sentences if row.split == "train" and row.group == source]
        chosen += _drawn(of_source, training.sentences, rng)
    return chosen


def _drawn(rows: Sequence[AnnotatedSentence], size: int, rng: np.random.Generator) -> list[AnnotatedSentence]:
    """Return ``size`` random rows in their order, or all if there are fewer or ``size`` is 0."""
    return [rows[index] for index in sorted(rng.permutation(len(rows))[: size or None])]


def tally(scheme: Scheme, sentences: Sequence[AnnotatedSentence], seed: int) -> pd.DataFrame:
    """Return counts of strict spans, one row per test case (the report of its sentences): ``seed``, ``case``,
    ``source``, ``matched``, ``predicted``, ``gold``, ``correct_words``, ``words``. Raises ValueError if there
    is no sentence."""
    if not sentences:
        raise ValueError("the test part has no sentence to count on")
    rows = []
    for sentence, spans in zip(sentences, scheme.predict(list(map(plain_words, sentences))), strict=True):
        scores = span_scores([gold_spans(sentence)], [spans], [len(sentence.tokens)])
        case = {"seed": seed, "case": f"{sentence.group}/{sentence.report}", "source": sentence.group}
        tail = {"correct_words": scores.correct_words, "words": scores.words}
        rows.append({**case, **asdict(scores.spans), **tail})
    return pd.DataFrame(rows).groupby(["seed", "case", "source"], sort=False, as_index=False).sum()
