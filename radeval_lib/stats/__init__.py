"""Statistics of the study; notebooks take its functions from here, each found when it is first used."""

from radeval_lib.lazy import names_of

_HOMES = {
    "radeval_lib.stats.agreement": (
        "kendall_matrix limits_of_agreement mean_absolute_differences mean_of_others upper_triangle"
    ),
    "radeval_lib.stats.base": "Estimate",
    "radeval_lib.stats.correlations": "LEAST_GROUPS coefficient resample",
    "radeval_lib.stats.inference": "preferences",
    "radeval_lib.stats.measures": "FactCounts",
    "radeval_lib.stats.printed": "counts_that_print sums_that_print",
    "radeval_lib.stats.resampling": "frame_estimates mean_difference share_interval sum_estimates",
    "radeval_lib.stats.tokens": "length_statistics rouge_l whitespace words",
}
__getattr__ = names_of(__name__, _HOMES)
