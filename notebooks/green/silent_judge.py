"""A judge who never reports an error, beside the judges that the paper prints.

Source: Ostmeier et al. 2024, Tables 1, 2, 4 and 8.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import seaborn as sns

from notebooks.green.judge_models import COUNTS, LABELS, of_models
from notebooks.green.radiologists import KINDS, Counts, cases_of
from radeval_lib import plots
from radeval_lib.categories import LETTERS
from radeval_lib.data.rexval import RATERS
from radeval_lib.papers.printed_numbers import by_name
from radeval_lib.papers.rounding import rounding_range
from radeval_lib.stats import agreement
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.resampling import share_interval
from radeval_lib.study.runs import Run
from radeval_lib.text_format import in_words, with_interval


def against_silence(frame: pd.DataFrame) -> pd.DataFrame:
    """Printed mean absolute errors of counts, with ``share``: of that of a judge who reports none.

    ``frame``: printed cells with columns ``place`` and ``judge``; the rows of labels hold the mean counts. A
    place without such a row, or whose labels are 0, is a ValueError.
    """
    means = frame[(frame["statistic"] == "mean") & frame["quantity"].isin(COUNTS)]
    labels = means[means["judge"] == LABELS].set_index(["place", "quantity"])["value"].rename("silence")
    models = means[means["judge"] != LABELS].join(labels, on=["place", "quantity"])
    if not (models["silence"] > 0).all():
        place = models.loc[~(models["silence"] > 0), "place"].iloc[0]
        raise ValueError(f"{place}: no mean count of the labels above 0 to compare errors with")
    return models.assign(share=models["value"] / models["silence"])


def draw_silence(silence: pd.DataFrame) -> None:
    """Draw the shares of :func:`against_silence`, one panel per place, on a logarithmic axis."""
    figure, axes = plots.panels(3, 1, 2.1, sharex=True, height_ratios=[5, 2, 2])
    for axis, (place, part) in zip(axes, silence.groupby("place", sort=False), strict=True):
        looks = {"hue": "quantity", "style": "quantity", "markers": list(plots.MARKERS[:3]), "s": 65}
        sns.scatterplot(part, x="share", y="judge", ax=axis, legend=axis is axes[0], **looks)
        axis.axvline(1, color="black", linewidth=1, linestyle="--")
        axis.set(title=place, xlabel="Mean absolute error against reporting nothing", ylabel="", xscale="log")
        axis.margins(y=0.25)
        axis.minorticks_off()
        axis.set_xticks([0.2, 0.5, 1, 2, 3], ["0.2", "0.5", "1", "2", "3"])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    axes[0].get_legend().remove()
    sns.despine()


def possible_accuracies(counts: Counts) -> pd.DataFrame:
    """What radiologists' counts leave for the accuracy of Table 4, by category.

    ``counts``: ``significant``, ``insignificant`` and ``total``, of shape (pairs, 6, radiologists). Accuracy
    of a judge who reports none, and of one who counts best: a model counts in whole numbers, so that it
    cannot meet a mean that is not whole.
    """
    n = counts["total"].shape[2]
    whole = {kind: array.sum(axis=2) % n == 0 for kind, array in counts.items()}
    return pd.DataFrame(
        {
            "accuracy of silence, significant errors": (counts["significant"] == 0).all(axis=2).mean(axis=0),
            "accuracy of silence, all errors": (counts["total"] == 0).all(axis=2).mean(axis=0),
            "highest possible, significant errors": whole["significant"].mean(axis=0),
            "highest possible, all errors": (whole["significant"] & whole["insignificant"]).mean(axis=0),
        },
        index=[f"({letter})" for letter in LETTERS],
    ).T


def differences_beside_silence(fours: pd.DataFrame, counts: Counts) -> pd.DataFrame:
    """Mean differences from the mean of six radiologists, summed over categories: of silence, of the printed
    models, and of each expert from the other five."""
    rows = {}
    for kind in KINDS:
        cells = of_models(fours, f"{kind} errors")
        models = cells.loc[cells["statistic"] == "mean", "value"]
        silent = counts[kind].mean(axis=2).sum(axis=1).mean()
        by_category = np.moveaxis(counts[kind], 1, 0)
        experts = sum(np.abs(own - agreement.mean_of_others(own)) for own in by_category).mean(axis=0)
        rows[f"{kind} errors"] = {
            "silence": f"{silent:.2f}",
            "models": f"{models.min():.2f} to {models.max():.2f}",
            "models below silence": f"{(models < silent).sum()} of {len(models)}",
            "experts": f"{experts.min():.2f} to {experts.max():.2f}",
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def nearest_is_silence(
    fours: pd.DataFrame, ones: pd.DataFrame, counts: Counts, run: Run
) -> tuple[bool, dict[str, str]]:
    """Whether saying nothing comes nearer to the mean of six radiologists' significant counts than every
    printed model, and the numbers behind it, as texts.

    Differences are summed over categories (Table 4, ``fours``). It comes nearer only if it does so whatever
    the digits that print leaves out, with the whole interval from drawing cases, and if totals of a pair
    (Table 1, ``ones``), of which print has GREEN's row alone, decide nothing.

    The texts: ``silence``, its difference with the interval; ``models``, how many are printed, from ``least``
    to ``most``, ``nearer`` of them than silence; ``total``, the mean of GREEN's row, which is ``closer`` than
    silence to so many radiologists; ``pairs``.
    """
    cells = of_models(fours, "significant errors")
    models = cells[cells["statistic"] == "mean"]
    totals = counts["significant"].sum(axis=1)
    cases, n = cases_of(totals), run.profile.resamples
    silent = Estimate(*share_interval(totals.mean(axis=1), cases, resamples=n, rng=run.rng("silence")))
    nearer = int((models["value"] + models["half_width"] < silent.value).sum())
    least = float((models["value"] - models["half_width"]).min())
    # Silence misses a radiologist's total by that total; its mean over radiologists is ``silent`` too.
    row = by_name(ones[ones["rater"] == "GREEN"], "other")
    total = rounding_range(np.mean, list(row.values()))
    sure = silent.low <= total.low and total.high <= silent.high < least  # by totals nothing decides
    closer = sum(row[rater].high < mean for rater, mean in zip(RATERS, totals.mean(axis=0), strict=True))
    texts = {
        "total": f"{total.value:.2f}",
        "pairs": str(len(counts["significant"])),
        "silence": with_interval(silent.value, silent.low, silent.high, ".2f"),
        "closer": in_words(closer),
        "least": f"{models['value'].min():.2f}",
        "most": f"{models['value'].max():.2f}",
        "nearer": in_words(nearer),
        "models": in_words(len(models)),
    }
    return sure, texts


def against_labels(shares: Mapping[str, str]) -> str:
    """What the printed errors against GPT-4's labels come to; ``shares``: ``3 of 9`` and so on."""
    return (
        "Against GPT-4's labels, the printed mean absolute errors are smaller than those of a judge who "
        f"reports nothing in {shares['significant']} cells of significant errors, {shares['insignificant']} "
        f"of insignificant ones, and {shares['matched']} of matched findings."
    )


def against_radiologists(numbers: Mapping[str, str]) -> str:
    """The page's answer from six radiologists' counts; ``numbers``: of :func:`nearest_is_silence`."""
    return (
        f"Against the mean of six radiologists, {numbers['nearer']} of {numbers['models']} does: summed over "
        f"categories, saying nothing differs from their significant counts by {numbers['silence']} errors, "
        f"the printed models by {numbers['least']} to {numbers['most']}. Against one radiologist's total of "
        f"a pair, nothing printed decides: saying nothing differs by as much on average, GREEN by "
        f"{numbers['total']}, the mean of its row in Table 1."
    )
