"""Jobs that train the NER models of RaTEScore's Tables 6 and 7: settings, training data, and counts on test
data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
import pandas as pd
from pydantic import BaseModel, Field, model_validator

from radeval_lib.data.records import AnnotatedSentence, reveal_tokens
from radeval_lib.errors import ParameterError
from radeval_lib.models.entities import compare_spans, read_gold
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
    recogniser_sentences : number of training sentences per source for the NER model that other notebooks use.
    training_sentences, training_seeds : number of training sentences per source, and of seeds, in a
        comparison.
    starting_graphs : number of RadGraph reports for the first stage of a training run that starts from a
        tagger of RadGraph entities.
    initial_models : a mapping from scheme to pretrained models. The NER model that other notebooks use starts
        from the first model of ``iob``.
    trim : whether the compared models keep only the vocabulary of their texts.
    training : a mapping from scheme to settings of :class:`~radeval_lib.models.training.TrainingSettings` and
        of the scheme.
    """

    recogniser_sentences: Size
    training_sentences: Size
    training_seeds: Size
    starting_graphs: Size
    initial_models: dict[SchemeName, Annotated[list[str], Field(min_length=1)]]
    trim: bool
    training: dict[SchemeName, dict[str, Any]]

    @model_validator(mode="after")
    def _check_schemes(self) -> Self:
        """Raise a ValueError if a scheme lacks models or settings that are needed."""
        if "iob" not in self.initial_models:
            raise ValueError("initial_models has no key iob; add it with a list of pretrained models")
        if missing := self.initial_models.keys() - self.training.keys():
            raise ValueError(f"training has no settings for the scheme {min(missing)}; add them")
        return self


def settings(profile: Profile) -> RatescoreSettings:
    """Return the section ``ratescore`` of a profile; raises ProfileError if it is missing or malformed."""
    return profile.section("ratescore", RatescoreSettings)


@dataclass(frozen=True)
class Training:
    """The options of one training run. Unknown values raise ParameterError.

    Attributes
    ----------
    scheme : ``iob`` or ``span``.
    init_model : the pretrained model, by its name in :mod:`radeval_lib.models.derived`.
    corpus : the sources of training sentences, one of :data:`CORPORA`.
    sentences : number of training sentences per source, or all if there are fewer; 0 for all.
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
            raise ParameterError(f"sentences is {self.sentences}", NOTEBOOK, "Use 1 or more, or 0 for all.")


def list_runs(profile: Profile) -> list[Training]:
    """Return a profile's training runs: the NER model for other notebooks, then the rows of Tables 6 and 7.

    Source: Zhao et al. 2024, Table 6 (schemes and initial models, on both sources) and Table 7 (each source
    alone). Table 7 is left out for generated sentences: half of their test set is in each style, which
    decides the outcome. The NER model for other notebooks uses the IOB scheme and the first model.
    """
    section = settings(profile)
    size, models = section.training_sentences, section.initial_models
    first_model = models["iob"][0]
    sources = () if profile.roles["ner_corpus"] == SYNTHETIC else SOURCES
    runs = [
        Training("iob", first_model, "both", section.recogniser_sentences),
        *(Training(scheme, model, "both", size) for scheme in models for model in models[scheme]),
        *(Training("iob", first_model, source, size) for source in sources),
    ]
    return list(dict.fromkeys(runs))


def job_list(profile: Profile) -> list[Job]:
    """Return a job for each of :func:`list_runs`. The model of the first job is kept for other notebooks."""
    return [Job.of(NOTEBOOK, **asdict(training)) for training in list_runs(profile)]


def starting_graphs(
    records: Sequence[AnnotatedSentence], reports: int, rng: np.random.Generator
) -> list[AnnotatedSentence]:
    """Return the data for a tagger of RadGraph entities: random training reports, then all dev reports.

    Parameters
    ----------
    records : the corpus in RadGraph format, one record per report.
    reports : number of training reports, or all if there are fewer; 0 for all.
    rng : the generator that draws the training reports.
    """
    train_set = [row for row in records if row.split == "train"]
    return [*_draw(train_set, reports, rng), *(row for row in records if row.split == "dev")]


def draw_sentences(
    sentences: Sequence[AnnotatedSentence], training: Training, rng: np.random.Generator
) -> list[AnnotatedSentence]:
    """Return ``training.sentences`` random training sentences from each source of ``training``.

    They are drawn without replacement. If a source has fewer, or the number is 0, all its sentences are
    returned.
    """
    chosen: list[AnnotatedSentence] = []
    for source in SOURCES if training.corpus == "both" else (training.corpus,):
        pool = [row for row in sentences if row.split == "train" and row.group == source]
        chosen += _draw(pool, training.sentences, rng)
    return chosen


def _draw(rows: Sequence[AnnotatedSentence], size: int, rng: np.random.Generator) -> list[AnnotatedSentence]:
    """Return ``size`` random rows in their original order; all if there are fewer, or ``size`` is 0."""
    return [rows[index] for index in sorted(rng.permutation(len(rows))[: size or None])]


def count_spans(scheme: Scheme, sentences: Sequence[AnnotatedSentence], seed: int) -> pd.DataFrame:
    """Return how many entity spans a model finds exactly, with their type, in each report.

    Parameters
    ----------
    scheme : the model.
    sentences : the labelled sentences of the reports.
    seed : the seed that the model was trained with, for the column ``seed``.

    Returns
    -------
    DataFrame
        One row per report: ``seed``, ``case`` (source and report), ``source``, the numbers of ``matched``,
        ``predicted`` and ``gold`` spans, of ``correct_words`` and of all ``words``.

    Raises
    ------
    ValueError
        If there is no sentence.
    """
    if not sentences:
        raise ValueError("no sentence to count spans in; give at least one")
    rows = []
    for sentence, spans in zip(sentences, scheme.predict(list(map(reveal_tokens, sentences))), strict=True):
        scores = compare_spans([read_gold(sentence)], [spans], [len(sentence.tokens)])
        keys = {"seed": seed, "case": f"{sentence.group}/{sentence.report}", "source": sentence.group}
        word_counts = {"correct_words": scores.correct_words, "words": scores.words}
        rows.append({**keys, **asdict(scores.spans), **word_counts})
    return pd.DataFrame(rows).groupby(["seed", "case", "source"], sort=False, as_index=False).sum()
