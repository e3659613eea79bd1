"""What the page on unfair metrics draws, checks and says of :func:`phenomena.fairness`."""

from __future__ import annotations

import pandas as pd
from IPython.display import Markdown
from matplotlib.figure import Figure

from radeval_lib import plots
from radeval_lib.experiments.summarization.phenomena import FAIR
from radeval_lib.study.checks import Check, check_statement
from radeval_lib.wording import joined


def _side(row: pd.Series) -> int:
    """1 where a metric prefers what means the same, -1 where it prefers the error, 0 where neither."""
    return int(row["low"] > 0.5) - int(row["high"] < 0.5)


def draw_fairness(fair: pd.DataFrame) -> Figure:
    """One panel a phenomenon: how often each metric prefers what means the same, with intervals."""
    shown = [name for name in FAIR if name in fair.index.get_level_values("phenomenon")]
    figure, axes = plots.panels(1, len(shown), height=2.6, sharey=True)
    for ax, phenomenon in zip(axes, shown, strict=True):
        rows = fair.loc[phenomenon]
        places = range(len(rows))
        ax.axvline(0.5, color="#888888", linewidth=1)
        ax.hlines(places, rows["low"], rows["high"], colors=plots.PALETTE[0])
        ax.scatter(rows["value"], places, color=plots.PALETTE[0], zorder=3, s=22)
        ax.set(title=phenomenon.replace(", ", ",\n").replace("added ", "added\n"), xlim=(0, 1))
        ax.set_yticks(list(places), list(rows.index))
        ax.grid(axis="y", visible=False)
        ax.title.set_fontsize(9)
    axes[0].invert_yaxis()
    return figure


def limits_checks(fair: pd.DataFrame, metric: str) -> list[Check]:
    """Whether a metric punishes each phenomenon as much as an error: where it prefers the error, the paper's
    complaint holds; where it prefers what means the same, it does not; else it cannot be told."""
    checks = []
    for phenomenon in FAIR:
        if (phenomenon, metric) not in fair.index:
            continue
        row = fair.loc[(phenomenon, metric)]
        checks.append(
            check_statement(
                f"{metric}: {phenomenon} against one significant error",
                "metrics unfairly penalize what is not wrong",
                f"prefers what means the same in {row['value']:.0%} [{row['low']:.0%}, {row['high']:.0%}] "
                f"of {int(row['n'])} references",
                {1: False, 0: None, -1: True}[_side(row)],
            )
        )
    return checks


def limits_words(fair: pd.DataFrame, metric: str) -> Markdown:
    """The page's conclusion: what a metric prefers, by phenomenon.

    Raises
    ------
    ValueError
        Where the table has no phenomenon for the metric: nothing can be concluded.
    """
    sides = {
        phenomenon: _side(fair.loc[(phenomenon, metric)])
        for phenomenon in FAIR
        if (phenomenon, metric) in fair.index
    }
    if not sides:
        raise ValueError(f"the table has no phenomenon for {metric!r}, so there is nothing to conclude")
    wrong, doubtful, right = (
        joined([f"*{name}*" for name in sides if sides[name] == side]) for side in (-1, 0, 1)
    )
    if not wrong and not doubtful:
        return Markdown(
            f"**In short.** {metric} prefers a candidate that means the same to one with a significant "
            "error, whatever makes the two differ."
        )
    if not wrong and not right:
        return Markdown(
            f"**In short.** Whether {metric} prefers a candidate that means the same or one with a "
            "significant error cannot be told."
        )
    told = [f"prefers the error to {wrong}"] if wrong else []
    told += [f"prefers {right} to the error"] if right else []
    rest = f" For {doubtful} its preference cannot be told." if doubtful else ""
    return Markdown(
        "**In short.** Between a candidate that means the same as the reference and one with a significant "
        f"error, {metric} {joined(told)}.{rest}"
    )
