"""The section ``green`` of a profile, and how GREEN's pages ask the generator for reports."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from radeval_lib.models.training import TrainingSettings
from radeval_lib.study.profiles import Profile, Size
from radeval_lib.study.runs import Run

CHEST = ("X-Ray", "CHEST")
"""The generator's modality and anatomy of GREEN's reports."""


class GreenSettings(BaseModel, extra="forbid", frozen=True):
    """The section ``green`` of a profile's ``experiments``: how a language model learns to judge.

    Attributes
    ----------
    start : the pretrained model that training starts from; empty for a small one with random weights.
    small : that small model's sizes, as ``language_model.small_model`` takes them.
    ranks : of the low-rank adapters, one training each; 0 trains all weights.
    examples : judged pairs to learn from; 0: all that are left.
    held : judged pairs held out, and as many again to choose the epoch by.
    longest, answer : most tokens of an example, and of an answer.
    training : the trainer's settings.
    summarized : generated reports on the page of the summary.
    """

    start: str
    small: dict[str, int] = {}
    ranks: list[Size] = Field(min_length=1)
    examples: Size
    held: Size
    longest: Size
    answer: Size
    training: dict[str, Any]
    summarized: Size

    def tuning(self, seed: int, device: str) -> TrainingSettings:
        """Return the training's settings; the epoch is chosen by the likelihood of held-out analyses."""
        return TrainingSettings(**self.training, measure="likelihood", seed=seed, device=device)


def settings(profile: Profile) -> GreenSettings:
    """Return the profile's settings of GREEN."""
    return profile.section("green", GreenSettings)


def seed_of(run: Run, name: str) -> int:
    """Return a seed for a generator that takes one, drawn from the run's stream of this name."""
    return int(run.rng(name).integers(2**31))
