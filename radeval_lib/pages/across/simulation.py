"""The same quantities on generated and on real ratings: how far simulation can be trusted.

What is compared was fixed before the generator was calibrated: the errors that raters count, and the length
of reports, which the generator may be fitted to; and, of sets to which nothing was fitted, the agreement of
every metric with graders, by grade and by difference within a case, and with counted facts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray
from scipy.stats import kendalltau, norm, spearmanr

from radeval_lib import plots, roles
from radeval_lib.data.records import ErrorCount, FactRating, Report
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics.base import Metric
from radeval_lib.pages.across import which_judge
from radeval_lib.roles import generated, generated_facts, generated_ratings
from radeval_lib.stats.resampling import ends, holm
from radeval_lib.study.runs import Run
from radeval_lib.wording import with_interval

# `simulated` finds them by name; named here, so that the page is redone when they change.
_GENERATORS = (generated, generated_facts, generated_ratings)
PAIRS = 600
"""Generated pairs: three times RadPref's, so that the simulation's own noise is the smaller one."""
LETTERS = "abcdef"
LEVEL = 0.05
USED = ("rated_pairs", "fact_ratings", "error_counts", "reports")
"""Roles that real data must fill."""


def both_worlds(run: Run) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Everything that is compared: agreement on real and on generated ratings, as :func:`graded` has it, and
    in two columns what was fitted."""
    metrics = run.all_metrics()
    rated, fitted = [], {}
    for world, source in (("real", run.load), ("generated", partial(simulated, run))):
        pairs, facts = source("rated_pairs"), source("fact_ratings")
        rated.append(pd.concat([graded(metrics, pairs, run, world), with_facts(metrics, facts, run, world)]))
        fitted[world] = pd.concat([counted(source("error_counts")), written(source("reports"))])
    real, made = rated
    return real, made, pd.DataFrame(fitted)


def simulated(run: Run, role: str) -> list[Any]:
    """What the generator gives for a role, whatever fills it in this run."""
    size = PAIRS if role == "rated_pairs" else run.profile.sizes[role]
    return roles.load(role, roles.SYNTHETIC, size=size, seed=run.seed, root=None)


def counted(records: Sequence[ErrorCount]) -> pd.Series:
    """What raters count in a candidate: how many errors, of which kinds, and how far raters differ."""
    frame = pd.DataFrame(
        {"pair": f"{r.study}/{r.origin}", "case": r.study, "rater": r.rater, "kind": LETTERS[r.category - 1],
         "significant": r.significant, "count": r.count}
        for r in records
    )  # fmt: skip
    totals = frame.pivot_table(index=["case", "pair"], columns="rater", values="count", aggfunc="sum")
    mean, all_errors = totals.mean(axis=1), frame["count"].sum()
    one = [kendalltau(totals[rater], totals.drop(columns=rater).mean(axis=1)).statistic for rater in totals]
    kinds = frame.groupby("kind")["count"].sum() / all_errors
    return pd.Series(
        {
            "errors a candidate": mean.mean(),
            "standard deviation over candidates": mean.std(ddof=0),
            "standard deviation over cases": mean.groupby("case").mean().std(ddof=0),
            "share without an error": float((totals == 0).to_numpy().mean()),
            "share significant": frame.loc[frame["significant"], "count"].sum() / all_errors,
            "standard deviation over raters": totals.mean().std(ddof=0),
            "one rater with the others (τ_b)": np.mean(one),
            **{f"share of category {letter}": kinds.get(letter, 0.0) for letter in LETTERS},
        }
    )


def written(reports: Sequence[Report]) -> pd.Series:
    """How long findings are."""
    words = [len(reveal(report.findings).split()) for report in reports if report.findings]
    return pd.Series(
        {"words of findings, median": np.median(words), "90th percentile": np.quantile(words, 0.9)}
    )


def graded(metrics: Mapping[str, Metric], records: Sequence[Any], run: Run, world: str) -> pd.DataFrame:
    """Agreement of every metric with graders by grade and by difference, and of one grader.

    Returns
    -------
    DataFrame
        ``what`` (``grade`` or ``difference``), ``metric``, ``value``, ``low``, ``high``; ``draws``: the value
        in each resample, of the same cases for all metrics.
    """
    pairs, grades = which_judge.rated(records)
    scores = which_judge.scores(metrics, pairs)
    changes, wanted = (which_judge.differences(frame, pairs) for frame in (scores, grades))
    by = {
        "grade": (scores, grades, pairs["case"].tolist()),
        "difference": (changes, wanted, changes.index.tolist()),
    }
    found = {
        what: which_judge.with_others(ours, theirs, cases, run=run, name=f"{world} {what}")
        for what, (ours, theirs, cases) in by.items()
    }
    return pd.concat([_table(what, *values) for what, values in found.items()])


def _table(what: str, values: pd.Series, draws: NDArray[np.float64]) -> pd.DataFrame:
    low, high = ends(draws.T)
    columns = {"metric": values.index, "value": values.to_numpy(), "low": low, "high": high}
    return pd.DataFrame(columns).assign(what=what, draws=list(draws))


def with_facts(
    metrics: Mapping[str, Metric], records: Sequence[FactRating], run: Run, world: str
) -> pd.DataFrame:
    """Spearman's correlation of metrics of words with F1 of facts; columns as :func:`graded`."""
    words = {title: metric for title, metric in metrics.items() if metric.name in which_judge.WORDS}
    texts = [reveal(one.reference) for one in records], [reveal(one.candidate) for one in records]
    scores = which_judge.scored(words, *texts)
    facts, cases = [one.f1 for one in records], [one.case for one in records]
    drawn = which_judge.drawn(scores, facts, cases, "spearman", run=run, name=f"{world} facts")
    return _table("facts", drawn.intervals().set_index("metric")["value"], drawn.draws)


def comparisons(real: pd.DataFrame, made: pd.DataFrame) -> pd.DataFrame:
    """Every comparison of two metrics: whether the simulation decides it, and says what the ratings say.

    A world decides where the difference is not zero after Holm's correction over the comparisons by one
    ``what`` in that world; p is two-sided, by a normal approximation with the spread over resamples of the
    same cases.

    Returns
    -------
    DataFrame
        One row per ``what``: ``spearman`` of the values in both worlds, ``comparisons``, ``decided`` by
        the simulation, ``agree`` (of these, where the real values stand in the same order), ``both`` (decided
        in both worlds) and ``alike`` (of these, in the same order).
    """
    rows = {}
    for what, ours in real.groupby("what", sort=False):
        true = ours.set_index("metric").drop(index=which_judge.PERSON, errors="ignore")
        guess = made[made["what"] == what].set_index("metric").loc[true.index]
        pairs = list(combinations(true.index, 2))
        (leads, p), (guessed, p_guessed) = (
            np.transpose([_lead(side, *pair) for pair in pairs]) for side in (true, guess)
        )
        same, decided = leads * guessed > 0, holm(p_guessed) < LEVEL
        both = decided & (holm(p) < LEVEL)
        rows[what] = {
            "spearman": spearmanr(true["value"], guess["value"]).statistic,
            "comparisons": len(pairs),
            "decided": decided.sum(),
            "agree": (decided & same).sum(),
            "both": both.sum(),
            "alike": (both & same).sum(),
        }
    return pd.DataFrame([*rows.values()], index=list(rows))


def _lead(side: pd.DataFrame, one: str, other: str) -> tuple[float, float]:
    """What one metric leads another by, and p of no lead."""
    lead = side.loc[one, "value"] - side.loc[other, "value"]
    spread = float(np.std(side.loc[one, "draws"] - side.loc[other, "draws"], ddof=1))
    return lead, 2 * float(norm.sf(abs(lead) / spread)) if spread else float(lead == 0)


def scatter(axes: Axes, real: pd.DataFrame, made: pd.DataFrame, what: str) -> None:
    """Simulated against real agreement with intervals, a point a metric; the diagonal is equality."""
    true = real[real["what"] == what].set_index("metric")
    guess = made[made["what"] == what].set_index("metric").loc[true.index]
    axes.axline((0, 0), slope=1, color=plots.PALETTE[6], linestyle=":", linewidth=1)
    x, y = (np.abs(side[["low", "high"]].to_numpy().T - side["value"].to_numpy()) for side in (guess, true))
    axes.errorbar(guess["value"], true["value"], xerr=x, yerr=y, fmt="o", color=plots.PALETTE[0], linewidth=1)
    line = {"arrowstyle": "-", "color": plots.PALETTE[6], "linewidth": 0.5, "shrinkB": 4}
    heights = np.linspace(0.97, 0.03, len(true))  # names stand at the right, in the order of the points
    for metric, height in zip(true["value"].sort_values(ascending=False).index, heights, strict=True):
        axes.annotate(
            metric, (guess.loc[metric, "value"], true.loc[metric, "value"]), (1.04, height),
            textcoords="axes fraction", va="center", fontsize=9, arrowprops=line,
        )  # fmt: skip
    axes.set(xlabel="on generated ratings", ylabel="on real ratings")


def side_by_side(real: pd.DataFrame, made: pd.DataFrame) -> pd.DataFrame:
    """Agreement in both worlds as texts: one row per metric, a column each for what and world."""
    columns = {}
    for what, rows in real.groupby("what", sort=False):
        for world, frame in (("real", rows), ("generated", made[made["what"] == what])):
            intervals = [with_interval(row.value, row.low, row.high, ".2f") for row in frame.itertuples()]
            columns[f"{what}, {world}"] = pd.Series(intervals, index=frame["metric"])
    return pd.DataFrame(columns).reindex(real["metric"].unique()).fillna("–")
