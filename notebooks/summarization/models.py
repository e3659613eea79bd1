"""Compare summarizers by training set and test pair; count perfect observation scores of dissimilar ones.

A table of scores has one row per summary, with columns ``seed``, ``system``, ``train_set``, ``case``,
``group`` and one column per metric, where higher is better.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes

from notebooks.summarization.comparison import estimate_mean, subtract_means
from radeval_lib import plots
from radeval_lib.jobs import summarization
from radeval_lib.jobs.summarization import ALL, TRAINED, UNSEEN, describe_systems
from radeval_lib.registry import JOB_MODEL
from radeval_lib.stats.base import Estimate
from radeval_lib.study.checks import Check, check_statement
from radeval_lib.study.page_runs import Basis, PageRun
from radeval_lib.text_format import joined, out_of

_PAPER_PREFIXES = ("T5", "BART", "BioBART")
"""Prefixes of the names of the paper's systems."""
_LOW_ROUGE_L = 0.2
"""The ROUGE-L below which a summary counts as dissimilar to its reference."""


def find_paper_systems(systems: Iterable[str]) -> list[str]:
    """Return the names of the systems that the paper tests or, if there are none, all names."""
    names = list(systems)
    return [name for name in names if name.startswith(_PAPER_PREFIXES)] or names


def find_basis(run: PageRun, names: Sequence[str] = (), *, graphs: bool = False) -> Basis:
    """Return the evidence, implementation and substitutes on which the results of some systems rest.

    The implementation is the paper's only if all these systems, and the graph model if it is used, are the
    paper's.

    Parameters
    ----------
    run : the page's run.
    names : the names of the systems; by default, the paper's systems or, without any, all systems.
    graphs : whether the results also use a graph model.
    """
    systems = summarization.settings(run.profile).systems
    names = names or find_paper_systems(systems)
    ours = {name: systems[name] for name in names if not name.startswith(_PAPER_PREFIXES)}
    models = {"graph_model": "radgraph:radgraph"} if graphs else {}
    basis = run.basis({"anatomy_summaries": "mimic3_rrs+mimic_cxr_rrs"}, models)
    if graphs and run.source_of("models", "graph_model").startswith(JOB_MODEL):
        basis = basis.with_own("the graph model learned from generated reports")
    if not ours:
        return basis
    return basis.with_own(
        f"{describe_systems(ours, run.profile.models['encoder'])}, not {joined(list(_PAPER_PREFIXES))}"
    )


def select_rows(scores: pd.DataFrame, system: str, *, train_set: str = "") -> pd.DataFrame:
    """Return the rows of ``scores`` for a system with one training set.

    If ``train_set`` is empty, these are the scores on each pair after training on the same pair. A system
    that is not trained keeps all its rows.
    """
    rows = scores[scores["system"] == system]
    if train_set:
        return rows[rows["train_set"].isin([train_set, ""])]
    return rows[(rows["train_set"] == rows["group"]) | (rows["train_set"] == "")]


def arrange_means(scores: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the mean score on a metric for each training set (rows) and each test pair (columns).

    The training set ALL is the last row; pairs without a training set are the last columns. A mean without
    any score is NaN. ``metric`` is the column of scores.
    """
    means = scores.pivot_table(index="train_set", columns="group", values=metric, aggfunc="mean")
    return means.reindex(index=[*TRAINED, ALL], columns=[*TRAINED, *UNSEEN])


def draw_grid(axes: Axes, table: pd.DataFrame) -> None:
    """Draw the table that :func:`arrange_means` returned, times 100, as a heat map on ``axes``.

    A horizontal line separates the training set ALL from the others; a vertical line separates the pairs with
    a training set from those without.
    """
    style = {"cmap": "Blues", "linewidths": 0.5, "annot_kws": {"size": 11}}
    plots.draw_heat_map(axes, 100 * table.astype(float), slant=60, fmt=".0f", **style)
    axes.axvline(len(TRAINED), color=plots.PALETTE[1], linewidth=2)
    axes.axhline(table.index.get_loc(ALL), color=plots.PALETTE[1], linewidth=2)
    axes.set(xlabel="tested on", ylabel="trained on")


def tabulate_means(run: PageRun, scores: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the mean score on a metric of each system (rows) trained and tested on each pair (columns).

    The last column, ``all tests``, has the mean over these pairs with its 95% confidence interval, as a
    string.

    Parameters
    ----------
    run : the page's run, for the number of resamples and the random stream.
    scores : a table of scores.
    metric : the column of scores, from 0 to 1.

    Raises
    ------
    ValueError
        If a system was not trained on any pair, or a score is missing (:func:`select_rows`,
        :func:`~notebooks.summarization.comparison.estimate_mean`).
    """
    tested = scores[scores["group"].isin(TRAINED)]
    rows = {}
    for system in tested["system"].drop_duplicates():
        own_rows = select_rows(tested, system)
        means = own_rows.groupby("group")[metric].mean().reindex(TRAINED)
        mean = estimate_mean(run, own_rows, metric, system)
        rows[system] = {**means.to_dict(), "all tests": f"{mean:.3f}"}
    return pd.DataFrame.from_dict(rows, orient="index")


def format_counts(rows: pd.DataFrame) -> str:
    """Return the number of test reports per pair as a phrase, such as "31 of each pair".

    If the number differs between pairs, the phrase has the lowest and the highest: "31 to 40 of each pair".
    ``rows`` are scores with the columns ``group`` (the pair) and ``case``.
    """
    counts = sorted(set(rows.groupby("group")["case"].nunique()))
    return f"{' to '.join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))} of each pair"


def name_tests(metric: str, rows: Mapping[str, pd.DataFrame]) -> str:
    """Return a phrase such as "test reports (ROUGE-L; Lead-3 learns nothing)".

    It has ``metric``, the title of the metric, and the names of the untrained systems. ``rows`` maps systems
    to their scores.
    """
    untrained = [name for name, scores in rows.items() if scores["train_set"].eq("").all()]
    verb = "learns" if len(untrained) == 1 else "learn"
    return f"test reports ({metric}{f'; {joined(untrained)} {verb} nothing' if untrained else ''})"


def check_best_everywhere(
    run: PageRun, rows: Mapping[str, pd.DataFrame], first: str, metric: str, name: str, claim: str
) -> Check:
    """Return a check that one system is better than all rivals in each group of test reports.

    The check holds if the system's lead over every rival is significant in every group. This needs no
    correction, since all leads must be significant. The check fails if a rival's lead over the system is
    significant in some group; these intervals are corrected for the number of groups and rivals. Otherwise,
    the check is inconclusive.

    Parameters
    ----------
    run : the page's run, for the number of resamples and the random streams.
    rows : a mapping from the system and its rivals to their scores, all on the same cases.
    first : the system that is claimed to be best.
    metric : the column of scores.
    name : the check's name, which also begins the names of the random streams.
    claim : the paper's words.

    Raises
    ------
    ValueError
        If the systems differ in cases, or a score is missing.
    """
    means = pd.DataFrame({key: scores.groupby("group")[metric].mean() for key, scores in rows.items()})
    rivals = [key for key in rows if key != first]
    is_highest = means[first] > means[rivals].max(axis=1)

    def compute_lead(group: str, rival: str, comparisons: int = 1) -> Estimate:
        of_first, of_rival = (rows[key][rows[key]["group"] == group] for key in (first, rival))
        return subtract_means(run, of_first, of_rival, metric, f"{name} {group} {rival}", comparisons)

    def is_beaten(group: str) -> bool:
        higher = [key for key in rivals if means.at[group, key] > means.at[group, first]]
        return any(compute_lead(group, key, len(means) * len(rivals)).high < 0 for key in higher)

    best = means.index[is_highest]
    ahead = [group for group in best if all(compute_lead(group, key).low > 0 for key in rivals)]
    behind = [group for group in means.index[~is_highest] if is_beaten(group)]
    outcome = f"{first} highest on {out_of(is_highest.sum(), len(means), str)}"
    outcome += f", significantly ahead on {len(ahead)}"
    outcome += f", significantly behind on {len(behind)}" + (f" ({joined(behind)})" if behind else "")
    return check_statement(
        name, claim, outcome, False if behind else True if len(ahead) == len(means) else None
    )


def count_dissimilar(scores: pd.DataFrame) -> pd.DataFrame:
    """Count the dissimilar summaries of each pair, and those of them with a perfect observation score.

    A summary is dissimilar to its reference if its ROUGE-L is below 0.2. An observation score of 1 is
    perfect.

    Parameters
    ----------
    scores : rows of one system, training set and seed, with one row per report, since tests of the counts
        assume that rows are independent. Columns are ``group``, ``rouge_l`` and ``observations``.

    Returns
    -------
    DataFrame
        One row per pair of modality and anatomy that has dissimilar summaries. Columns are ``in other words``
        (the number of dissimilar summaries) and ``perfect score`` (how many of them have a perfect score).
    """
    observations = scores.loc[scores["rouge_l"] < _LOW_ROUGE_L].groupby("group")["observations"]
    perfect = observations.agg(lambda values: (values >= 1).sum())
    return pd.DataFrame({"in other words": observations.size(), "perfect score": perfect})


def compare_with_chest(counts: pd.DataFrame) -> tuple[float, float, float]:
    """Return how often dissimilar summaries have a perfect observation score, on the chest and elsewhere.

    ``counts`` is the table that :func:`count_dissimilar` returned.

    Returns
    -------
    other_share, chest_share : the share (0 to 1) of the dissimilar summaries with a perfect score, for body
        parts other than the chest, and for the chest.
    p : the p-value of Fisher's two-sided exact test that the two shares are equal.

    Raises
    ------
    ValueError
        If there are no dissimilar summaries for the chest, or none for other body parts.
    """
    from scipy.stats import fisher_exact

    is_chest = counts.index.str.contains("Chest")
    totals = [counts.loc[rows, ["perfect score", "in other words"]].sum() for rows in (~is_chest, is_chest)]
    if not all(total["in other words"] for total in totals):
        raise ValueError(f"`counts` has only {list(counts.index)}; pass pairs of the chest and of others")
    table = [[total["perfect score"], total["in other words"] - total["perfect score"]] for total in totals]
    other_share, chest_share = (float(total["perfect score"] / total["in other words"]) for total in totals)
    return other_share, chest_share, float(fisher_exact(table).pvalue)
