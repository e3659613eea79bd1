"""What pages make of the cells of summarization: means and leads with intervals, and what is left of leads
on groups of reports that were not in training."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from radeval_lib import plots
from radeval_lib.pages.summarization import plan
from radeval_lib.pages.summarization.corpora import TRAINED, UNSEEN
from radeval_lib.pages.summarization.plan import ALL
from radeval_lib.pages.summarization.systems import described
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.resampling import Draws, FloatArray, draws, ratio
from radeval_lib.study.cells import CellOutput
from radeval_lib.study.checks import Check, above, check_statement, out_of
from radeval_lib.study.page_runs import OpenExhibit
from radeval_lib.study.profiles import CELL_MODEL
from radeval_lib.study.runs import Basis, Run
from radeval_lib.study.superiority import Lead
from radeval_lib.wording import joined

_PAPERS = ("T5", "BART", "BioBART")
_KEYS = ["seed", "system", "train_set", "case"]


def judged(systems: Iterable[str]) -> list[str]:
    """A profile's systems that are the paper's, which its claims are about; all where none is."""
    names = list(systems)
    return [name for name in names if name.startswith(_PAPERS)] or names


def basis(run: Run, shown: Sequence[str] = (), *, graphs: bool = False) -> Basis:
    """What results of the systems ``shown`` (default: :func:`judged`) rest on: an experiment of our own
    unless they, and the graph model where it is used, are the paper's."""
    systems = plan.settings(run.profile).systems
    shown = shown or judged(systems)
    ours = {name: systems[name] for name in shown if not name.startswith(_PAPERS)}
    models = {"graph_model": "radgraph:radgraph"} if graphs else {}
    found = run.basis({"anatomy_summaries": "mimic3_rrs+mimic_cxr_rrs"}, models)
    if graphs and run.filler("models", "graph_model").startswith(CELL_MODEL):
        found = found.with_own("the graph model learned from generated reports")
    if not ours:
        return found
    return found.with_own(f"{described(ours, run.profile.models['encoder'])}, not {joined(list(_PAPERS))}")


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


def _matrix(scores: pd.DataFrame, metric: str) -> tuple[list[object], FloatArray]:
    """Cases, sorted, and values of shape (seeds, cases), of one system and training set."""
    table = scores.pivot(index="seed", columns="case", values=metric).sort_index(axis=1)
    if table.isna().any(axis=None):
        raise ValueError("a seed lacks a case, or a score is missing")
    return table.columns.tolist(), table.to_numpy(dtype=np.float64)


def _draws(run: Run, stream: str, tables: Sequence[FloatArray], of: int = 1) -> list[Draws]:
    """Of each table of shape (seeds, cases) the mean in each resample; cases are drawn for all at once."""
    cases, resamples = tables[0].shape[1], of * run.profile.resamples
    stacked = [table[..., None] for table in tables]
    return draws(stacked, lambda sums: sums / cases, resamples=resamples, rng=run.rng(stream))


def _estimate(value: float, drawn: FloatArray, of: int = 1) -> Estimate:
    low, high = np.quantile(drawn, (0.025 / of, 1 - 0.025 / of))
    return Estimate(value, float(low), float(high))


def mean_of(run: Run, scores: pd.DataFrame, metric: str, name: str = "mean") -> Estimate:
    """Mean of one system's scores from 0 to 1 over cases and seeds, with a 95 % interval that allows for
    both; seeds without this metric are left out. ``name``: of what is drawn."""
    _, values = _matrix(scores[scores[metric].notna()], metric)
    (drawn,) = _draws(run, f"{name} {metric}", [values])
    return _estimate(float(values.mean()), drawn.total()[:, 0].clip(0, 1))


def paired_difference(
    run: Run, first: pd.DataFrame, second: pd.DataFrame, metric: str, name: str, of: int = 1
) -> Estimate:
    """Mean of ``first`` minus mean of ``second`` on the same cases, with a 95 % percentile interval.

    Cases are drawn together for both, seeds for each apart. ``of``: how many comparisons the 95 % are to hold
    for together (Bonferroni). There are ``of`` times more resamples, so that equally many lie beyond an end.
    """
    (cases, ours), (others, theirs) = (_matrix(one, metric) for one in (first, second))
    if cases != others:
        raise ValueError("the two were not tested on the same cases")
    mine, other = _draws(run, f"{name} {metric}", [ours, theirs], of)
    return _estimate(float(ours.mean() - theirs.mean()), (mine - other).total()[:, 0], of)


def compared(
    run: Run, rows: Mapping[str, pd.DataFrame], first: str, metric: str, others: Sequence[str] = ()
) -> dict[str, Estimate]:
    """Mean of ``first`` minus that of each of ``others``, or of all others, on the same tests, with
    intervals."""
    return {
        name: paired_difference(run, rows[first], rows[name], metric, f"{name} against")
        for name in others or rows
        if name != first
    }


def benchmark(run: Run, scores: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Systems (rows) by trained pair (columns), each trained on it, means over seeds, and the mean over all
    with its interval."""
    tested = scores[scores["group"].isin(TRAINED)]
    rows = {}
    for system in tested["system"].drop_duplicates():
        own = of_system(tested, system)
        means = own.groupby("group")[metric].mean().reindex(TRAINED)
        rows[system] = {**means.to_dict(), "all tests": f"{mean_of(run, own, metric, system):.3f}"}
    return pd.DataFrame.from_dict(rows, orient="index")


def sample_of(
    run: Run, exhibit: OpenExhibit, rows: pd.DataFrame, of: str = "test reports", *, drawn: bool
) -> None:
    """Record the cases and trainings of one system's scores as the sample of an exhibit, and how often the
    run resamples them; ``drawn``: whether each seed draws its training reports, too."""
    cases, seeds = rows["case"].nunique(), rows["seed"].nunique()
    draws = seeds if drawn else 0
    exhibit.sample(cases, of, trainings=seeds, draws=draws, resamples=run.profile.resamples)


def of_each(rows: pd.DataFrame) -> str:
    """How many reports each pair is tested on, as ``31 of each pair``, or from the fewest to the most."""
    counts = sorted(set(rows.groupby("group")["case"].nunique()))
    return f"{' to '.join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))} of each pair"


def reports_by(metric: str, rows: Mapping[str, pd.DataFrame]) -> str:
    """What the sample of systems' ``rows`` is of: reports, the metric, and which systems learn nothing."""
    still = [name for name, one in rows.items() if one["train_set"].eq("").all()]
    learns = "learns" if len(still) == 1 else "learn"
    return f"test reports ({metric}{f'; {joined(still)} {learns} nothing' if still else ''})"


def leads(differences: Mapping[str, Estimate]) -> dict[str, Lead]:
    """Whether each difference is an established lead."""
    return {name: Lead.by_interval(difference) for name, difference in differences.items()}


def draw_grid(axes: Axes, table: pd.DataFrame) -> None:
    """A heat map of :func:`grid` in percent; lines part ALL, and the pairs that were never trained."""
    looks = {"cmap": "Blues", "linewidths": 0.5, "annot_kws": {"size": 11}}
    plots.heat_map(axes, 100 * table.astype(float), slant=60, fmt=".0f", **looks)
    axes.axvline(len(TRAINED), color=plots.PALETTE[1], linewidth=2)
    axes.axhline(table.index.get_loc(ALL), color=plots.PALETTE[1], linewidth=2)
    axes.set(xlabel="tested on", ylabel="trained on")


def blind_spots(scores: pd.DataFrame) -> pd.DataFrame:
    """Of summaries in other words than the reference (ROUGE-L below 0.2), how many get a perfect score of
    observations.

    ``scores``: rows of one system, training set and seed, so that there is one per report, as tests of counts
    take rows to be independent. Returns one row per pair: ``in other words``, ``perfect score`` (numbers).
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
    intervals are corrected for the number of groups and rivals. Else it is undecided.

    ``rows``: scores of each of the rivals, all with the same groups. ``first``: the one that is claimed to be
    best. ``name``, ``claim``: see :class:`radeval_lib.study.checks.Check`.
    """
    means = pd.DataFrame({key: one.groupby("group")[metric].mean() for key, one in rows.items()})
    rivals = [key for key in rows if key != first]
    ahead = means[first] > means[rivals].max(axis=1)

    def gap(group: str, rival: str, of: int = 1) -> Estimate:
        mine, theirs = (rows[key][rows[key]["group"] == group] for key in (first, rival))
        return paired_difference(run, mine, theirs, metric, f"{name} {group} {rival}", of)

    def behind(group: str) -> bool:
        above = [key for key in rivals if means.at[group, key] > means.at[group, first]]
        return any(gap(group, key, len(means) * len(rivals)).high < 0 for key in above)

    led = [group for group in means.index[ahead] if all(gap(group, key).low > 0 for key in rivals)]
    beaten = [group for group in means.index[~ahead] if behind(group)]
    found = f"{first} highest on {out_of(ahead.sum(), len(means), str)}, ahead beyond chance on {len(led)}"
    found += f", behind beyond chance on {len(beaten)}" + (f" ({joined(beaten)})" if beaten else "")
    return check_statement(name, claim, found, False if beaten else True if len(led) == len(means) else None)


@dataclass(frozen=True)
class LeadRetention:
    """A lead on groups that were in training, and what is left of it on others."""

    seen: Estimate
    unseen: Estimate
    share: Estimate | None


def lead_left(run: Run, first: pd.DataFrame, second: pd.DataFrame, metric: str) -> LeadRetention:
    """The lead of ``first`` over ``second`` on groups ``seen`` in training and on others, by the same
    resamples.

    Cases are drawn together for both, seeds for each apart. Resamples without a lead on the groups seen have
    no share and are left out of its interval; where that lead is established they are fewer than 3 %.
    """
    tables = []
    for one in (first, second):
        _, values = _matrix(one, metric)
        _, seen = _matrix(one.assign(seen=one["seen"].astype(float)), "seen")
        tables.append(np.stack([values * seen, seen, values * (1 - seen), 1 - seen], axis=-1))

    def means(sums: FloatArray) -> FloatArray:
        return np.stack([ratio(sums[..., 0], sums[..., 1]), ratio(sums[..., 2], sums[..., 3])], axis=-1)

    ours, theirs = draws(tables, means, resamples=run.profile.resamples, rng=run.rng("lead left"))
    lead = ours - theirs
    gaps = lead.total()
    known, new = (_estimate(float(lead.value[side]), gaps[:, side]) for side in (0, 1))
    if known.low <= 0:
        return LeadRetention(known, new, None)
    led = gaps[gaps[:, 0] > 0]
    return LeadRetention(known, new, _estimate(new.value / known.value, led[:, 1] / led[:, 0]))


def unseen_check(best: str, left: LeadRetention) -> Check:
    """Whether most of a lead over Lead-3 is lost on groups that were not in training; it is undecided where
    there is no established lead, or where the interval of what is left holds one half."""
    remaining, lost = "no lead to lose is established", None
    if left.share is not None:
        remaining, lost = f"{left.share:.0%} is left", above(-left.share.high, -left.share.low, -0.5)
    return check_statement(
        f"lead of {best} over Lead-3 in ROUGE-L, on groups seen in training and on others",
        "most of the benefits may not generalize (we ask for less than half left)",
        f"{left.seen:.3f} and {left.unseen:.3f}: {remaining}",
        lost,
    )
