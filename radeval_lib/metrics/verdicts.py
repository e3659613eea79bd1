"""What tests and intervals of compared systems come to, for a reader: intervals where the bootstrap's have no
width, cautions on intervals, clusters, and differences that matter in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from radeval_lib.metrics.cautions import Cautions

if TYPE_CHECKING:
    import pandas as pd

    from radeval_lib.stats.inputs import FloatArray

NOT_RANKED = "is not ranked"


def cautions_on_intervals(metric: str, tables: Mapping[str, FloatArray], *, mean: bool) -> Iterator[str]:
    """The systems of which most cases have the same score, and fewer than ten another (a rule of thumb).

    Parameters
    ----------
    metric : its name, with which each caution begins.
    tables : statistics by system, each of shape (cases, statistics).
    mean : whether statistics are sums and counts of scores, which a case may have several of.

    Yields
    ------
    str
        A caution on a system; with the rule of three (Hanley and Lippman-Hand 1983) where all cases score
        alike.

    Raises
    ------
    ValueError
        Where a system has no case, or by a mean a case without a score.
    """
    from radeval_lib.stats.proportions import rule_of_three

    for system, statistics in tables.items():
        count = len(statistics)
        if not count or (mean and not statistics[:, 1].all()):
            raise ValueError(f"{metric}: {system} has {'a case without a score' if count else 'no case'}")
        if mean:
            statistics = statistics[:, :1] / statistics[:, 1:]
        same = int(np.unique(statistics, axis=0, return_counts=True)[1].max())
        if same == count:
            bound = f"at most {rule_of_three(count):.2g} of all cases score otherwise (95 %, 3/{count:,})"
            yield f"{metric}: all {count:,} cases of {system} have the same score: {bound}"
        elif count - same < min(10, same):
            message = f"{same:,} of {count:,} cases of {system} have the same score"
            yield f"{metric}: {message}; the interval may be too narrow"


def with_wilson(
    systems: pd.DataFrame,
    about: Mapping[str, Mapping[str, Any]],
    tables: Mapping[str, Mapping[str, FloatArray]],
) -> pd.DataFrame:
    """The table with Wilson's interval where every case scores 0, or every case 1, by a metric from 0 to 1;
    the bootstrap's has no width there."""
    from radeval_lib.stats.proportions import wilson

    systems = systems.copy()
    for at, row in systems.iterrows():
        metric, count = row["metric"], int(row["cases"])
        share = about[metric].get("range") == [0.0, 1.0] and about[metric]["value"] == "mean"
        statistics = tables[metric][row["system"]]
        for end in (0.0, 1.0) if share else ():
            if (statistics[:, 0] == end * statistics[:, 1]).all():
                systems.loc[at, ["low", "high"]] = wilson(int(end * count), count)
    return systems


def ranked(
    systems: pd.DataFrame, pairs: pd.DataFrame, about: Mapping[str, Mapping[str, Any]], cautions: Cautions
) -> tuple[pd.DataFrame, list[str]]:
    """The table of systems with the cluster of each, and the differences that matter in words.

    Parameters
    ----------
    systems, pairs : as :func:`radeval_lib.stats.system_comparison.compare_systems` returns them.
    about : by metric, as of :class:`~radeval_lib.metrics.comparison.Comparison`.
    cautions : those of the pairs that were scored, which stand beside a difference. A system that they call
        silent is in no cluster.

    Returns
    -------
    pandas.DataFrame
        ``systems`` with the column ``cluster`` (Int64), from 1, the best; missing where a system is not
        ranked.
    list of str
        A sentence for each difference that matters: between neighbours in different clusters or, where all
        are in one, of the pair with the smallest p that differs; and for each system that is not ranked.
    """
    import pandas as pd

    from radeval_lib.stats.system_comparison import LEVEL, significance_clusters

    clusters, verdicts = dict[tuple[str, str], int](), list[str]()
    for metric, own in systems.groupby("metric", sort=False):
        name = str(metric)
        tests = _Tests(pairs[pairs["metric"] == name], LEVEL)
        values = own.set_index("system")["value"]
        silent = {system for system in values.index if cautions.is_silent(system, name)}
        best_first = values.sort_values(ascending=about[name].get("better") == "lower", kind="stable").index
        order = [system for system in best_first if system not in silent]
        numbers = significance_clusters(order, tests.differ)
        clusters |= {(name, system): number for system, number in zip(order, numbers, strict=True)}
        shown, apart = tests.to_show(order, numbers)
        verdicts += [_verdict(name, about[name], tests[pair], pair, values, cautions) for pair in shown]
        if len(order) > 1 and not apart:
            verdicts.append(f"{name}: no difference between systems is established after correction.")
        for system in (one for one in best_first if one in silent):
            verdicts.append(f"{name}: {system} {NOT_RANKED}, because {cautions.of(system, name)}.")
    found = [clusters.get(key) for key in zip(systems["metric"], systems["system"], strict=True)]
    return systems.assign(cluster=pd.array(found, dtype="Int64")), verdicts


class _Tests:
    """The tests of one metric, by pair of systems in either order, and the level at which these differ."""

    def __init__(self, pairs: pd.DataFrame, level: float) -> None:
        self._level = level
        self._rows = {frozenset((one.first, one.second)): one for one in pairs.itertuples()}

    def __getitem__(self, pair: tuple[str, str]) -> Any:
        return self._rows[frozenset(pair)]

    def differ(self, one: str, other: str) -> bool:
        """Whether two systems differ after correction."""
        return bool(self[one, other].p_holm < self._level)

    def to_show(self, order: list[str], clusters: list[int]) -> tuple[list[tuple[str, str]], bool]:
        """The pairs that a reader should know of, the better system first, and whether any pair differs.

        Neighbours in different clusters; where there are none, but some pair differs, the clearest one.
        """
        apart = [pair for pair in combinations(order, 2) if self.differ(*pair)]
        steps = [
            pair
            for pair, (above, below) in zip(pairwise(order), pairwise(clusters), strict=True)
            if below > above
        ]
        if not steps and apart:
            steps = [min(apart, key=lambda pair: (self[pair].p, -abs(self[pair].difference)))]
        return steps, bool(apart)


def _verdict(
    metric: str,
    about: Mapping[str, Any],
    test: Any,
    pair: tuple[str, str],
    values: pd.Series[float],
    cautions: Cautions,
) -> str:
    """One difference in a sentence, with the cautions of both systems in it."""
    one, other = pair
    says = "is better than" if "better" in about else "scores higher than"
    sign = 1 if test.difference >= 0 else -1  # a table has each pair once, in the order of systems
    low, high = sorted((sign * test.low, sign * test.high))
    numbers = f"{values[one]:.3g} against {values[other]:.3g}"
    numbers += f", a difference of {abs(test.difference):.3g} [{low:.3g}, {high:.3g}]"
    why = [f"for {name}, {found}" for name in pair if (found := cautions.of(name, metric))]
    but = f", but {'; '.join(why)}" if why else ""
    return f"{metric}: {one} {says} {other} ({numbers}, p = {test.p_holm:.2g}){but}."
