"""What tests and intervals of compared systems come to: clusters, differences that matter, cautions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from radeval_lib.metrics.cautions import Cautions

if TYPE_CHECKING:
    import pandas as pd

    from radeval_lib.stats.inputs import FloatArray

NOT_RANKED = "is not ranked"


def of_intervals(metric: str, tables: Mapping[str, FloatArray], *, mean: bool) -> Iterable[str]:
    """The systems of which most cases have the same score, and fewer than ten another (a rule of thumb).

    ``mean``: whether statistics are sums and counts of scores, which a case may have several of.
    """
    from radeval_lib.stats.proportions import rule_of_three

    for system, statistics in tables.items():
        count = len(statistics)
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
    """The table of systems with the cluster of each, and the differences that matter in words."""
    import pandas as pd

    from radeval_lib.stats.system_comparison import LEVEL, significance_clusters

    cluster, verdicts = dict[tuple[str, str], int](), []
    values = systems.set_index(["metric", "system"])["value"]
    tests = {(one.metric, one.first, one.second): one for one in pairs.itertuples()}
    for metric in systems["metric"].unique():
        own = values[metric]
        names = list(own.sort_values(ascending=about[metric].get("better") == "lower", kind="stable").index)
        unranked = [name for name in names if cautions.is_silent(name, metric)]
        names = [name for name in names if name not in unranked]

        def test(one: str, other: str, metric: str = metric) -> Any:
            return tests.get((metric, one, other)) or tests[metric, other, one]

        def differ(one: str, other: str) -> bool:
            return bool(test(one, other).p_holm < LEVEL)

        found = significance_clusters(names, differ)
        cluster |= {(metric, name): number for name, number in zip(names, found, strict=True)}
        shown = [(names[at - 1], names[at]) for at in range(1, len(names)) if found[at] > found[at - 1]]
        apart = [pair for pair in combinations(names, 2) if differ(*pair)]
        if not shown and apart:
            shown = [min(apart, key=lambda pair: (test(*pair).p, -abs(test(*pair).difference)))]
        verdicts += [_verdict(metric, about[metric], test(*pair), pair, own, cautions) for pair in shown]
        if len(names) > 1 and not apart:
            verdicts.append(f"{metric}: no difference between systems is established after correction.")
        for name in unranked:
            verdicts.append(f"{metric}: {name} {NOT_RANKED}, because {cautions.of(name, metric)}.")
    numbers = [cluster.get(key) for key in zip(systems["metric"], systems["system"], strict=True)]
    return systems.assign(cluster=pd.array(numbers, dtype="Int64")), verdicts


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
