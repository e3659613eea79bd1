"""The settings of GREEN's pages: how a language model learns to judge."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from radeval_lib.models.training import TrainingSettings
from radeval_lib.study.profiles import Profile, Size


class Settings(BaseModel):
    """The section ``green`` of a profile's ``experiments``.

    Attributes
    ----------
    start : the causal language model that fine-tuning starts from, a folder or hub name in safetensors; empty
        for a small one with weights drawn at random.
    small : vocabulary, width and layers of that one.
    ranks : of low-rank adapters, one training for each; 0 trains all weights.
    examples, held : how many judged pairs it learns from, and how many are held out, once to choose the epoch
        and once to say what was learned; 0 examples: all others.
    longest : tokens of prompt and analysis.
    answer : tokens of an answer.
    training : what differs from the defaults of :class:`~radeval_lib.models.training.TrainingSettings`.
    teaching, judging : generated pairs of each of the five heuristics that small judges learn from, and are
        tried on.
    worded : pairs on which the wording of analyses is compared, because that takes an encoder.
    summarized : pairs whose analyses become one summary.
    permuted : pairs of the comparison of heuristics.
    """

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
