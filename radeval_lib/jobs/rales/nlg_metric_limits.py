"""The page on limits of metrics: whether they punish impressions that mean the same as their reference.

Source of the question: RaLEs (Zambrano Chaves et al. 2023), Appendix J.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.figure import Figure

from radeval_lib import plots
from radeval_lib.data import mediqa
from radeval_lib.jobs.rales.impression_versions import ERROR, FAIR, NORMAL, normal_pairs
from radeval_lib.rules.reader.observations import NO_FINDING, label, positive
from radeval_lib.stats.comparisons import preferences
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.proportions import wilson
from radeval_lib.study.checks import Check, Key, below, check_statement
from radeval_lib.study.runs import Run
from radeval_lib.text_format import joined

if TYPE_CHECKING:
    from radeval_lib.metrics.base import Metric


def scores(table: pd.DataFrame, metrics: Mapping[str, Metric]) -> pd.DataFrame:
    """``table`` with a column for each metric, by the name that ``metrics`` gives it."""
    references, candidates = table["reference"].tolist(), table["candidate"].tolist()
    columns = {name: metric.score(references, candidates).values for name, metric in metrics.items()}
    return table.assign(**columns)


def fairness(scored: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """How often a metric scores the candidate that means the same above the one with the error.

    Returns
    -------
    DataFrame
        Index ``phenomenon`` and ``metric``: the columns of :func:`radeval_lib.stats.comparisons.preferences`.
        A share of one half is chance, below it the metric prefers the error.
    """
    wrong = scored[scored["phenomenon"] == ERROR].set_index("report")[list(metrics)]
    found = {}
    for phenomenon in FAIR:
        better = scored[scored["phenomenon"] == phenomenon].set_index("report")[list(metrics)]
        if len(better):
            found[phenomenon] = preferences(better, wrong.loc[better.index])
    return pd.concat(found, names=["phenomenon", "metric"])


def noticed_errors(scored: pd.DataFrame, metric: str) -> Estimate:
    """Share of errors that cost points, with Wilson's 95 % interval, among references of the chest in which
    rules find one of the fourteen observations; ``n`` is their number. A ValueError where there are none."""
    wrong = scored[scored["phenomenon"] == ERROR]
    stated = wrong[[bool(positive(label(text)) - {NO_FINDING}) for text in wrong["reference"]]]
    if stated.empty:
        raise ValueError("no reference states one of the fourteen observations")
    hits, n = int((stated[metric] < 1).sum()), len(stated)
    return Estimate(hits / n, *wilson(hits, n), n=n)


def real_impressions(run: Run, metrics: Mapping[str, Metric]) -> pd.DataFrame:
    """:func:`scores` of the :func:`~radeval_lib.jobs.rales.impression_versions.normal_pairs` of MEDIQA's
    reports of Indiana: of its file, or as they are recorded."""
    if (path := run.find("mediqa2021")) is not None:
        return scores(normal_pairs(mediqa.load(path)), metrics)
    found = run.recording("mediqa2021").parts["impressions"]
    kind = found["normal"].map({1: NORMAL, 0: ERROR})
    columns = {title: found[metric.name] for title, metric in metrics.items()}
    return found[["case"]].assign(phenomenon=kind, **columns).rename(columns={"case": "report"})


def draw_fairness(fair: pd.DataFrame) -> Figure:
    """One panel per phenomenon: how often each metric prefers what means the same, with intervals."""
    shown = [name for name in FAIR if name in fair.index.get_level_values("phenomenon")]
    figure, grid = plots.panels(-(-len(shown) // 2), 2, height=2.4, sharey=True, squeeze=False)
    for ax in grid.flat[len(shown) :]:
        ax.remove()
    for ax, phenomenon in zip(grid.flat, shown, strict=False):
        ax.axvline(0.5, color="#888888", linewidth=1)
        plots.intervals(ax, fair.loc[phenomenon])
        n = int(fair.loc[phenomenon, "n"].iloc[0])
        ax.set(title=f"{fill(phenomenon, 15)}\n(n = {n})", xlim=(-0.04, 1.04))
        ax.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    figure.supxlabel("share of references", fontsize="medium")
    return figure


def limits_checks(fair: pd.DataFrame, metric: str) -> list[Check]:
    """Whether a metric punishes each phenomenon as much as an error: where it prefers the error, the paper's
    complaint holds; where it prefers what means the same, it does not; else it is inconclusive."""
    return [
        check_statement(
            Key("against one significant error", phenomenon, metric),
            "metrics unfairly penalize what is not wrong",
            f"prefers what means the same in {row['value']:.0%} [{row['low']:.0%}, {row['high']:.0%}] "
            f"of {int(row['n'])} references",
            below(row["low"], row["high"], 0.5),
        )
        for phenomenon, row in _of_metric(fair, metric).items()
    ]


def by_preference(fair: pd.DataFrame, metric: str) -> dict[int, list[str]]:
    """Phenomena for which a metric prefers what means the same (1) or the error (-1), or neither (0)."""
    sides = {
        name: int(row["low"] > 0.5) - int(row["high"] < 0.5) for name, row in _of_metric(fair, metric).items()
    }
    return {side: [name for name in sides if sides[name] == side] for side in (-1, 0, 1)}


def preference_words(fair: pd.DataFrame, metric: str) -> str:
    """:func:`by_preference` as what a sentence says of the metric, with the number of references."""
    numbers, sides = fair["n"].groupby(level="phenomenon").first(), by_preference(fair, metric)
    told = {
        -1: "prefers the wrong report to a right one with {}",
        1: "prefers a right one with {}",
        0: "does not clearly prefer either where the right one has {}",
    }
    parts = [
        words.format(joined([f"{name} (n = {numbers[name]:.0f})" for name in sides[side]], "or"))
        for side, words in told.items()
        if sides[side]
    ]
    return "; it ".join(parts)


def _of_metric(fair: pd.DataFrame, metric: str) -> dict[str, pd.Series]:
    """The rows of a metric by phenomenon."""
    return {name: fair.loc[(name, metric)] for name in FAIR if (name, metric) in fair.index}
