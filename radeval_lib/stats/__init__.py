"""Statistics of the study; notebooks take its functions from here, each found when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from radeval_lib.stats.agreement import (
        kendall_matrix,
        mean_absolute_differences,
        upper_triangle,
        wilcoxon_with_mean,
    )
    from radeval_lib.stats.comparisons import (
        accuracies,
        compare_accuracies,
        pairwise_mann_whitney,
        preferences,
        preferred,
    )
    from radeval_lib.stats.correlations import LEAST_GROUPS, coefficient, length_held_constant, resample
    from radeval_lib.stats.estimates import Estimate
    from radeval_lib.stats.fact_counts import FactCounts
    from radeval_lib.stats.printed import counts_that_print, sums_that_print
    from radeval_lib.stats.resampling import holm, mean_difference, share_interval, sum_estimates
    from radeval_lib.stats.tokens import rouge_l, whitespace, words

_HOMES = {
    "radeval_lib.stats.agreement": (
        "kendall_matrix",
        "mean_absolute_differences",
        "upper_triangle",
        "wilcoxon_with_mean",
    ),
    "radeval_lib.stats.comparisons": (
        "accuracies",
        "compare_accuracies",
        "pairwise_mann_whitney",
        "preferences",
        "preferred",
    ),
    "radeval_lib.stats.correlations": ("LEAST_GROUPS", "coefficient", "length_held_constant", "resample"),
    "radeval_lib.stats.estimates": ("Estimate",),
    "radeval_lib.stats.fact_counts": ("FactCounts",),
    "radeval_lib.stats.printed": ("counts_that_print", "sums_that_print"),
    "radeval_lib.stats.resampling": ("holm", "mean_difference", "share_interval", "sum_estimates"),
    "radeval_lib.stats.tokens": ("rouge_l", "whitespace", "words"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "LEAST_GROUPS",
    "Estimate",
    "FactCounts",
    "accuracies",
    "coefficient",
    "compare_accuracies",
    "counts_that_print",
    "holm",
    "kendall_matrix",
    "length_held_constant",
    "mean_absolute_differences",
    "mean_difference",
    "pairwise_mann_whitney",
    "preferences",
    "preferred",
    "resample",
    "rouge_l",
    "share_interval",
    "sum_estimates",
    "sums_that_print",
    "upper_triangle",
    "whitespace",
    "wilcoxon_with_mean",
    "words",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)
