"""Agreement of every metric, and of one radiologist, with radiologists' grades, on shared resamples of cases.

A table of draws has a column per metric. Row 0 holds the values on the data, each further row those of one
resample. The difference of two tables is such a table, too, if both come from the same resamples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import pandas as pd
from IPython.display import HTML
from matplotlib.figure import Figure
from scipy.stats import rankdata

from notebooks.across.trial_reviews import WORDS
from radeval_lib import plots
from radeval_lib.data import recorded
from radeval_lib.data.errors import AbsentDataError
from radeval_lib.data.radpref import SYSTEMS
from radeval_lib.data.recorded import Recording
from radeval_lib.data.records import FactRating, RatedPair
from radeval_lib.data.restricted import reveal
from radeval_lib.jobs.oriented_scores import (
    bootstrap_correlations,
    found_in_source,
    score_candidates,
    stored_scores,
)
from radeval_lib.metrics.base import Metric
from radeval_lib.placeholders import parse_placeholder
from radeval_lib.stats.agreement import pairs_within
from radeval_lib.stats.resampling import drawn_rows
from radeval_lib.stats.resampling import frame_estimates as estimates
from radeval_lib.study.runs import Run
from radeval_lib.tables import folded, search_table
from radeval_lib.text_format import with_interval

PERSON = "one radiologist"
PUBLISHED, RULES, SUBSTITUTES = "as published", "ours, by rules", "with substitute models"
_COLOURS = dict(zip((PUBLISHED, SUBSTITUTES, RULES), plots.PALETTE, strict=False))
SOURCE = "words found in the source"
_BY_RULES = ("observations", "green_rules", "green_rules_errors")


def rated_candidates(records: Sequence[RatedPair]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the candidates that all raters graded, and their grades (or negative errors), one column per
    rater.

    Returns
    -------
    tuple of DataFrame
        By the pair's id: ``reference``, ``candidate``, ``system``, ``case`` (a number per distinct
        reference), ``set`` (the candidates that were graded together; those of a case if ids name no set);
        and the grades.

    Raises
    ------
    AbsentDataError
        If no candidate has grades of two raters.
    """
    if not records:
        raise AbsentDataError("no rated pairs", remedy="Configure rated_pairs with a set that has some.")
    sign = {"errors": -1}.get(records[0].scale, 1)
    grades = pd.DataFrame({"id": r.id, "rater": r.rater, "grade": sign * r.rating} for r in records)
    wide = grades.pivot_table(index="id", columns="rater", values="grade", sort=False).dropna()
    texts = {r.id: (reveal(r.reference), reveal(r.candidate), SYSTEMS.get(r.group, r.group)) for r in records}
    columns = ["reference", "candidate", "system"]
    pairs = pd.DataFrame.from_dict(texts, orient="index", columns=columns).loc[wide.index]
    if wide.empty or wide.shape[1] < 2:
        problem = "no candidate has a grade from every rater, of two raters or more"
        raise AbsentDataError(
            problem, remedy="Configure rated_pairs with a set of several raters, such as radpref/grade"
        )
    case = pd.factorize(pairs["reference"])[0]
    named = [str(key).rpartition("/")[0] for key in pairs.index]
    sets = [name or f"case {number}" for name, number in zip(named, case, strict=True)]
    return pairs.assign(case=case, set=sets), wide


def with_findings(
    radpref: Recording, pairs: pd.DataFrame, scores: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return RadPref's candidates and their scores: ``pairs`` and ``scores`` if these are RadPref's, else
    what is stored.

    The candidates have ``system``, ``case``, ``grade`` (mean of the radiologists), ``reference_findings`` and
    ``candidate_findings`` (how many findings radiologists list), ``false`` and ``missing`` (how many they
    mark, means of the radiologists).
    """
    table, marks = radpref.table, radpref.parts["ratings"].groupby("number").mean()
    if not np.array_equal(table["case"], pairs["case"]):
        scores = stored_scores(radpref)
        pairs = table.assign(system=table["system"].map(SYSTEMS))
    listed = table[["reference_findings", "candidate_findings"]].set_axis(pairs.index)
    errors = {kind: marks.filter(regex=f"^{kind}_").sum(axis=1).to_numpy() for kind in ("false", "missing")}
    marked = pairs[["system", "case"]].assign(grade=marks["grade"].to_numpy(), **errors)
    return marked.join(listed), scores


def groups(metrics: Mapping[str, Metric], labels: Mapping[str, str]) -> pd.Series:
    """Return each metric's group by its label: as published, ours by rules, or with substitute models."""
    whose = {
        labels[title]: RULES
        if metric.name in _BY_RULES
        else PUBLISHED
        if labels[title] == title
        else SUBSTITUTES
        for title, metric in metrics.items()
    }
    return pd.Series(whose)


def differences(frame: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Return each column's value for the first minus that for the second of every two candidates of a set, by
    case."""
    first, second = pairs_within(pairs["set"].tolist()).T
    values = frame.to_numpy(dtype=np.float64)
    return pd.DataFrame(values[first] - values[second], pairs["case"].iloc[first], frame.columns)


def resample_agreement(
    scores: pd.DataFrame,
    grades: pd.DataFrame,
    cases: Sequence[object],
    *,
    run: Run,
    name: str,
    radiologist: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Resample cases and return τ_b of every metric, and of one radiologist (:data:`PERSON`), with the mean
    grade of the other radiologists, averaged over the radiologist who is left out.

    ``radiologist``: the grades of the radiologist who is left out, if not ``grades``.
    """
    left_out = [
        bootstrap_correlations(
            scores.assign(**{PERSON: (grades if radiologist is None else radiologist)[rater].to_numpy()}),
            grades.drop(columns=rater).mean(axis=1),
            cases,
            "kendall",
            run=run,
            name=name,
        )
        for rater in grades
    ]
    values = np.mean([agreement.values for agreement in left_out], axis=0)
    draws = np.mean([agreement.draws for agreement in left_out], axis=0)
    return pd.DataFrame(np.vstack([values, draws.T]), columns=left_out[0].names)


def by_system(
    scores: pd.DataFrame, grades: pd.DataFrame, pairs: pd.DataFrame, *, run: Run
) -> dict[str, pd.DataFrame]:
    """Return :func:`resample_agreement` within the pairs of each ``system``; ``pairs`` also has ``case``."""
    return {
        str(system): resample_agreement(
            scores.loc[of], grades.loc[of], pairs.loc[of, "case"], run=run, name="grade"
        )
        for system, of in pairs.groupby("system").groups.items()
    }


def within_system(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the mean of the systems' tables of :func:`by_system` or :func:`auc_by_system`."""
    return sum(tables.values()) / len(tables)


def auc_drawn(
    scores: pd.DataFrame, wrong: pd.Series, cases: Sequence[object], *, run: Run, name: str
) -> pd.DataFrame:
    """Resample cases and return each metric's AUC: how often a candidate that is not ``wrong`` scores higher
    than one that is; ties count half. Candidates whose ``wrong`` is NaN are drawn and then left out. The AUC
    is NaN in draws that lack one of the two kinds."""
    values, outcome = scores.to_numpy(np.float64), wrong.to_numpy(np.float64)
    rows = [np.arange(len(values)), *drawn_rows(np.asarray(cases), run.profile.resamples, run.rng(name))]
    aucs = np.full((len(rows), values.shape[1]), np.nan)
    for number, drawn_places in enumerate(rows):
        chosen = drawn_places[~np.isnan(outcome[drawn_places])]
        right = outcome[chosen] == 0
        n, m = int(right.sum()), int((~right).sum())
        if n and m:
            ranks = rankdata(values[chosen], axis=0)[right].sum(axis=0)
            aucs[number] = (ranks - n * (n + 1) / 2) / (n * m)
    return pd.DataFrame(aucs, columns=scores.columns)


def auc_by_system(
    scores: pd.DataFrame, wrong: pd.Series, pairs: pd.DataFrame, *, run: Run, name: str
) -> dict[str, pd.DataFrame]:
    """Return :func:`auc_drawn` within the pairs of each ``system``; ``pairs`` also has ``case``."""
    return {
        str(system): auc_drawn(scores.loc[of], wrong.loc[of], pairs.loc[of, "case"], run=run, name=name)
        for system, of in pairs.groupby("system").groups.items()
    }


def correlate_with_invented_facts(
    metrics: Mapping[str, Metric], facts: Sequence[FactRating], *, run: Run
) -> pd.DataFrame:
    """Return the correlation of every metric, and of overlap with the source (:data:`SOURCE`), with the rate
    of invented facts: below 0 if higher scores go with fewer invented facts.

    The overlap is the share of a summary's words, of more than three letters, that occur in the dialogue.

    Returns
    -------
    DataFrame
        One row per measure, the lowest first: ``value`` (Spearman), ``low``, ``high`` (cases resampled).
    """
    references = [reveal(fact.reference) for fact in facts]
    candidates = [reveal(fact.candidate) for fact in facts]
    scores = score_candidates(metrics, references, candidates)
    if parse_placeholder(candidates[0]):  # placeholders of texts: the overlap is stored
        scores[SOURCE] = recorded.column(candidates, "found_in_source")
    else:
        sources = [reveal(fact.source) for fact in facts]
        scores[SOURCE] = list(map(found_in_source, sources, candidates))
    rates, cases = [fact.hallucination for fact in facts], [fact.case for fact in facts]
    correlations = bootstrap_correlations(scores, rates, cases, "spearman", run=run, name="hallucinations")
    return correlations.intervals().set_index("metric")[["value", "low", "high"]].sort_values("value")


def reachable(values: Sequence[float]) -> float:
    """Return the rank correlation with ``values`` of a measure without ties that orders them perfectly: well
    below 1 if many values are equal."""
    ranks = pd.Series(values).rank()
    return float(ranks.std() / pd.Series(range(len(ranks))).std())


def on_reviews(metrics: Mapping[str, Metric], summaries: pd.DataFrame, *, run: Run) -> pd.DataFrame:
    """Return τ_b of metrics with the ratings of trial summaries: ``value``, ``low``, ``high`` by metric."""
    word_metrics = {title: metric.name for title, metric in metrics.items() if metric.name in WORDS}
    scores = summaries[list(word_metrics.values())].set_axis(list(word_metrics), axis=1)
    correlations = bootstrap_correlations(
        scores, summaries["rating"], summaries["case"], "kendall", run=run, name="facets"
    )
    return correlations.intervals().set_index("metric")[["value", "low", "high"]]


def format_intervals(drawn_values: pd.DataFrame, form: str = "z.2f") -> pd.Series:
    """Return each column's value and interval as text."""
    table = estimates(drawn_values)
    texts = [with_interval(row.value, row.low, row.high, form) for row in table.itertuples()]
    return pd.Series(texts, table.index)


def order_by_group(table: pd.DataFrame, whose: pd.Series) -> pd.DataFrame:
    """Return the rows of the metrics in ``whose``, sorted by group and, within a group, from high to low."""
    rows = table.loc[whose.index].assign(group=pd.Categorical(whose, [PUBLISHED, SUBSTITUTES, RULES]))
    return rows.sort_values(["group", "value"], ascending=[True, False])


def browse(pairs: pd.DataFrame, grades: pd.DataFrame, scores: pd.DataFrame) -> HTML:
    """Return a folded table to search: each pair's number, system, grades and scores. Higher scores are
    better."""
    radiologists = grades.set_axis([f"radiologist {n}" for n in range(1, grades.shape[1] + 1)], axis=1)
    shown = pairs[["system"]].join(radiologists.map("{:g}".format)).join(scores.map("{:.3f}".format))
    shown.insert(0, "pair", [f"pair {number}" for number in range(len(shown))])
    rows = [[escape(value) for value in row] for row in shown.to_numpy().tolist()]
    return folded(search_table(list(shown), rows, "pair 17"), "Every pair: grades and scores")


def draw_auc(table: pd.DataFrame, whose: pd.Series) -> None:
    """Draw each metric's AUC with its interval, coloured by group, and a line at chance."""
    _, axes = plots.panels(1, 1, 3.4)
    axes.axvline(0.5, color="0.6", linewidth=1)
    plots.intervals(axes, table, list(whose[table.index].map(_COLOURS)), size=28)
    axes.set(xlabel="AUC", xlim=(0, 1.02))


def forest(tables: Mapping[str, pd.DataFrame], whose: pd.Series) -> Figure:
    """Draw τ_b of each metric, and of one radiologist, with intervals: a marker per table of
    :func:`estimates`, coloured by group."""
    order = order_by_group(next(iter(tables.values())), whose)
    names = [*order.index, PERSON]
    colours = [*(_COLOURS[group] for group in order["group"]), plots.PALETTE[6]]
    figure, axes = plots.panels(1, 1, 5.6)
    for number, (title, table) in enumerate(tables.items()):
        rows, marker = table.loc[names], plots.MARKERS[number]
        places = np.arange(len(names)) + 0.26 * (number - (len(tables) - 1) / 2)
        axes.hlines(places, rows["low"], rows["high"], colors=colours, linewidth=1.2)
        axes.scatter(rows["value"], places, c=colours, marker=marker, s=22, zorder=3)
        axes.plot([], [], marker, color="0.4", label=title)
    for group, colour in _COLOURS.items():
        axes.plot([], [], color=colour, linewidth=4, label=group)
    plots.lines(axes, names)
    axes.set_xlabel("τ_b with the mean grade of the other radiologists")
    figure.legend(loc="outside upper left", ncols=2, fontsize=10.5)
    return figure
