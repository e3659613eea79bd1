"""Bad input that would otherwise give a number: each is refused, and the message names it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from radeval_lib.stats import (
    agreement,
    calibration,
    calibration_draws,
    correlations,
    measures,
    meta_evaluation,
    p_values,
    permutation,
    printed,
    printed_counts,
    proportions,
    reconstruction,
    resampling,
    system_comparison,
    temperature,
    tokens,
)

RNG = np.random.default_rng(0)
DRAWS: dict[str, Any] = {"resamples": 99, "rng": RNG}
CASES = ["a", "b", "c"]
PAIR = meta_evaluation.pairs_within(["a", "a"])
COUNTS = pd.DataFrame({"seed": [0], "case": ["a"], "matched": [1], "predicted": [1], "gold": [1]})


def _resampled(name: str) -> correlations.Resampled:
    ratings = np.arange(6.0)
    return correlations.resample({name: ratings, "rater": ratings}, ratings, kind="pearson", **DRAWS)


def _permutation_p(ratings: list[float], **settings: Any) -> float:
    return meta_evaluation.permutation_p(
        [1, 2, 3], [3, 2, 1], ratings, CASES, "pearson", **{**DRAWS, **settings}
    )


def _systems(**tables: np.ndarray) -> object:
    values = {"m": resampling.mean_of_sums}
    return system_comparison.compare_systems({"m": tables}, values, resamples=99, seed=0)


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    # agreement
    "a matrix that is not square": (lambda: agreement.upper_triangle([[1, 2, 3], [4, 5, 6]]), "shape"),
    "means of one rater": (lambda: agreement.means_of_pairs([[1.0]]), "two raters"),
    "limits of one item": (lambda: agreement.limits_of_agreement([1], [2]), "at least two"),
    "alpha of no unit": (lambda: agreement.interval_alpha(np.zeros((2, 0))), "shape"),
    "orders of nothing": (lambda: agreement.wilcoxon_by_order([]), "no table"),
    # calibration
    "a misspelt place of zeros": (
        lambda: calibration.static_calibration_error([[0.5, 0.5]], [0], zeros="drop"),  # type: ignore[arg-type]
        "'first bin' or 'dropped', not 'drop'",
    ),
    "no classifier": (lambda: calibration_draws.resample([], [0], ["a"], **DRAWS), "no classifier"),
    "an infinite temperature": (lambda: temperature.scale([[1, -np.inf]], np.inf), "finite"),
    # correlations and meta-evaluation
    "no rater left out": (lambda: correlations.beside_one_rater([]), "same metrics"),
    "raters with other metrics": (
        lambda: correlations.beside_one_rater([_resampled("bleu"), _resampled("rouge")]),
        "same metrics",
    ),
    "a preference of 5": (lambda: meta_evaluation.agrees([1, 2, 3], [1, 5, 0], CASES), "1, 0 and -1"),
    "a missing grade": (
        lambda: meta_evaluation.choices_of_raters([[1, np.nan], [2, 3]], PAIR),
        "grades holds a value that is missing",
    ),
    "grades of one rater": (lambda: meta_evaluation.choices_of_raters([[1], [2]], PAIR), "two raters"),
    "ratings that do not vary": (lambda: _permutation_p([1, 1, 1]), "do not vary"),
    "no permutation": (lambda: _permutation_p([1, 2, 3], resamples=0), "resamples must be at least 1"),
    "no permutation of groups": (
        lambda: meta_evaluation.superiority_p([1, 2], [3], resamples=0, rng=RNG),
        "resamples must be at least 1",
    ),
    "a p value of 5": (lambda: meta_evaluation.soft_pairwise_accuracy([5], [0.3]), "outside"),
    # p values
    "missing draws": (lambda: p_values.inversion_p([np.nan] * 50), "missing"),
    "no draw": (lambda: p_values.inversion_p([]), "shape"),
    "p values that are none": (lambda: p_values.holm([3, -1]), "from 0 to 1"),
    "systems with other cases": (
        lambda: p_values.randomization_p(np.ones((1, 1)), np.ones((4, 1)), lambda sums: sums, **DRAWS),
        "second has shape",
    ),
    "a missing statistic": (
        lambda: p_values.randomization_p(
            np.array([[np.nan], [1]]), np.ones((2, 1)), lambda sums: sums, **DRAWS
        ),
        "first holds a value that is missing",
    ),
    "no exchange": (lambda: p_values.is_enumerated(3, 0), "resamples must be at least 1"),
    "a missing score": (
        lambda: permutation.shuffled([[1, np.nan], [1, 2]], permutations=99, rng=RNG),
        "scores holds a value that is missing",
    ),
    "fewer than no permutation": (
        lambda: permutation.shuffled([[1, 3], [1, 2]], permutations=-3, rng=RNG),
        "permutations must be at least 1",
    ),
    # printed numbers
    "a misspelt coefficient": (lambda: printed.correlation_interval(0.5, 20, "kendal"), "'kendal'"),  # type: ignore[arg-type]
    "three correlations of 1": (lambda: printed.williams_test(1, 1, 1, 10), "nothing to vary"),
    "a correlation of 1.5": (lambda: printed.williams_test(1.5, 1.5, 1, 10), "impossible"),
    "a correlation that is missing": (lambda: printed.williams_test(np.nan, 0.5, 0.5, 10), "impossible"),
    "what a correlation of 1.5 needs": (lambda: printed.needed_between(1.5, 0.5, 10), "between -1 and 1"),
    "a negative standard error": (lambda: printed.two_sided_p(0.1, -0.1, 0.1), "0 or more"),
    "errors that correlate by 2": (lambda: printed.two_sided_p(0.1, 0.1, 0.1, 2), "from -1 to 1"),
    "no standard error": (lambda: printed.needed_correlation(0.1, 0, 0.1), "above 0"),
    "an interval with its ends exchanged": (
        lambda: printed.p_of_intervals((0.5, 0.6, 0.4), (0.3, 0.2, 0.4)),
        "in order",
    ),
    "an interval that rounding takes beyond 1": (
        lambda: printed.p_of_intervals((0.99, 0.98, 0.999), (0.3, 0.2, 0.4), 0.005),
        "between -1 and 1",
    ),
    "a share of no case": (lambda: printed_counts.counts_that_print(0.5, 0.05, 0), "no mean of 0 numbers"),
    "samples of no case": (
        lambda: printed_counts.possible_samples([(0.5, 0.4, 0.6)], 0.005, 0),
        "at least one of each",
    ),
    "a bound without cases": (lambda: proportions.rule_of_three(-3), "at least 1 case"),
    "a negative loss": (lambda: reconstruction.losses_of(0.9, 10, [-0.5, 1.0]), "positive"),
    "losses out of order": (lambda: reconstruction.losses_of(0.9, 10, [1.0, 0.5]), "rising"),
    "means of unequal numbers of raters": (
        lambda: reconstruction.tables_with([[1, 1], [1]], 2, {0.5: 0}, 0),
        "one mean per rater",
    ),
    # resampling and systems
    "no group": (lambda: next(resampling.drawn_counts(0, 3, RNG, 1)), "groups must be at least 1"),
    "a mean of one case": (lambda: resampling.widened(1), "at least 2 cases"),
    "no resample": (lambda: resampling.estimate(1, []), "no resample"),
    "a mean of no task": (lambda: resampling.mean_draws([]), "no task"),
    "tables of other cases": (
        lambda: resampling.draws([np.ones((1, 2, 1)), np.ones((1, 3, 1))], lambda sums: sums, **DRAWS),
        "same cases",
    ),
    "systems on one case": (lambda: _systems(a=np.ones((1, 2)), b=np.ones((1, 2))), "two or more"),
    "systems on other cases": (lambda: _systems(a=np.ones((3, 2)), b=np.ones((4, 2))), "same cases"),
    "a system with a missing value": (
        lambda: _systems(a=np.array([[1, 1], [np.nan, 1]]), b=np.ones((2, 2))),
        "m of a holds",
    ),
    "no system": (lambda: system_comparison.compare_systems({}, {}, resamples=9, seed=0), "one or more"),
    "a metric without values": (
        lambda: system_comparison.compare_systems({"m": {}}, {}, resamples=9, seed=0),
        "no values of the metric 'm'",
    ),
    "a level of 0": (lambda: system_comparison.cases_needed(0.5, 0), "above 0 and below 1"),
    # measures and texts
    "a missing column": (lambda: measures.by_seed(COUNTS.drop(columns="gold"), measures.MICRO), "gold"),
    "a missing seed": (
        lambda: measures.by_seed(COUNTS.assign(seed=np.nan), measures.MICRO),
        "without its seed",
    ),
    "lengths of one text": (lambda: tokens.length_statistics(["a"], tokens.words), "at least 2 texts"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    call, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        call()


def test_an_exchange_without_correlation_counts_as_large() -> None:
    # Ranks (1, 2) and (2, 1): exchanging one case of two leaves (1, 1) and (2, 2), which do not correlate.
    exchanges = meta_evaluation.permutation_p(
        [1, 2], [2, 1], [1, 2], ["a", "b"], "pearson", resamples=99, rng=np.random.default_rng(0)
    )
    assert exchanges == 1


def test_draws_that_are_all_undefined_speak_against_nothing() -> None:
    found = resampling.estimate(0.5, [np.nan, np.nan])
    assert np.isnan([found.low, found.high]).all()
    assert found.p == 1


def test_holm_keeps_a_missing_p_and_counts_it() -> None:
    assert p_values.holm([0.01, np.nan, 0.04]).tolist() == pytest.approx([0.03, np.nan, 0.08], nan_ok=True)
