"""Compare summarizers by training set and test pair; count perfect observation scores of unlike summaries.

Tables of scores are those of :mod:`notebooks.summarization.comparison`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes

from notebooks.summarization.comparison import estimate_mean, subtract_means
from radeval_lib import plots
from radeval_lib.jobs import summarization
from radeval_lib.jobs.summarization import ALL, TRAINED, UNSEEN, describe_systems
from radeval_lib.registry import CELL_MODEL
from radeval_lib.stats.base import Estimate
from radeval_lib.study.checks import Check, check_statement
from radeval_lib.study.page_runs import Basis, PageRun
from radeval_lib.text_format import joined, out_of

_PAPERS = ("T5", "BART", "BioBART")
"""Prefixes of the names of the paper's systems."""
_OTHER_WORDS = 0.2
"""ROUGE-L below which a summary is said to use other words than the reference."""


def find_paper_systems(systems: Iterable[str]) -> list[str]:
    """Return the names of those systems that the paper tests or, if there are none, all names."""
    names = list(systems)
    return [name for name in names if name.startswith(_PAPERS)] or names


def find_basis(run: PageRun, shown: Sequence[str] = (), *, graphs: bool = False) -> Basis:
    """Return on which evidence results of some systems rest, and which substitutes they use.

    The evidence is our experiment unless all these systems, and the graph model if it is used, are the
    paper's.

    Parameters
    ----------
    run : the page's run.
    shown : names of the systems; if empty, those of :func:`find_paper_systems`.
    graphs : whether the results also use a graph model.
    """
    systems = summarization.settings(run.profile).systems
    shown = shown or find_paper_systems(systems)
    ours = {name: systems[name] for name in shown if not name.startswith(_PAPERS)}
    models = {"graph_model": "radgraph:radgraph"} if graphs else {}
    basis = run.basis({"anatomy_summaries": "mimic3_rrs+mimic_cxr_rrs"}, models)
    if graphs and run.source_of("models", "graph_model").startswith(CELL_MODEL):
        basis = basis.with_own("the graph model learned from generated reports")
    if not ours:
        return basis
    return basis.with_own(
        f"{describe_systems(ours, run.profile.models['encoder'])}, not {joined(list(_PAPERS))}"
    )


def select_rows(scores: pd.DataFrame, system: str, *, train_set: str = "") -> pd.DataFrame:
    """Return the scores of a system that was trained on one training set.

    If ``train_set`` is empty, return the scores on each pair after training on the same pair. If the system
    is not trained, return all its scores.
    """
    rows = scores[scores["system"] == system]
    if train_set:
        return rows[rows["train_set"].isin([train_set, ""])]
    return rows[(rows["train_set"] == rows["group"]) | (rows["train_set"] == "")]


def arrange_means(scores: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the mean score by a metric for each training set (rows) and each test pair (columns).

    The training set ALL is the last row; pairs without a training set are the last columns. A mean is NaN if
    ``scores`` has no such rows.
    """
    means = scores.pivot_table(index="train_set", columns="group", values=metric, aggfunc="mean")
    return means.reindex(index=[*TRAINED, ALL], columns=[*TRAINED, *UNSEEN])


def draw_grid(axes: Axes, table: pd.DataFrame) -> None:
    """Draw a table of :func:`arrange_means`, times 100, as a heat map.

    A horizontal line separates the training set ALL from the others; a vertical one separates the pairs with
    a training set from those without.
    """
    style = {"cmap": "Blues", "linewidths": 0.5, "annot_kws": {"size": 11}}
    plots.draw_heat_map(axes, 100 * table.astype(float), slant=60, fmt=".0f", **style)
    axes.axvline(len(TRAINED), color=plots.PALETTE[1], linewidth=2)
    axes.axhline(table.index.get_loc(ALL), color=plots.PALETTE[1], linewidth=2)
    axes.set(xlabel="tested on", ylabel="trained on")


def tabulate_means(run: PageRun, scores: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the mean score by a metric for each system (rows), trained and tested on each pair (columns).

    The last column, ``all tests``, has the mean over all of these tests with its 95% interval, as a string.
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
    """Return the number of test reports of each pair as a string: "31 of each pair", or the lowest and the
    highest number, "31 to 40 of each pair".

    ``rows``: scores with the columns ``group`` (the pair) and ``case``.
    """
    counts = sorted(set(rows.groupby("group")["case"].nunique()))
    return f"{' to '.join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))} of each pair"


def name_tests(metric: str, rows: Mapping[str, pd.DataFrame]) -> str:
    """Return a string for display: "test reports", the metric, and the names of the systems that learn
    nothing.

    ``rows``: each system's scores, by its name.
    """
    untrained = [name for name, scores in rows.items() if scores["train_set"].eq("").all()]
    learns = "learns" if len(untrained) == 1 else "learn"
    return f"test reports ({metric}{f'; {joined(untrained)} {learns} nothing' if untrained else ''})"


def check_best_everywhere(
    run: PageRun, rows: Mapping[str, pd.DataFrame], first: str, metric: str, name: str, claim: str
) -> Check:
    """Return a check that one system is better than all rivals in each group of test reports.

    The check holds if the system's lead over every rival is significant in every group; this needs no
    correction, since all leads must be significant. It fails if a rival's lead over the system is significant
    in some group; these intervals are corrected for the number of groups and rivals. Otherwise, it is
    inconclusive.

    Parameters
    ----------
    run : the page's run.
    rows : scores of the system and its rivals by name, all on the same tests.
    first : name of the system that is claimed to be best.
    metric : the column of scores.
    name, claim : see :class:`radeval_lib.study.checks.Check`.
    """
    means = pd.DataFrame({key: scores.groupby("group")[metric].mean() for key, scores in rows.items()})
    rivals = [key for key in rows if key != first]
    is_highest = means[first] > means[rivals].max(axis=1)

    def gap(group: str, rival: str, comparisons: int = 1) -> Estimate:
        of_first, of_rival = (rows[key][rows[key]["group"] == group] for key in (first, rival))
        return subtract_means(run, of_first, of_rival, metric, f"{name} {group} {rival}", comparisons)

    def is_beaten(group: str) -> bool:
        higher = [key for key in rivals if means.at[group, key] > means.at[group, first]]
        return any(gap(group, key, len(means) * len(rivals)).high < 0 for key in higher)

    ahead = [group for group in means.index[is_highest] if all(gap(group, key).low > 0 for key in rivals)]
    behind = [group for group in means.index[~is_highest] if is_beaten(group)]
    outcome = f"{first} highest on {out_of(is_highest.sum(), len(means), str)}"
    outcome += f", significantly ahead on {len(ahead)}"
    outcome += f", significantly behind on {len(behind)}" + (f" ({joined(behind)})" if behind else "")
    return check_statement(
        name, claim, outcome, False if behind else True if len(ahead) == len(means) else None
    )


def count_blind_spots(scores: pd.DataFrame) -> pd.DataFrame:
    """Count the summaries in other words than the reference, and those of them with a perfect score.

    Words are other ones if ROUGE-L is below 0.2; a score is perfect if the observation score is 1.

    Parameters
    ----------
    scores : rows of one system, training set and seed, so that there is one row per report: tests of the
        counts assume that rows are independent.

    Returns
    -------
    DataFrame
        One row per pair of modality and anatomy with such summaries, with columns ``in other words`` (number
        of summaries) and ``perfect score`` (number of these with a perfect score).
    """
    observations = scores.loc[scores["rouge_l"] < _OTHER_WORDS].groupby("group")["observations"]
    perfect = observations.agg(lambda values: (values >= 1).sum())
    return pd.DataFrame({"in other words": observations.size(), "perfect score": perfect})


def compare_with_chest(spots: pd.DataFrame) -> tuple[float, float, float]:
    """Return how often summaries in other words than the reference have a perfect observation score.

    ``spots``: the table that :func:`count_blind_spots` returned.

    Returns
    -------
    outside, inside : of the summaries with a ROUGE-L below 0.2, the share (0 to 1) with a perfect score, for
        body parts other than the chest, and for the chest.
    p : of Fisher's two-sided exact test that the two shares are equal.

    Raises
    ------
    ValueError
        If no summary of the chest, or none of another body part, has a ROUGE-L below 0.2.
    """
    from scipy.stats import fisher_exact

    chest = spots.index.str.contains("Chest")
    sides = [spots.loc[side, ["perfect score", "in other words"]].sum() for side in (~chest, chest)]
    if not all(side["in other words"] for side in sides):
        raise ValueError("`spots` counts no summary of the chest, or none of another part; pass both")
    counts = [[side["perfect score"], side["in other words"] - side["perfect score"]] for side in sides]
    outside, inside = (float(side["perfect score"] / side["in other words"]) for side in sides)
    return outside, inside, float(fisher_exact(counts).pvalue)
