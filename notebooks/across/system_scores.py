"""What recorded numbers say of each system of a set: findings named, means of metrics, leads, gains.

A ``table`` has a row per study and system, with the columns that
:mod:`radeval_lib.jobs.storing.system_sets` describes; ``stratum`` is one of its strata, or ``all``. Unknown
systems and strata are a DataError.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib.data.errors import DataError
from radeval_lib.data.recorded import Recording
from radeval_lib.errors import listed
from radeval_lib.jobs.storing.system_sets import STRATA, unmasked
from radeval_lib.metrics.by_name import get
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.proportions import wilson
from radeval_lib.stats.resampling import mean_of_sums, sum_estimates

SHUFFLES = 20_000
"""Random permutations of a system's outputs, for what it names by chance."""


def titles(metrics: Sequence[str]) -> dict[str, str]:
    """What tables call the metrics."""
    return {name: get(name).title or name for name in metrics}


def of_system(table: pd.DataFrame, system: str) -> pd.DataFrame:
    """The rows of a system, in the order of studies."""
    rows = table[table["system"] == system].sort_values("study")
    if rows.empty:
        raise DataError(f"no system {system!r}", "system", f"Systems: {listed(table['system'].unique())}.")
    return rows


def stratum_of(table: pd.DataFrame, stratum: str) -> pd.DataFrame:
    """The rows of a stratum, or all."""
    if stratum not in ("all", *STRATA):
        raise DataError(f"no stratum {stratum!r}", "stratum", f"Strata: all, {', '.join(STRATA)}.")
    return table if stratum == "all" else table[table["stratum"] == stratum]


def findings(
    table: pd.DataFrame, systems: Sequence[str], rng: np.random.Generator, shuffles: int = SHUFFLES
) -> pd.DataFrame:
    """Coded findings that each system names, beside those that it would name if its outputs were given to
    other studies: ``named`` of ``coded``, ``low`` and ``high`` (Wilson, of the share), ``shuffled`` (exact
    mean), ``most`` (of random permutations), ``p``; ``false``, normal studies with a finding of ``normal``;
    ``texts`` and ``sets``, distinct texts and distinct sets of the fourteen observations."""
    rows = {}
    for system in systems:
        studies = of_system(table, system)
        gold, stated = unmasked(studies["gold"]), unmasked(studies["found"])
        common = gold.astype(np.int16) @ stated.T.astype(np.int16)
        places = np.arange(len(studies))
        drawn = np.array([common[places, rng.permutation(len(studies))].sum() for _ in range(shuffles)])
        named, coded = int(np.diagonal(common).sum()), int(gold.sum())
        low, high = wilson(named, coded)
        normal = studies[studies["stratum"] == "normal"]
        rows[system] = {
            "named": named,
            "coded": coded,
            "low": low,
            "high": high,
            "shuffled": float(common.mean() * len(studies)),
            "most": int(drawn.max()),
            "p": (1 + int((drawn >= named).sum())) / (1 + shuffles),
            "false": int((normal["found"] > 0).sum()),
            "normal": len(normal),
            "texts": studies["text"].nunique(),
            "sets": studies["stated"].nunique(),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def means(table: pd.DataFrame, metrics: Sequence[str], stratum: str = "all") -> pd.DataFrame:
    """Mean of each metric, a row per system."""
    return stratum_of(table, stratum).groupby("system", sort=False)[list(metrics)].mean()


def first(values: pd.Series[float], metric: str) -> str:
    """The system that a metric puts first, by its values of each."""
    return str((values * get(metric).sign()).idxmax())


def difference(
    table: pd.DataFrame,
    metric: str,
    pair: tuple[str, str],
    stratum: str,
    resamples: int,
    rng: np.random.Generator,
) -> Estimate:
    """Mean of the first system less that of the second on the studies that both have, in the metric's unit,
    by resampling of distinct references."""
    one, other = (of_system(stratum_of(table, stratum), name).set_index("study") for name in pair)
    apart = (one[metric] - other[metric]).dropna()
    sums = apart.groupby(one["case"]).agg(["sum", "count"]).to_numpy(np.float64)
    (estimate,) = sum_estimates(sums, mean_of_sums, resamples=resamples, rng=rng)
    return estimate


def curve(
    table: pd.DataFrame, metric: str, pair: tuple[str, str], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The lead of the first system of a pair, in the metric's good direction, if a set had other shares of
    normal studies among normal studies and those with a coded finding; of the shape of ``shares``."""
    ends = [means(table, [metric], stratum)[metric] for stratum in ("normal", "finding")]
    normal, finding = ((values[pair[0]] - values[pair[1]]) * get(metric).sign() for values in ends)
    return np.asarray(shares * normal + (1 - shares) * finding)


def gains(recording: Recording, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """What each metric loses when a system's outputs are given to other studies: ``system``, ``metric``,
    ``stratum``, ``gain`` in the good direction with ``low`` and ``high`` (studies drawn with replacement),
    ``sd`` and ``p`` of the permutation."""
    table, expected = recording.table, recording.parts["expected"]
    shuffles = recording.parts["shuffles"]
    rows = {}
    for (system, stratum), of_metrics in shuffles.groupby(["system", "stratum"], sort=False):
        studies = of_system(table, system).set_index("study")
        among = "all" if stratum == "all" else "within"
        level = of_system(expected, system).set_index("study")
        chosen = stratum_of(studies, stratum).index
        apart = [
            get(metric).sign() * (studies.loc[chosen, metric] - level.loc[chosen, f"{metric}_{among}"])
            for metric in of_metrics["metric"]
        ]
        of_studies = np.column_stack([*apart, np.ones(len(chosen))]).astype(np.float64)
        estimates = sum_estimates(of_studies, mean_of_sums, resamples=resamples, rng=rng)
        for shuffle, gain in zip(of_metrics.itertuples(), estimates, strict=True):
            given = (system, shuffle.metric, stratum, gain.value, gain.low, gain.high)
            rows[shuffle.Index] = (*given, shuffle.sd, shuffle.p)
    columns = ["system", "metric", "stratum", "gain", "low", "high", "sd", "p"]
    return pd.DataFrame([rows[place] for place in shuffles.index], columns=columns)
