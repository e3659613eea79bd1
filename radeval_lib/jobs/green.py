"""The settings of GREEN's pages, and the freeze of the rule-based judge before it scores RadPref.

``freeze.yml`` records a digest of the judge's analyses and weighted errors on generated pairs. The digest
changes if a word, rule or weight changes, but not if code is moved or renamed.
"""

from __future__ import annotations

import re
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, field_validator

from radeval_lib import atomic, own_yaml
from radeval_lib.errors import RadevalError, did_you_mean
from radeval_lib.models.training import TrainingSettings
from radeval_lib.rules.generator import error_pairs
from radeval_lib.rules.judge import judge_pair
from radeval_lib.study.profiles import Profile, Size
from radeval_lib.study.runs import Run

CHEST = ("X-Ray", "CHEST")
"""Modality and anatomy of the reports that the generator makes for GREEN's pages."""
FREEZE = Path(__file__).with_name("freeze.yml")


class GreenSettings(BaseModel, extra="forbid", frozen=True):
    """The section ``green`` of a profile's ``experiments``: how a language model is trained as a judge.

    Attributes
    ----------
    start : the pretrained model that training starts from; empty for a small model with random weights.
    small : the sizes of that small model, as arguments of
        :func:`radeval_lib.models.language_model_judge.make_small_lm`.
    ranks : ranks of the low-rank adapters, one training run each; 0 trains all weights.
    examples : number of judged pairs to train on; 0 for all that are not held out.
    held : number of judged pairs in the test set, and again in the set that chooses the epoch.
    longest, answer : maximum number of tokens in an example, and in an answer.
    training : settings of :class:`~radeval_lib.models.training.TrainingSettings`, except the seed, device and
        measure.
    summarized : number of generated reports on the page about GREEN's summary.
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

    @field_validator("training")
    @classmethod
    def _check_training_keys(cls, training: dict[str, Any]) -> dict[str, Any]:
        """Return ``training``; raises ValueError for a key that is unknown or set elsewhere."""
        valid = {field.name for field in fields(TrainingSettings)} - {"measure", "seed", "device"}
        if (key := min(training.keys() - valid, default=None)) is not None:
            raise ValueError(f"cannot have key {key!r}. {did_you_mean(key, valid) or 'Remove it.'}".strip())
        return training

    def tuning(self, seed: int, device: str) -> TrainingSettings:
        """Return settings of a training run that chooses the epoch by the likelihood of held-out analyses.

        Raises ModelError if a number in ``training`` is too low.
        """
        return TrainingSettings(**self.training, measure="likelihood", seed=seed, device=device)


def settings(profile: Profile) -> GreenSettings:
    """Return the section ``green`` of a profile; raises ProfileError if it is missing or malformed."""
    return profile.section("green", GreenSettings)


def draw_seed(run: Run, name: str) -> int:
    """Return a seed from 0 to 2³¹ − 1, drawn from the random stream ``name`` of a run."""
    return int(run.rng(name).integers(2**31))


def read_freeze() -> dict[str, Any]:
    """Return the content of ``freeze.yml`` as a dictionary.

    The keys are ``date`` (of the freeze), ``digest`` (the value of :func:`digest_behaviour` on that date)
    and ``scored`` (how often RadPref has been scored).
    """
    return own_yaml.read(FREEZE)


def require_frozen() -> None:
    """Raise a RadevalError if the judge's behaviour has changed since ``freeze.yml`` recorded it."""
    if read_freeze()["digest"] != (digest := digest_behaviour()):
        remedy = f"Freeze it again before you score RadPref: set `digest` to {digest}, and `date` to today."
        raise RadevalError("the rule-based judge has changed since it was frozen", FREEZE.name, remedy)


def count_use() -> int:
    """Add one to the uses of RadPref (``scored`` in ``freeze.yml``), and return the new number."""
    uses = read_freeze()["scored"] + 1
    text = re.sub(r"(?m)^scored: \d+$", f"scored: {uses}", FREEZE.read_text(encoding="utf-8"))
    atomic.write_text(FREEZE, text)
    return uses


def digest_behaviour() -> str:
    """Return the SHA-256 of the rule-based judge's answers to 300 generated pairs, in hexadecimal digits.

    Half of the pairs are of chest radiographs, the others of any modality and anatomy.
    """
    digest = sha256()
    for modality_anatomy in (CHEST, None):
        for pair in error_pairs(150, seed=20240917, modality_anatomy=modality_anatomy):
            judgement = judge_pair(pair.reference.findings.text, pair.candidate.findings.text)
            digest.update(f"{judgement.analysis()}\n{judgement.weighted_errors:.9f}\n".encode())
    return digest.hexdigest()
