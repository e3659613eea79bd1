"""Statistics of the study. Notebooks take these functions from here; each is imported when first used."""

from radeval_lib.registry import import_on_use

_HOMES = {
    "radeval_lib.stats.agreement": "limits_of_agreement mean_absolute_differences upper_triangle",
    "radeval_lib.stats.correlations": "MIN_GROUPS resample",
    "radeval_lib.stats.printed": "counts_that_print",
    "radeval_lib.stats.resampling": "frame_estimates share_interval sum_estimates",
    "radeval_lib.stats.tokens": "length_statistics rouge_l whitespace",
}
__getattr__ = import_on_use(__name__, _HOMES)
