"""The jobs of RadGraph: trainings of the joint model of entities and relations, and their settings."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from radeval_lib.study.jobs import Job
from radeval_lib.study.profiles import Profile, Size

NOTEBOOK = "summarization/graph_training"


class GraphSettings(BaseModel, extra="forbid", frozen=True):
    """The section ``radgraph`` of a profile's ``experiments``.

    Attributes
    ----------
    training_reports : reports drawn for each training; 0: all.
    training_seeds : trainings per initial model, with the run's seed and those after it.
    initial_models : encoders to start from, one job each.
    training : settings of :class:`~radeval_lib.models.training.TrainingSettings`, and of the model by name.
    scored_pairs : pairs with controlled errors that are scored.
    """

    training_reports: Size
    training_seeds: Size
    initial_models: list[str] = Field(min_length=1)
    training: dict[str, Any]
    scored_pairs: Size


def settings(profile: Profile) -> GraphSettings:
    """Return the profile's settings for this system."""
    return profile.section("radgraph", GraphSettings)


def job_list(profile: Profile) -> list[Job]:
    """Return one training for each encoder; the first keeps its model, which is our extractor."""
    chosen = settings(profile)
    return [
        Job.of(NOTEBOOK, init_model=name, reports=chosen.training_reports) for name in chosen.initial_models
    ]
