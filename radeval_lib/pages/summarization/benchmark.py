"""Tables, comparisons and the heat map of the pages that read the cells of summarization."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from radeval_lib.pages.summarization import plan
from radeval_lib.pages.summarization.corpora import TRAINED, UNSEEN
from radeval_lib.pages.summarization.plan import ALL
from radeval_lib.pages.summarization.tallies import mean_of, paired_difference
from radeval_lib.stats.estimates import Estimate
from radeval_lib.study.cells import CellOutput
from radeval_lib.study.checks import Check, check_statement
from radeval_lib.study.runs import Run
from radeval_lib.study.superiority import Lead
from radeval_lib.wording import joined

_PAPERS = ("T5", "BART", "BioBART", "Pegasus")
_KEYS = ["seed", "system", "train_set", "case"]


def basis(run: Run, shown: Sequence[str] = (), *, graphs: bool = False) -> tuple[str, str]:
    """What results of the systems ``shown`` (default: all) rest on: an experiment of our own unless those of
    them that learn, and the graph model where it is used, are the paper's."""
    systems = plan.settings(run.profile).systems
    learned = [name for name in shown or systems if systems[name].learns]
    ours = [name for name in learned if not name.startswith(_PAPERS)]
    models = {"graph_model": "radgraph:radgraph"} if graphs else {}
    evidence, stand_in = run.basis({"anatomy_summaries": "mimic3_rrs+mimic_cxr_rrs"}, models)
    if not ours:
        return evidence, stand_in
    return "synthetic", "; ".join(filter(None, [stand_in, f"{joined(ours)}, not {joined(list(_PAPERS))}"]))


def gathered(kept: Iterable[CellOutput]) -> pd.DataFrame:
    """The scores of all cells, the rows below one another.

    What needs no training stands in several cells, with the same rows, and is taken once.
    """
    return pd.concat([one.tables["scores"] for one in kept], ignore_index=True).drop_duplicates(_KEYS)


def of_system(scores: pd.DataFrame, system: str, *, train_set: str = "") -> pd.DataFrame:
    """The rows of one system: trained on ``train_set``, or, where that is empty, on the pair of each test."""
    rows = scores[scores["system"] == system]
    if train_set:
        return rows[rows["train_set"].isin([train_set, ""])]
    return rows[(rows["train_set"] == rows["group"]) | (rows["train_set"] == "")]


def grid(scores: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Means of a metric by training set (rows, ALL last) and test pair (columns, never trained ones last)."""
    means = scores.pivot_table(index="train_set", columns="group", values=metric, aggfunc="mean")
    return means.reindex(index=[*TRAINED, ALL], columns=[*TRAINED, *UNSEEN])


def benchmark(run: Run, scores: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Systems (rows) by trained pair (columns), each trained on it, means over seeds, and the mean over all
    with its interval."""
    tested = scores[scores["group"].isin(TRAINED)]
    rows = {}
    for system in tested["system"].drop_duplicates():
        own = of_system(tested, system)
        means = own.groupby("group")[metric].mean().reindex(TRAINED)
        whole = mean_of(own, metric, resamples=run.profile.resamples, rng=run.rng(f"{system} {metric}"))
        rows[system] = {**means.to_dict(), "all tests": f"{whole:.3f}"}
    return pd.DataFrame.from_dict(rows, orient="index")


def mean_over(run: Run, scores: pd.DataFrame, metric: str) -> Estimate:
    """Mean of one system's scores with its interval; seeds without this metric are left out."""
    return mean_of(
        scores[scores[metric].notna()], metric, resamples=run.profile.resamples, rng=run.rng(f"mean {metric}")
    )


def compared(
    run: Run, first: pd.DataFrame, others: Mapping[str, pd.DataFrame], metric: str
) -> dict[str, Estimate]:
    """Mean of ``first`` minus that of each other on the same tests, with intervals."""
    return {
        name: paired_difference(
            first, other, metric, resamples=run.profile.resamples, rng=run.rng(f"{name} against {metric}")
        )
        for name, other in others.items()
    }


def against_others(
    run: Run, rows: Mapping[str, pd.DataFrame], first: str, metric: str
) -> dict[str, Estimate]:
    """Mean of one of several minus that of each other on the same tests, with intervals."""
    others = {name: own for name, own in rows.items() if name != first}
    return compared(run, rows[first], others, metric)


def leads(differences: Mapping[str, Estimate]) -> dict[str, Lead]:
    """Whether each difference is an established lead."""
    return {name: Lead.by_interval(difference) for name, difference in differences.items()}


def draw_grid(axes: Axes, table: pd.DataFrame) -> None:
    """A heat map of :func:`grid` in percent; lines part ALL, and the pairs that were never trained."""
    sns.heatmap(
        100 * table.astype(float),
        annot=True,
        fmt=".0f",
        cmap="Blues",
        cbar=False,
        linewidths=0.5,
        annot_kws={"size": 8},
        ax=axes,
    )
    axes.axvline(len(TRAINED), color="#333333", linewidth=1.5)
    axes.axhline(table.index.get_loc(ALL), color="#333333", linewidth=1.5)
    axes.set(xlabel="tested on", ylabel="trained on")
    axes.tick_params(axis="x", labelrotation=60)


def blind_spots(scores: pd.DataFrame) -> pd.DataFrame:
    """Of summaries in other words than the reference (ROUGE-L below 0.2), how many get a perfect score of
    observations.

    ``scores``: rows of one system, training set and seed, so that there is one a report, as tests of counts
    take rows to be independent. Returns one row a pair: ``in other words``, ``perfect score`` (numbers).
    """
    perfect = scores.loc[scores["rouge_l"] < 0.2].groupby("group")["observations"]
    return pd.DataFrame(
        {"in other words": perfect.size(), "perfect score": perfect.agg(lambda values: (values >= 1).sum())}
    )


def against_chest(spots: pd.DataFrame) -> tuple[float, float, float]:
    """Share of perfect scores outside the chest, in the chest, and Fisher's exact p of their difference."""
    from scipy.stats import fisher_exact

    chest = spots.index.str.contains("Chest")
    sides = [spots.loc[side, ["perfect score", "in other words"]].sum() for side in (~chest, chest)]
    if not all(side["in other words"] for side in sides):
        raise ValueError("no summary in other words inside the chest, or none outside")
    counts = [[side["perfect score"], side["in other words"] - side["perfect score"]] for side in sides]
    shares = [float(side["perfect score"] / side["in other words"]) for side in sides]
    return shares[0], shares[1], float(fisher_exact(counts).pvalue)


def best_everywhere(
    run: Run, rows: Mapping[str, pd.DataFrame], first: str, metric: str, name: str, claim: str
) -> Check:
    """Whether one of several is best on each group of tests.

    It holds where its lead over every rival is established in every group. That needs no correction, as all
    the leads must be. It fails where a rival's lead over it is established in a group; one would do, so these
    intervals are corrected for the number of groups and rivals. Else it cannot be told.

    ``rows``: scores of each of the rivals, all with the same groups. ``first``: the one that is claimed to be
    best. ``name``, ``claim``: see :class:`radeval_lib.study.checks.Check`.
    """
    means = pd.DataFrame({key: one.groupby("group")[metric].mean() for key, one in rows.items()})
    rivals = [key for key in rows if key != first]
    ahead = means[first] > means[rivals].max(axis=1)

    def gap(group: str, rival: str, of: int = 1) -> Estimate:
        mine, theirs = (rows[key][rows[key]["group"] == group] for key in (first, rival))
        rng = run.rng(f"{name} {group} {rival} {metric}")
        return paired_difference(mine, theirs, metric, resamples=run.profile.resamples, rng=rng, of=of)

    def behind(group: str) -> bool:
        above = [key for key in rivals if means.at[group, key] > means.at[group, first]]
        return any(gap(group, key, len(means) * len(rivals)).high < 0 for key in above)

    led = [group for group in means.index[ahead] if all(gap(group, key).low > 0 for key in rivals)]
    beaten = [group for group in means.index[~ahead] if behind(group)]
    found = f"{first} highest on {ahead.sum()} of {len(means)}, ahead beyond chance on {len(led)}"
    found += f", behind beyond chance on {len(beaten)}" + (f" ({joined(beaten)})" if beaten else "")
    return check_statement(name, claim, found, False if beaten else True if len(led) == len(means) else None)
