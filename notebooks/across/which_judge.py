"""Every metric against people's ratings, beside what one person reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pingouin as pg
from IPython.display import HTML
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from notebooks.green.ceilings import WEIGHTS
from radeval_lib import plots, tables
from radeval_lib.data.errors import AbsentDataError
from radeval_lib.data.radpref import MARKS, SIGNIFICANT
from radeval_lib.data.records import RatedPair
from radeval_lib.data.restricted import reveal
from radeval_lib.jobs.storing.oriented_scores import drawn, of_columns
from radeval_lib.stats import meta_evaluation
from radeval_lib.stats.correlations import beside_one_rater, coefficient
from radeval_lib.stats.inputs import FloatArray
from radeval_lib.stats.resampling import share_interval
from radeval_lib.study.runs import Run
from radeval_lib.text_format import with_interval

PERSON = "one grader"
SEVERITIES: dict[str, Mapping[str, float]] = {
    "errors by CRIMSON's weights": WEIGHTS,
    "every error alike": dict.fromkeys(WEIGHTS, 1.0),
    "errors that ask for action alone": {key: float(key in SIGNIFICANT) for key in WEIGHTS},
}
"""What an error that a radiologist marked counts for by its significance."""
BREAKS = 20
"""Ways to untie one rater's grades."""
RANDOM = "random numbers"
GUESSES = 200
"""Metrics of random numbers whose mean is what guessing is expected to reach; one alone may be lucky."""


def rated(records: Sequence[RatedPair]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Candidates that all raters graded, and their grades (or negative errors), one column per rater.

    Returns
    -------
    tuple of DataFrame
        By the pair's id: ``reference``, ``candidate``; ``case``: the same where the reference is, drawn
        together; ``set``: the candidates that were graded side by side, those of a case where ids name no
        set; and the grades.

    Raises
    ------
    AbsentDataError
        Where no candidate has grades of two raters.
    """
    if not records:
        raise AbsentDataError("no rated pairs", remedy="Fill rated_pairs with a set that has some.")
    sign = {"errors": -1}.get(records[0].scale, 1)
    grades = pd.DataFrame({"id": r.id, "rater": r.rater, "grade": sign * r.rating} for r in records)
    wide = grades.pivot_table(index="id", columns="rater", values="grade", sort=False).dropna()
    texts = {record.id: (reveal(record.reference), reveal(record.candidate)) for record in records}
    pairs = pd.DataFrame.from_dict(texts, orient="index", columns=["reference", "candidate"]).loc[wide.index]
    if wide.empty or wide.shape[1] < 2:
        wrong = "no candidate of the rated pairs has a grade by every rater, of whom there must be two"
        raise AbsentDataError(wrong, remedy="Fill rated_pairs with a set of several raters, as radpref/grade")
    case = pd.factorize(pairs["reference"])[0]
    named = [str(key).rpartition("/")[0] for key in pairs.index]
    sets = [name or f"case {number}" for name, number in zip(named, case, strict=True)]
    return pairs.assign(case=case, set=sets), wide


def differences(frame: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Every column's first candidate minus the second, of every two candidates of a set, by their case."""
    first, second = meta_evaluation.pairs_within(pairs["set"].tolist()).T
    values = frame.to_numpy(dtype=np.float64)
    return pd.DataFrame(values[first] - values[second], pairs["case"].iloc[first], frame.columns)


def show(table: pd.DataFrame, caption: str) -> HTML:
    """A table of :func:`agreement` as the page shows it."""
    wanted = {"τ_b": ["value", "low", "high"], "gap to one grader": ["below", "below_low", "below_high"]}
    shown = pd.DataFrame(
        {
            name: [with_interval(value, low, high, "z.2f") for value, low, high in table[columns].to_numpy()]
            for name, columns in wanted.items()
        },
        table.index,
    )
    shown.loc[PERSON, "gap to one grader"] = None
    return tables.show(shown, caption)


def agreement(
    frame: pd.DataFrame, grades: pd.DataFrame, cases: Sequence[object], *, run: Run, name: str
) -> pd.DataFrame:
    """τ_b of every metric, and of one rater, with the mean grade of the other raters.

    Returns
    -------
    DataFrame
        Index: the metrics and :data:`PERSON`, highest first. The columns of
        :func:`~radeval_lib.stats.correlations.beside_one_rater`, and ``all``: with the mean of all raters.
    """
    left_out = [
        drawn(
            frame.assign(**{PERSON: grades[rater].to_numpy()}),
            grades.drop(columns=rater).mean(axis=1),
            cases,
            "kendall",
            run=run,
            name=name,
        )
        for rater in grades
    ]
    everyone = grades.mean(axis=1).to_numpy()
    whole = [coefficient(frame[key], everyone, "kendall") for key in frame]
    found = beside_one_rater(left_out).assign(all=[*whole, np.nan])
    return found.sort_values("value", ascending=False)


def beside_untied_rater(
    frame: pd.DataFrame, grades: pd.DataFrame, cases: Sequence[object], *, run: Run, name: str
) -> pd.DataFrame:
    """As :func:`agreement`, but with the grades of the rater who is left out untied at random, in
    :data:`BREAKS` ways over which the mean is taken: τ_b rewards a rater who ties what the others tie, which
    scores of many values cannot."""
    left_out, rng = [], run.rng(f"{name} untied")
    for rater in grades:
        others = grades.drop(columns=rater).mean(axis=1)
        for _ in range(BREAKS):
            untied = grades[rater].sample(frac=1, random_state=rng).rank(method="first").reindex(grades.index)
            both = frame.assign(**{PERSON: untied})
            left_out.append(drawn(both, others, cases, "kendall", run=run, name=name))
    return beside_one_rater(left_out).sort_values("value", ascending=False)


def by_severity(run: Run) -> pd.DataFrame:
    """What RadPref says of metrics and of one grader, by its grades and by the errors that its radiologists
    marked under every one of :data:`SEVERITIES`; from what is recorded, the same in every edition.

    Returns
    -------
    DataFrame
        Index: ``grade`` and the weightings. ``best``, the title of the metric that agrees best; its
        ``value``, ``low`` and ``high``; ``person``, one grader's; ``below``, ``below_low``, ``below_high``:
        what the person has more; ``order``: the rank correlation of the metrics with their order by grade.
    """
    found = run.recording("radpref")
    table, marks = found.table, found.parts["ratings"]
    scores_ = of_columns(table[list(found.about["columns"])])
    rated_by = {"grade": marks["grade"]} | {
        name: -sum(marks[f"{kind}_{key}"] * weights[key] for kind, key in MARKS)
        for name, weights in SEVERITIES.items()
    }
    rows, orders = {}, {}
    for name, values in rated_by.items():
        wide = marks.assign(values=values).pivot(index="number", columns="rater", values="values")
        agreed = agreement(scores_, wide, table["case"], run=run, name="grade")
        own = agreed.drop(index=PERSON)
        rows[name] = own.iloc[0].drop(["all"]).to_dict() | {
            "best": own.index[0],
            "person": agreed.loc[PERSON, "value"],
        }
        orders[name] = own["value"].reindex(scores_.columns)
    order = {name: orders["grade"].corr(values, "spearman") for name, values in orders.items()}
    return pd.DataFrame.from_dict(rows, orient="index").assign(order=order)


def accuracy(
    frame: pd.DataFrame, grades: pd.DataFrame, pairs: pd.DataFrame, *, run: Run, name: str
) -> pd.DataFrame:
    """How often a metric says which of two candidates people prefer, or that neither is better; people are
    the other raters' mean where each is left out in turn, for metrics and for one rater alike.

    Returns
    -------
    DataFrame
        Index: the metrics, :data:`PERSON` and :data:`RANDOM`, highest first; ``value``, ``low``, ``high``,
        ``n`` (pairs).
    """
    of = meta_evaluation.pairs_within(pairs["set"].tolist())
    cases = [str(case) for case in pairs["case"].iloc[of[:, 0]]]

    def agreeing(scores_: ArrayLike) -> FloatArray:
        return meta_evaluation.choices_of_metric(scores_, grades, of, cases)

    hits = {str(key): agreeing(frame[key]) for key in frame}
    guesses = run.rng(f"{name} random").normal(size=(GUESSES, len(frame)))
    hits[RANDOM] = np.mean([agreeing(guess) for guess in guesses], axis=0)
    hits[PERSON] = meta_evaluation.choices_of_raters(grades, of)
    rows = {
        key: share_interval(hit, cases, resamples=run.profile.resamples, rng=run.rng(name))
        for key, hit in hits.items()
    }
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["value", "low", "high"])
    return table.assign(n=len(cases)).sort_values("value", ascending=False)


def leads(
    frame: pd.DataFrame, grades: pd.DataFrame, cases: Sequence[object], first: str, *, run: Run
) -> pd.DataFrame:
    """By how much one metric agrees better (τ_b) than every other, with two tests.

    Returns
    -------
    DataFrame
        Index: the rivals. ``difference``, ``low``, ``high``, ``p_holm`` from drawing cases; ``p_permuted``
        from exchanging the two metrics' scores case by case, corrected likewise.
    """
    mine, everyone, n = frame[first], grades.mean(axis=1), run.profile.resamples
    compared = drawn(frame, everyone, cases, "kendall", run=run, name="lead kendall").compare(first)
    table = compared.set_index("rival")[["difference", "low", "high", "p_holm"]]
    p = [
        meta_evaluation.permutation_p(
            mine, frame[rival], everyone, list(cases), "kendall", resamples=n, rng=run.rng(f"swap {rival}")
        )
        for rival in table.index
    ]
    return table.assign(p_permuted=pg.multicomp(p, method="holm")[1])


def forest(table: pd.DataFrame) -> Figure:
    """The metrics with their intervals, what one person reaches as a band behind them, and ``operations``, if
    the table has them, in a figure that a phone shows whole."""
    figure, axes = plots.panels(1, 1, 4.4)
    rows = table.drop(index=PERSON)
    axes.axvspan(*table.loc[PERSON, ["low", "high"]], color=plots.PALETTE[6], alpha=0.18, linewidth=0)
    axes.axvline(table.loc[PERSON, "value"], color=plots.PALETTE[6], linewidth=1)
    plots.intervals(axes, rows, size=28)
    axes.grid(visible=False)  # a line would look like a second value in the band
    axes.tick_params(axis="x", bottom=True)
    axes.set_xlabel("τ_b with the other raters' mean grade")
    if "operations" in rows:
        operations = [f"{billions:,.1f}" if billions else "none" for billions in rows["operations"]]
        for place, text in enumerate(["operations,\nin billions", *operations], start=-1):
            axes.text(1.03, place, text, transform=axes.get_yaxis_transform(), va="center", size="small")
    return figure
