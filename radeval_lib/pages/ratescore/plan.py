"""The cells of RaTEScore: one training of an NER model for each row of Tables 6 and 7, and their settings."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal

from pydantic import BaseModel

from radeval_lib.pages.ratescore.ner_models import NOTEBOOK, SOURCES, Training
from radeval_lib.registry import SYNTHETIC
from radeval_lib.study.cells import Cell
from radeval_lib.study.profiles import Profile, Size

Scheme = Literal["iob", "span"]


class RatescoreSettings(BaseModel, extra="forbid", frozen=True):
    """The section ``ratescore`` of a profile's ``experiments``."""

    recogniser_sentences: Size
    training_sentences: Size
    training_seeds: Size
    starting_graphs: Size
    initial_models: dict[Scheme, list[str]]
    trim: bool
    training: dict[Scheme, dict[str, Any]]


def settings(profile: Profile) -> RatescoreSettings:
    """The profile's settings of this system."""
    return profile.section("ratescore", RatescoreSettings)


def trainings(profile: Profile) -> list[Training]:
    """The trainings of a profile: the study's NER model, then Table 6's rows, then Table 7's.

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
    """The trainings as cells; the first keeps its model."""
    return [Cell.of(NOTEBOOK, **asdict(training)) for training in trainings(profile)]
