"""What a profile may settle for RaLEs, and what is refused before anything is trained."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from notebooks.rales import fitting
from notebooks.rales.fitting import draw_stratified_order, resolve_encoder, take_share
from radeval_lib.errors import ParameterError, ProfileError
from radeval_lib.jobs import rales
from radeval_lib.jobs.rales import Dimension
from radeval_lib.jobs.rales_tasks import tasks
from radeval_lib.study.profiles import Profile, profile


def changed(**settings: Any) -> Profile:
    """Return the profile ``smoke`` with other settings for RaLEs."""
    smoke = profile("smoke")
    section = {**smoke.experiments["rales"], **settings}
    return smoke.model_copy(update={"experiments": {**smoke.experiments, "rales": section}})


MISSPELT = [{"documents": {"stanzas": 5}}, {"trials": {"stanza": 5}}, {"defaults": {"stanza/probes": {}}}]


@pytest.mark.parametrize("settings", [*MISSPELT, {"draws": {"all": 1}}])
def test_a_misspelt_task_or_regime_is_named(settings: dict[str, Any]) -> None:
    with pytest.raises(ProfileError):
        rales.settings(changed(**settings))


@pytest.mark.parametrize(
    "ends", [{"choices": (1.0,), "low": 1.0}, {"low": 0, "high": 1, "log": True}, {"low": 2, "high": 1}, {}]
)
def test_a_dimension_has_choices_or_ends(ends: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Dimension(**ends)


def test_a_setting_of_training_that_does_not_exist_is_named() -> None:
    task = tasks()["stanza"]
    item = cast(fitting.Plan, SimpleNamespace(task=task, defaults={"learning_rte": 0.1}))
    with pytest.raises(ParameterError):
        fitting.fit(item, 0, {})


@pytest.mark.parametrize(
    "name", ["shallow:untrained:minilm", "untrained:untrained:minilm", "shallow:in_domain", "in_domain"]
)
def test_prefixes_of_an_encoder_have_one_order(name: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError):
        resolve_encoder(name, layers=1, seed=0, folder=tmp_path)


@settings(deadline=None, max_examples=80)
@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=80), st.integers(0, 99))
def test_every_beginning_holds_each_stratum_in_its_share(strata: list[str], seed: int) -> None:
    order = draw_stratified_order(strata, np.random.default_rng(seed))
    assert sorted(order) == list(range(len(strata)))
    whole = Counter(strata)
    for size in range(1, len(strata) + 1):
        held = Counter(strata[position] for position in order[:size])
        for stratum, count in whole.items():
            assert abs(held[stratum] - size * count / len(strata)) < 2


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 300), st.integers(0, 9))
def test_smaller_subsets_are_within_larger_ones(size: int, seed: int) -> None:
    order = draw_stratified_order([position % 3 for position in range(size)], np.random.default_rng(seed))
    hundredth, tenth, everything = (set(take_share(order, share)) for share in (0.01, 0.1, 1.0))
    assert hundredth <= tenth <= everything == set(range(size))
    assert len(tenth) == -(-size // 10)  # rounded up, never empty
    assert len(hundredth) == -(-size // 100)
