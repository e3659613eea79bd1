"""The cells of RaTEScore: one training of an NER model for each row of Tables 6 and 7, and their settings."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, model_validator

from radeval_lib.jobs.ratescore.ner_models import NOTEBOOK, SOURCES, Training
from radeval_lib.registry import SYNTHETIC
from radeval_lib.study.cells import Cell
from radeval_lib.study.profiles import Profile, Size

SchemeName = Literal["iob", "span"]


class RatescoreSettings(BaseModel, extra="forbid", frozen=True):
    """The section ``ratescore`` of a profile's ``experiments``.

    Attributes
    ----------
    recogniser_sentences : training sentences of each source for the NER model that other notebooks use.
    training_sentences, training_seeds : the same for each training of a comparison, and its seeds.
    starting_graphs : reports that a training learns from first where it starts from a tagger of graphs.
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
    """Return the profile's settings of this system."""
    return profile.section("ratescore", RatescoreSettings)


def trainings(profile: Profile) -> list[Training]:
    """Return the trainings of a profile: the study's NER model, then Table 6's rows, then Table 7's.

    Sources: Zhao et al. 2024, Tables 6 (schemes and initial models, both sources) and 7 (each source alone).
    Table 7 is not trained on generated sentences: of these half the test part is of each style, which decides
    the outcome. The NER model that the other notebooks use is the IOB scheme with the first model, on more
    sentences where the comparisons have few.
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


def cells(profile: Profile) -> list[Cell]:
    """Return the trainings as cells; the first keeps its model."""
    return [Cell.of(NOTEBOOK, **asdict(training)) for training in trainings(profile)]
