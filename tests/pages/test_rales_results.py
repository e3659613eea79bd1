"""Sentences about the fitted encoders, in each of their branches."""

import numpy as np
import pandas as pd

from radeval_lib.pages.rales.benchmark import about_encoders, about_validation
from radeval_lib.pages.rales.encoders import stand_in
from radeval_lib.pages.rales.leaderboard import SCORE, Scores
from radeval_lib.pages.rales.results import about_first, no_better_than_one_class


def made(**means: float) -> Scores:
    """Encoders whose resampled scores lie within a point of a mean."""
    names = tuple(means)
    rng = np.random.default_rng(0)
    draws = np.stack([means[name] + rng.uniform(-1, 1, 200) for name in names])
    return Scores(names, pd.DataFrame({SCORE: means}), {SCORE: draws})


def test_a_leader_is_sure_of_all_of_some_or_of_none() -> None:
    assert "every other encoder has an interval that excludes zero" in about_first(
        made(a=80.0, b=60.0, c=50.0)
    )
    assert about_first(made(a=80.0, b=79.9, c=50.0)).endswith("surely ahead of c, but b may be as good.")
    assert about_first(made(a=80.0, b=79.9)).endswith("so the order is open.")
    assert about_first(made(a=80.0, b=80.0, c=50.0)).startswith("a and b have the same NLU score")


def test_what_learned_only_the_largest_class_is_named() -> None:
    accuracy = pd.DataFrame({"all labels": {"a": 70.0, "b": 25.0}, "1 % of labels": {"a": 26.0, "b": 10.0}})
    told = no_better_than_one_class(accuracy, 26.0)
    assert told.endswith("a (1 % of labels, 26.0), b (all labels, 25.0) and b (1 % of labels, 10.0).")
    assert no_better_than_one_class(accuracy, 5.0).endswith("every classifier scores more.")


def test_only_what_the_profile_chose_is_described() -> None:
    assert about_encoders(["bert", "roberta"], "Open-i", generated=False) == ""
    assert about_validation(pd.DataFrame({"regime": ["all"], "validation": [9]})) == ""


def test_nothing_stands_in_for_the_papers_own_encoder_and_data() -> None:
    assert stand_in("BERT_base", "BERT_base", "") == ""
    assert stand_in("MiniLM", "BERT_base", "graph corpus from the generator, not RadGraph") == (
        "MiniLM, not BERT_base; graph corpus from the generator, not RadGraph"
    )
