"""The settings of GREEN's pages: how a language model learns to judge."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from radeval_lib.models.training import TrainingSettings
from radeval_lib.study.profiles import Profile, Size


class Settings(BaseModel):
    """The section ``green`` of a profile's ``experiments``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    start: str
    small: dict[str, int] = {}
    ranks: list[Size] = Field(min_length=1)
    examples: Size
    held: Size
    longest: Size
    answer: Size
    training: dict[str, Any]
    teaching: Size
    judging: Size
    worded: Size
    summarized: Size
    permuted: Size

    def tuning(self, seed: int, device: str) -> TrainingSettings:
        """The training's settings; the epoch is chosen by the likelihood of held-out analyses."""
        return TrainingSettings(**self.training, measure="likelihood", seed=seed, device=device)

    @property
    def effective_batch(self) -> int:
        """Examples that one step of the optimizer sees."""
        settings = self.tuning(0, "cpu")
        return settings.batch_size * settings.accumulate


def settings(profile: Profile) -> Settings:
    """The profile's settings of GREEN."""
    return profile.section("green", Settings)
