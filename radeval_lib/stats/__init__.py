"""Statistics of the study; notebooks take its functions from here, each found when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from radeval_lib.stats.agreement import kendall_matrix as kendall_matrix
    from radeval_lib.stats.agreement import mean_absolute_differences as mean_absolute_differences
    from radeval_lib.stats.agreement import upper_triangle as upper_triangle
    from radeval_lib.stats.agreement import wilcoxon_with_mean as wilcoxon_with_mean
    from radeval_lib.stats.comparisons import accuracies as accuracies
    from radeval_lib.stats.comparisons import compare_accuracies as compare_accuracies
    from radeval_lib.stats.comparisons import pairwise_mann_whitney as pairwise_mann_whitney
    from radeval_lib.stats.comparisons import preferences as preferences
    from radeval_lib.stats.comparisons import preferred as preferred
    from radeval_lib.stats.correlations import LEAST_GROUPS as LEAST_GROUPS
    from radeval_lib.stats.correlations import coefficient as coefficient
    from radeval_lib.stats.correlations import length_held_constant as length_held_constant
    from radeval_lib.stats.correlations import resample as resample
    from radeval_lib.stats.estimates import Estimate as Estimate
    from radeval_lib.stats.fact_counts import FactCounts as FactCounts
    from radeval_lib.stats.printed import counts_that_print as counts_that_print
    from radeval_lib.stats.printed import sums_that_print as sums_that_print
    from radeval_lib.stats.resampling import holm as holm
    from radeval_lib.stats.resampling import mean_difference as mean_difference
    from radeval_lib.stats.resampling import share_interval as share_interval
    from radeval_lib.stats.resampling import sum_estimates as sum_estimates
    from radeval_lib.stats.tokens import rouge_l as rouge_l
    from radeval_lib.stats.tokens import whitespace as whitespace
    from radeval_lib.stats.tokens import words as words

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


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)
