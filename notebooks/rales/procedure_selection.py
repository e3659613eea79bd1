"""The page on procedure selection: what its printed tables imply."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from notebooks.rales.printed_scores import GENERAL, SETTINGS, models
from radeval_lib import plots
from radeval_lib.papers.printed_numbers import printed, released
from radeval_lib.stats.printed_counts import counts_that_print, predictions_that_print
from radeval_lib.study.checks import WIDEST, Check, above, check_statement, under_every
from radeval_lib.text_format import out_of

_READ_N, _READ_F1 = 7, 0.1
"""How closely the dots of Figure 5 can be read."""
READ_TO = f"±{_READ_N} reports and ±{_READ_F1} points of F1"
_HALF_DIGIT = 0.0005  # percent are printed with one decimal: half of 0.1 percent, as a fraction
_PERCENTS = np.arange(1, 1001) / 1000  # all above 0 with one decimal, as fractions
_SLACK = 1e-9  # of quotients that are whole numbers, and of differences of decimals
_MOST = 1.01  # two probabilities of two decimals sum to at most 1, and to 0.01 more by rounding
_CONFIDENT = 0.9  # our reading: the paper says "confidently" and names no threshold
_TICKS = [20, 200, 2000]
_LABELS = {"CT UE WO contr": (4, 22), "CT Head WO contr": (-6, 8)}
"""Points right of and above the dot, where the usual place would touch another or leave the axes."""


def class_sizes(in_test: int, share: float) -> tuple[int, int]:
    """The least and the greatest class of which a stratified split puts ``in_test`` reports into a test set
    of that ``share``: its share of the class is rounded up or down."""
    return int(np.floor((in_test - 1) / share + _SLACK)) + 1, int(np.ceil((in_test + 1) / share - _SLACK)) - 1


def smallest_class(counts: pd.Series, share: float, least: float, left_out: float) -> tuple[str, bool | None]:
    """What is found of the smallest of the test set's ``counts``, and whether the whole class has ``least``
    reports, of those kept or of all selected, ``left_out`` more."""
    low, high = class_sizes(int(counts.min()), share)
    words = (
        f"{counts.idxmin()}: {counts.min():.0f} test reports, so {low} to {high} kept, "
        f"up to {left_out:.0f} more selected"
    )
    return words, under_every(above(low, high + more, least - 0.5) for more in (0, left_out))


def predicted_counts(by_class: pd.DataFrame) -> pd.DataFrame:
    """How often each class with a recall above 0 was predicted, ``low`` and ``high``, by its printed
    precision, recall and ``N``; NaN where no whole numbers print both."""
    counts = {}
    for name, row in by_class[by_class["recall"] > 0].iterrows():
        precision = 1.0 if row["precision"] == 1 else row["precision"] / 100  # a printed 1 means 100%
        ways = predictions_that_print(precision, row["recall"] / 100, int(row["N"]), _HALF_DIGIT)
        counts[name] = ways or (np.nan, np.nan)
    return pd.DataFrame.from_dict(counts, orient="index", columns=["low", "high"])


def whole_shares(by_class: pd.DataFrame) -> pd.DataFrame:
    """Whether recall and precision of each class are shares of whole reports: ``recall`` and ``precision``,
    and under ``recall_accepts`` and ``precision_accepts`` how many of the 1,000 percents above 0 with one
    decimal would have been.

    A recall is a share of the class's ``N``; a precision, of as many right answers as recall and ``N`` give,
    a share of any number of predictions from those on. A recall of 0 is a share of any ``N`` and leaves no
    precision: NaN.
    """
    predictable = predicted_counts(by_class)["low"].notna()
    by_class_name: dict[Hashable, tuple[bool, float, bool, float]] = {}
    for name, row in by_class.iterrows():
        n, share = int(row["N"]), row["recall"] / 100
        hits = counts_that_print(share, _HALF_DIGIT, n)
        if not share:
            by_class_name[name] = (True, np.nan, True, np.nan)
            continue
        right = np.array(hits, dtype=np.float64)
        recalls = float(np.mean([bool(counts_that_print(tried, _HALF_DIGIT, n)) for tried in _PERCENTS]))
        # Right answers over m predictions print p where m lies from right / (p + half) to right / (p - half).
        most = np.floor(right / (_PERCENTS[:, None] - _HALF_DIGIT) + _SLACK)
        fewest = np.maximum(np.ceil(right / (_PERCENTS[:, None] + _HALF_DIGIT) - _SLACK), right)
        precisions = float((most >= fewest).any(axis=1).mean())
        by_class_name[name] = (bool(hits), recalls, bool(predictable[name]), precisions)
    columns = ["recall", "recall_accepts", "precision", "precision_accepts"]
    return pd.DataFrame.from_dict(by_class_name, orient="index", columns=columns)


def check_whole_shares(by_class: pd.DataFrame) -> list[Check]:
    """Whether :func:`whole_shares` are possible. As with bounds, one that is not fails the check, it holds
    by those alone of which each accepts less than a quarter of all values, and those that would accept any
    value are left out."""
    shares = whole_shares(by_class)
    answers = {
        "recall": "recall is a whole number of reports out of N",
        "precision": "precision is right answers over whole predictions",
    }
    checks = []
    for name, words in answers.items():
        accepts = shares[f"{name}_accepts"]
        accepts = accepts[accepts < 1]
        if accepts.empty:
            continue
        possible = shares.loc[accepts.index, name].astype(bool)
        bound = int((accepts < WIDEST).sum())
        checks.append(
            check_statement(
                words,
                f"{len(accepts)} {name}s above 0, where not every value is possible",
                f"possible for {out_of(possible.sum(), len(accepts), str)}; for {bound} of them less than "
                "a quarter of all values would be",
                False if not possible.all() else True if bound else None,
            )
        )
    return checks


def rows_near(dots: pd.DataFrame, by_class: pd.DataFrame) -> list[pd.Index]:
    """For each dot of Figure 5 (``reports``, ``f1``) the rows of Table 15 that it may represent."""
    return [
        by_class.index[
            ((by_class["N"] - dot["reports"]).abs() <= _READ_N)
            & ((by_class["F1"] - dot["f1"]).abs() <= _READ_F1 + _SLACK)
        ]
        for _, dot in dots.iterrows()
    ]


def mean_accuracy() -> pd.Series:
    """Mean of the column *Procedure* of Tables 3, 9, 10 and 11, by ``labels`` and ``domain``."""
    domain = models().set_index("model")["domain"]
    rows = pd.concat({labels: printed(table) for labels, (table, _) in SETTINGS.items()}, names=["labels"])
    rows = rows[(rows["task"] == "Procedure") & rows["value"].notna()]
    return rows.groupby(["labels", rows["model"].map(domain).rename("domain")])["value"].mean()


def figure6() -> pd.DataFrame:
    """The heights of Figure 6's bars, as read off its image, by ``labels`` and ``domain``, named as in
    :func:`~notebooks.rales.printed_scores.models`: for ``all`` patients and for ``new`` ones."""
    bars = released("rales_figure6")
    bars["domain"] = bars["domain"].replace("English", GENERAL)
    return bars.set_index(["labels", "domain", "patients"])["accuracy"].unstack()


def check_examples(cases: pd.DataFrame, classes: Sequence[str]) -> list[Check]:
    """Checks of Table 14's internal consistency, and whether their procedures are ``classes``."""
    same = cases["reference"] == cases["predicted"]
    marked = (cases["correct"] == "yes") == same
    lead = cases["P(predicted)"] - cases["P(reference)"]
    likelier = (lead == 0).where(same, lead >= 0)  # of one class both columns have the probability
    together = cases[~same][["P(reference)", "P(predicted)"]].sum(axis=1).max()
    right, wrong = (cases[rows]["P(predicted)"].max() for rows in (same, ~same))
    named = {*cases["reference"], *cases["predicted"]}
    listed = len(named & set(classes))
    return [
        check_statement(
            "marked correct where reference and prediction are the same",
            "six marks",
            out_of(marked.sum(), len(cases), str),
            marked.all(),
        ),
        check_statement(
            "the predicted class is the more probable",
            "predictions (we ask for the most probable class)",
            f"{out_of(likelier.sum(), len(cases), str)}; sum at most {together:.2f} in the wrong ones",
            likelier.all() and together <= _MOST,
        ),
        check_statement(
            "highest confidence, right and wrong",
            f"may be confidently correct and incorrect (we ask for one of each at {_CONFIDENT})",
            f"right {right:.2f}, wrong {wrong:.2f}",
            min(right, wrong) >= _CONFIDENT,
        ),
        check_statement(
            "procedures of the examples in Table 15",
            "one of 46 titles",
            f"{out_of(listed, len(named), str)} names are rows there",
            listed == len(named),
        ),
    ]


def _report_axis(ax: Axes) -> None:
    """A logarithmic axis of test reports with round numbers."""
    ax.set(xscale="log", xlabel="test reports", xticks=_TICKS)
    ax.set_xticklabels([f"{tick:,}" for tick in _TICKS])
    ax.minorticks_off()


def draw_counts(counts: pd.Series) -> Figure:
    """Test reports of each procedure, in the order given."""
    fig, ax = plots.panels(1, 1, 12)
    ax.scatter(counts, range(len(counts)), s=30)
    plots.lines(ax, [fill(str(name), 40) for name in counts.index])  # the points need half of the width
    _report_axis(ax)
    ax.tick_params(axis="y", labelsize=10.5)
    plt.setp(ax.get_yticklabels(), linespacing=0.95, multialignment="right")
    return fig


def draw_rare(by_class: pd.DataFrame, labelled: pd.DataFrame) -> Axes:
    """F1 against number of test reports with both medians; the rows ``labelled`` are annotated."""
    ax = sns.scatterplot(by_class, x="N", y="F1", s=40, zorder=3)
    ax.axvline(by_class["N"].median(), color="#4D4D4D", linestyle="--", linewidth=1)
    ax.axhline(by_class["F1"].median(), color="#4D4D4D", linestyle="--", linewidth=1)
    for name, row in labelled.iterrows():
        plots.label_point(ax, str(name), (row["N"], row["F1"]), _LABELS.get(str(name), (9, 0)))
    _report_axis(ax)
    ax.set(ylabel="F1 (percent)", xlim=(15, 45_000), ylim=(-3, 100))
    return ax
