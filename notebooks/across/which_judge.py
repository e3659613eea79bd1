"""Agreement of each metric, and of one radiologist, with radiologists' grades, by a bootstrap over cases.

A *table of draws* has one column per metric. Row 0 has the values for the original data, and each further row
has those for one bootstrap resample of cases. The difference of two tables from the same resamples is a table
of draws of the differences.
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
from radeval_lib.stats.resampling import draw_rows
from radeval_lib.stats.resampling import frame_estimates as estimates
from radeval_lib.study.runs import Run
from radeval_lib.tables import folded, search_table
from radeval_lib.text_format import with_interval

# The radiologist who is left out of the mean grade, in tables that otherwise list metrics.
PERSON = "one radiologist"
# The groups of metrics (group_metrics).
PUBLISHED, RULES, SUBSTITUTES = "as published", "ours, by rules", "with substitute models"
_COLOURS = dict(zip((PUBLISHED, SUBSTITUTES, RULES), plots.PALETTE, strict=False))
# The measure that correlate_with_invented_facts adds to the metrics.
SOURCE = "words found in the source"
_RULE_BASED = ("observations", "green_rules", "green_rules_errors")


def select_rated_candidates(records: Sequence[RatedPair]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the candidates that all raters graded, and the grades.

    Returns
    -------
    pairs : DataFrame
        One row per candidate, indexed by its id: ``reference``, ``candidate``, ``system``,
        ``case`` (a number for each distinct reference), and ``set`` (the candidates that were graded
        together: the part of the id before the last slash or, for an id without a slash, the case).
    grades : DataFrame
        The same rows with one column per rater; higher is better. Counts of errors are negative.

    Raises
    ------
    AbsentDataError
        If there are fewer than two raters, or no candidate that all raters graded.
    """
    if not records:
        raise AbsentDataError("rated_pairs is empty", remedy="Configure it with a data set that has ratings.")
    sign = {"errors": -1}.get(records[0].scale, 1)
    ratings = pd.DataFrame({"id": r.id, "rater": r.rater, "grade": sign * r.rating} for r in records)
    grades = ratings.pivot_table(index="id", columns="rater", values="grade", sort=False).dropna()
    texts = {r.id: (reveal(r.reference), reveal(r.candidate), SYSTEMS.get(r.group, r.group)) for r in records}
    columns = ["reference", "candidate", "system"]
    pairs = pd.DataFrame.from_dict(texts, orient="index", columns=columns).loc[grades.index]
    if grades.empty or grades.shape[1] < 2:
        problem = f"the number of raters is {grades.shape[1]}, and {len(grades)} candidates have all grades"
        remedy = "Configure a data set whose candidates two or more raters graded, such as radpref/grade."
        raise AbsentDataError(problem, "rated_pairs", remedy)
    case = pd.factorize(pairs["reference"])[0]
    set_names = [str(key).rpartition("/")[0] for key in pairs.index]
    sets = [name or f"case {number}" for name, number in zip(set_names, case, strict=True)]
    return pairs.assign(case=case, set=sets), grades


def count_findings(
    radpref: Recording, pairs: pd.DataFrame, scores: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return how many findings and errors radiologists list for RadPref's candidates, and the scores.

    If ``pairs`` and ``scores`` are those of another data set, RadPref's stored ones replace them.

    Parameters
    ----------
    radpref : the stored set RadPref.
    pairs : one row per candidate, with ``system`` and ``case``.
    scores : one row per candidate and one column per metric; higher is better.

    Returns
    -------
    reports : DataFrame
        One row per candidate: ``system``, ``case``, ``grade`` (mean over radiologists), ``false`` and
        ``missing`` (number of findings with that mark, mean over radiologists), ``reference_findings`` and
        ``candidate_findings`` (number of findings listed in each text).
    scores : DataFrame
        One row per candidate and one column per metric; higher is better.
    """
    table, marks = radpref.table, radpref.parts["ratings"].groupby("number").mean()
    if not np.array_equal(table["case"], pairs["case"]):
        scores = stored_scores(radpref)
        pairs = table.assign(system=table["system"].map(SYSTEMS))
    findings = table[["reference_findings", "candidate_findings"]].set_axis(pairs.index)
    errors = {kind: marks.filter(regex=f"^{kind}_").sum(axis=1).to_numpy() for kind in ("false", "missing")}
    reports = pairs[["system", "case"]].assign(grade=marks["grade"].to_numpy(), **errors)
    return reports.join(findings), scores


def group_metrics(metrics: Mapping[str, Metric], labels: Mapping[str, str]) -> pd.Series:
    """Return the group of each metric, indexed by the metric's label.

    The group is :data:`RULES` for a rule-based metric. For another metric, it is :data:`PUBLISHED` if the
    label equals the title and :data:`SUBSTITUTES` if not, since such a label names a substitute model.
    ``metrics`` and ``labels`` map a metric's title to the metric and to its label.
    """
    group_by_label = {
        labels[title]: RULES
        if metric.name in _RULE_BASED
        else PUBLISHED
        if labels[title] == title
        else SUBSTITUTES
        for title, metric in metrics.items()
    }
    return pd.Series(group_by_label)


def subtract_within_sets(frame: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the values of one candidate minus those of another, for every two candidates of a ``set``.

    ``frame`` and ``pairs`` (with ``set`` and ``case``) have one row per candidate. The result has one row per
    two candidates, indexed by their case, and the columns of ``frame``.
    """
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
    """Return a table of draws of τ_b between each metric and the radiologists' mean grade.

    Each radiologist is left out of the mean grade in turn, and the values of τ_b are averaged. The column
    :data:`PERSON` has the τ_b of the radiologist who is left out.

    Parameters
    ----------
    scores, grades : one row per candidate, with one column per metric or per radiologist; higher is better.
    cases : the case of each candidate; the bootstrap draws whole cases.
    run : the page's run, for the number of resamples and the random stream.
    name : the name of the random stream (``run.rng``).
    radiologist : the grades of the radiologist who is left out; by default, those in ``grades``.

    Raises
    ------
    DataError
        If a value is missing, there are fewer than five cases, or scores or grades do not vary, in the data
        or in more than 5% of the resamples.
    """
    by_rater = [
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
    values = np.mean([agreement.values for agreement in by_rater], axis=0)
    draws = np.mean([agreement.draws for agreement in by_rater], axis=0)
    return pd.DataFrame(np.vstack([values, draws.T]), columns=by_rater[0].names)


def separate_agreement(
    scores: pd.DataFrame, grades: pd.DataFrame, pairs: pd.DataFrame, *, run: Run
) -> dict[str, pd.DataFrame]:
    """Return a mapping from system to the table of draws of :func:`resample_agreement` for its candidates.

    ``pairs`` has the columns ``system`` and ``case``; the three tables have the same index. Raises DataError
    as :func:`resample_agreement` does, for the candidates of any system.
    """
    return {
        str(system): resample_agreement(
            scores.loc[ids], grades.loc[ids], pairs.loc[ids, "case"], run=run, name="grade"
        )
        for system, ids in pairs.groupby("system").groups.items()
    }


def average_systems(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the mean of the systems' tables of draws, with equal weights.

    ``tables`` comes from :func:`separate_agreement` or :func:`separate_auc`.
    """
    return sum(tables.values()) / len(tables)


def resample_auc(
    scores: pd.DataFrame, wrong: pd.Series, cases: Sequence[object], *, run: Run, name: str
) -> pd.DataFrame:
    """Return a table of draws of the AUC of each metric (0 to 1).

    The AUC is the probability that a candidate that is not ``wrong`` scores higher than one that is; ties
    count half. It is NaN for a draw without candidates of both kinds. Candidates whose ``wrong`` is NaN are
    drawn with their case but do not count. ``name`` is the name of the random stream (``run.rng``).
    """
    values, outcome = scores.to_numpy(np.float64), wrong.to_numpy(np.float64)
    draws = [np.arange(len(values)), *draw_rows(np.asarray(cases), run.profile.resamples, run.rng(name))]
    aucs = np.full((len(draws), values.shape[1]), np.nan)
    for number, drawn in enumerate(draws):
        indices = drawn[~np.isnan(outcome[drawn])]
        is_right = outcome[indices] == 0
        n, m = int(is_right.sum()), int((~is_right).sum())
        if n and m:
            ranks = rankdata(values[indices], axis=0)[is_right].sum(axis=0)
            aucs[number] = (ranks - n * (n + 1) / 2) / (n * m)
    return pd.DataFrame(aucs, columns=scores.columns)


def separate_auc(
    scores: pd.DataFrame, wrong: pd.Series, pairs: pd.DataFrame, *, run: Run, name: str
) -> dict[str, pd.DataFrame]:
    """Return a mapping from system to the table of draws of :func:`resample_auc` for its candidates.

    ``pairs`` has the columns ``system`` and ``case``; the three tables have the same index.
    """
    return {
        str(system): resample_auc(scores.loc[ids], wrong.loc[ids], pairs.loc[ids, "case"], run=run, name=name)
        for system, ids in pairs.groupby("system").groups.items()
    }


def correlate_with_invented_facts(
    metrics: Mapping[str, Metric], facts: Sequence[FactRating], *, run: Run
) -> pd.DataFrame:
    """Return the rank correlation of each metric with the share of invented facts in a summary.

    A negative value means that summaries with more invented facts score lower. The measure :data:`SOURCE`,
    the share of a summary's words of more than three letters that occur in the dialogue, is treated as a
    further metric.

    Returns
    -------
    DataFrame
        One row per measure, the lowest value first: ``value`` (Spearman's ρ), ``low`` and ``high``
        (bounds of the 95% interval; whole cases are resampled).

    Raises
    ------
    DataError
        If a value is missing, there are fewer than five cases, or scores or shares do not vary, in the data
        or in more than 5% of the resamples.
    """
    references = [reveal(fact.reference) for fact in facts]
    candidates = [reveal(fact.candidate) for fact in facts]
    scores = score_candidates(metrics, references, candidates)
    if parse_placeholder(candidates[0]):  # Without the texts, the stored overlap is read.
        scores[SOURCE] = recorded.read_column(candidates, "found_in_source")
    else:
        sources = [reveal(fact.source) for fact in facts]
        scores[SOURCE] = list(map(found_in_source, sources, candidates))
    rates, cases = [fact.hallucination for fact in facts], [fact.case for fact in facts]
    correlations = bootstrap_correlations(scores, rates, cases, "spearman", run=run, name="hallucinations")
    return correlations.intervals().set_index("metric")[["value", "low", "high"]].sort_values("value")


def compute_highest_correlation(values: Sequence[float]) -> float:
    """Return the highest Spearman correlation with ``values`` that a measure without ties can reach: 1 if
    all values differ, and well below 1 if many are equal."""
    ranks = pd.Series(values).rank()
    return float(ranks.std() / pd.Series(range(len(ranks))).std())


def correlate_reviews(metrics: Mapping[str, Metric], summaries: pd.DataFrame, *, run: Run) -> pd.DataFrame:
    """Return τ_b between each general-purpose metric and the ratings of summaries of clinical trials.

    The metrics are those in :data:`~notebooks.across.trial_reviews.WORDS`; ``summaries`` is the table of
    :func:`~notebooks.across.trial_reviews.load_summaries`. The result has one row per metric, with ``value``,
    ``low`` and ``high`` (bounds of the 95% interval; whole reviews are resampled).

    Raises
    ------
    DataError
        If a value is missing, there are fewer than five reviews, or scores or ratings do not vary, in the
        data or in more than 5% of the resamples.
    """
    word_metrics = {title: metric.name for title, metric in metrics.items() if metric.name in WORDS}
    scores = summaries[list(word_metrics.values())].set_axis(list(word_metrics), axis=1)
    correlations = bootstrap_correlations(
        scores, summaries["rating"], summaries["case"], "kendall", run=run, name="facets"
    )
    return correlations.intervals().set_index("metric")[["value", "low", "high"]]


def format_intervals(draws: pd.DataFrame, form: str = "z.2f") -> pd.Series:
    """Return the value and 95% interval of each column of a table of draws as text: ``0.12 [0.05, 0.20]``.

    ``form`` is the format specification of each number.
    """
    table = estimates(draws)
    texts = [with_interval(row.value, row.low, row.high, form) for row in table.itertuples()]
    return pd.Series(texts, table.index)


def order_by_group(table: pd.DataFrame, group_of: pd.Series) -> pd.DataFrame:
    """Return the rows of the metrics in ``group_of``, sorted by group (:data:`PUBLISHED` first,
    :data:`RULES` last) and then by descending ``value``, with a column ``group`` added.

    ``group_of`` is the result of :func:`group_metrics`.
    """
    rows = table.loc[group_of.index].assign(group=pd.Categorical(group_of, [PUBLISHED, SUBSTITUTES, RULES]))
    return rows.sort_values(["group", "value"], ascending=[True, False])


def show_pairs(pairs: pd.DataFrame, grades: pd.DataFrame, scores: pd.DataFrame) -> HTML:
    """Return a folded, searchable table with one row per pair of texts.

    Its columns are the number of the pair (from 0), the system, the grade by each radiologist, and the score
    by each metric. The arguments have one row per pair, in the same order.
    """
    radiologists = grades.set_axis([f"radiologist {n}" for n in range(1, grades.shape[1] + 1)], axis=1)
    table = pairs[["system"]].join(radiologists.map("{:g}".format)).join(scores.map("{:.3f}".format))
    table.insert(0, "pair", [f"pair {number}" for number in range(len(table))])
    rows = [[escape(value) for value in row] for row in table.to_numpy().tolist()]
    return folded(search_table(list(table), rows, "pair 17"), "Every pair: grades and scores")


def draw_auc(table: pd.DataFrame, group_of: pd.Series) -> None:
    """Draw each metric's AUC with its interval, coloured by group, and a line at 0.5, the chance level.

    ``table`` has one row per metric with ``value``, ``low`` and ``high``. ``group_of`` is the result of
    :func:`group_metrics`.
    """
    _, axes = plots.panels(1, 1, 3.4)
    axes.axvline(0.5, color="0.6", linewidth=1)
    plots.draw_intervals(axes, table, list(group_of[table.index].map(_COLOURS)), size=28)
    axes.set(xlabel="AUC", xlim=(0, 1.02))


def draw_agreement(tables: Mapping[str, pd.DataFrame], group_of: pd.Series) -> Figure:
    """Draw τ_b of each metric, and of one radiologist, with its interval, once for each table.

    ``tables`` maps the title of a table in the legend to a result of
    :func:`~radeval_lib.stats.resampling.frame_estimates`; each table has its own marker. The metrics are
    ordered by the first table and coloured by group. ``group_of`` is the result of :func:`group_metrics`.
    """
    order = order_by_group(next(iter(tables.values())), group_of)
    names = [*order.index, PERSON]
    colours = [*(_COLOURS[group] for group in order["group"]), plots.PALETTE[6]]
    figure, axes = plots.panels(1, 1, 5.6)
    for number, (title, table) in enumerate(tables.items()):
        rows, marker = table.loc[names], plots.MARKERS[number]
        heights = np.arange(len(names)) + 0.26 * (number - (len(tables) - 1) / 2)
        axes.hlines(heights, rows["low"], rows["high"], colors=colours, linewidth=1.2)
        axes.scatter(rows["value"], heights, c=colours, marker=marker, s=22, zorder=3)
        axes.plot([], [], marker, color="0.4", label=title)
    for group, colour in _COLOURS.items():
        axes.plot([], [], color=colour, linewidth=4, label=group)
    plots.label_lines(axes, names)
    axes.set_xlabel("τ_b with the mean grade of the other radiologists")
    figure.legend(loc="outside upper left", ncols=2, fontsize=10.5)
    return figure
