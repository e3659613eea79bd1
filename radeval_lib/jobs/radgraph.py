"""Jobs that train the joint model of entities and relations for RadGraph F1, and their settings."""

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
    training_reports : number of random reports for each training run; 0 for all.
    training_seeds : number of training runs per initial model, with consecutive seeds from the run's seed on.
    initial_models : encoders to start from, one job each.
    training : settings of :class:`~radeval_lib.models.training.TrainingSettings` for all models, or a mapping
        from initial model to its settings.
    scored_pairs : number of pairs with planted errors to score.
    """

    training_reports: Size
    training_seeds: Size
    initial_models: list[str] = Field(min_length=1)
    training: dict[str, Any]
    scored_pairs: Size


def settings(profile: Profile) -> GraphSettings:
    """Return the section ``radgraph`` of a profile; raises ProfileError if it is missing or malformed."""
    return profile.section("radgraph", GraphSettings)


def job_list(profile: Profile) -> list[Job]:
    """Return one training job for each initial encoder. The model of the first job is kept for other
    notebooks."""
    section = settings(profile)
    return [
        Job.of(NOTEBOOK, init_model=name, reports=section.training_reports) for name in section.initial_models
    ]
