"""The section ``green`` of a profile, how GREEN's pages ask the generator for reports, and the freeze of the
rule-based judge before it scores RadPref.

The freeze covers behaviour: a digest of the judge's analyses and weighted errors on generated pairs. Code may
be moved and renamed; a changed word, rule or weight shows.
"""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from radeval_lib import atomic, own_yaml
from radeval_lib.errors import RadevalError
from radeval_lib.models.training import TrainingSettings
from radeval_lib.rules.generator import error_pairs
from radeval_lib.rules.judge import judge_pair
from radeval_lib.study.profiles import Profile, Size
from radeval_lib.study.runs import Run

CHEST = ("X-Ray", "CHEST")
"""The generator's modality and anatomy of GREEN's reports."""
FREEZE = Path(__file__).with_name("freeze.yml")


class GreenSettings(BaseModel, extra="forbid", frozen=True):
    """The section ``green`` of a profile's ``experiments``: how a language model learns to judge.

    Attributes
    ----------
    start : the pretrained model that training starts from; empty for a small one with random weights.
    small : that small model's sizes, as ``language_model_judge.small_model`` takes them.
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
    """Return the profile's settings for GREEN."""
    return profile.section("green", GreenSettings)


def seed_of(run: Run, name: str) -> int:
    """Return a seed drawn from the run's stream of this name, for a generator that takes one."""
    return int(run.rng(name).integers(2**31))


def freeze() -> dict[str, Any]:
    """Return when the judge was frozen (``date``), its ``digest`` then, and how often RadPref was
    ``scored``."""
    return own_yaml.read(FREEZE)


def require_frozen() -> None:
    """Raise a RadevalError if the judge behaves differently from ``freeze.yml``, so RadPref is not scored."""
    if freeze()["digest"] != (now := behaviour()):
        remedy = f"First write its digest there, with a date: {now}."
        raise RadevalError("the judge is not frozen", FREEZE.name, remedy)


def count_use() -> int:
    """Add one to the count in ``freeze.yml`` of times RadPref was scored, and return it."""
    times = freeze()["scored"] + 1
    text = re.sub(r"(?m)^scored: \d+$", f"scored: {times}", FREEZE.read_text(encoding="utf-8"))
    atomic.write_text(FREEZE, text)
    return times


def behaviour() -> str:
    """Return the SHA-256 of the judge's answers to 300 generated pairs, half of them chest reports."""
    digest = sha256()
    for anatomy in (CHEST, None):
        for pair in error_pairs(150, seed=20240917, modality_anatomy=anatomy):
            judgement = judge_pair(pair.reference.findings.text, pair.candidate.findings.text)
            digest.update(f"{judgement.analysis()}\n{judgement.weighted_errors:.9f}\n".encode())
    return digest.hexdigest()
