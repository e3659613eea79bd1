"""How a metric agrees with people, compared with every stored metric, and the power of such a test.

Scores are oriented (higher is better) in all that follows. Cases are resampled whole; the family of tests
that is declared beforehand is the difference in τ_b with the mean grade to every stored metric.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm

from radeval_lib.data.recorded import Recording
from radeval_lib.metrics import by_name
from radeval_lib.stats.agreement import choices_of_metric, choices_of_raters, pairs_within
from radeval_lib.stats.base import FloatArray
from radeval_lib.stats.correlations import Resampled, beside_one_rater, resample, varies
from radeval_lib.stats.inference import holm
from radeval_lib.stats.resampling import ends, share_interval
from radeval_lib.stats.system_comparison import LEVEL, POWER

Half = Literal["all", "development", "report"]
LEAST_CASES = 50
"""With fewer cases a card gives intervals and no test."""
PERSON = "one radiologist"
PERMUTED, MORE = 2_000, 50_000
"""Permutations of the scores for what chance would reach; resamples for a p value near the level."""
_NEAR = (LEVEL / 5, 5 * LEVEL)


def rivals(recording: Recording, without: str) -> dict[str, FloatArray]:
    """Return the oriented scores of every stored metric except the card's own, by title. A title names the
    model that replaced a published one."""
    return {
        recording.title(name): recording.table[name].to_numpy(np.float64) * by_name.get(name).sign()
        for name in recording.about["columns"]
        if name != without
    }


def in_half(cases: NDArray[Any], half: Half) -> NDArray[np.bool_]:
    """Return a mask of the rows in a half of RadPref; cases with an even number are for development."""
    even = np.asarray(cases) % 2 == 0
    return {"all": np.ones_like(even), "development": even, "report": ~even}[half]


def on_radpref(
    table: pd.DataFrame,
    scores: Mapping[str, FloatArray],
    name: str,
    *,
    resamples: int,
    seed: int,
    tests: bool = True,
) -> dict[str, Any]:
    """Return the part ``radpref`` of a card.

    Parameters
    ----------
    table : rows of the stored set, one per candidate, with ``case``, ``set`` and ``grade_1`` to ``grade_3``;
        a set has two candidates, which are compared.
    scores : oriented scores of every metric by its name, finite, shape (rows,) each.
    name : the card's metric, one of ``scores``.
    resamples, seed : of the bootstrap and the permutations.
    tests : whether the rows may be tested on, and not only developed on.

    Returns
    -------
    dict
        ``candidates``, ``cases``; ``detectable``, the median over pairs of stored metrics of the difference
        in τ_b that a test finds with a power of 80 %; ``null_band``, 95 % of what permuted scores reach; and
        ``rows``, by metric and for :data:`PERSON`: ``value``, τ_b with the mean grade; ``difference``, the
        card's metric minus this one, with ``p_holm`` and ``detectable``, if tests are made;
        ``choices``, the share of pairs on which it prefers what two radiologists prefer, each left out in
        turn; ``others``, τ_b with the mean of two radiologists. Each has its ``_low`` and ``_high``, a 95 %
        interval from drawing cases.
    """
    cases, grades = table["case"].to_numpy(), table[["grade_1", "grade_2", "grade_3"]].to_numpy(np.float64)
    wanted, sets = grades.mean(axis=1), pairs_within(table["set"].tolist())

    def rng(part: str) -> np.random.Generator:
        return np.random.default_rng([seed, *part.encode()])

    def drawn(oriented: Mapping[str, FloatArray], ratings: FloatArray, number: int, part: str) -> Resampled:
        return resample(oriented, ratings, groups=cases, kind="kendall", resamples=number, rng=rng(part))

    whole = drawn(scores, wanted, resamples, "grade")
    rows = {str(row["metric"]): _row(row) for _, row in whole.intervals().iterrows()}
    draws = dict(zip(whole.names, whole.draws, strict=True))
    errors = {
        frozenset(pair): float(np.nanstd(draws[pair[0]] - draws[pair[1]])) for pair in combinations(draws, 2)
    }
    if tests and len(np.unique(cases)) >= LEAST_CASES:
        tested = compared(
            whole, name, lambda names: drawn({key: scores[key] for key in names}, wanted, MORE, "again")
        )
        for rival, test in tested.iterrows():
            numbers = _interval(test, "difference", value="difference")
            detectable = _detectable(errors[frozenset((name, str(rival)))])
            rows[str(rival)] |= {**numbers, "p_holm": float(test["p_holm"]), "detectable": detectable}
    rows[PERSON] = {"metric": PERSON}
    by_raters = [
        drawn(
            {**scores, PERSON: grades[:, rater]}, np.delete(grades, rater, 1).mean(axis=1), resamples, "rater"
        )
        for rater in range(grades.shape[1])
    ]
    for metric, part in beside_one_rater(by_raters).iterrows():
        rows[str(metric)] |= _interval(part, "others")
    first = sets[:, 0]
    hits = {
        metric: choices_of_metric(oriented, grades, sets, cases[first].tolist())
        for metric, oriented in scores.items()
    }
    hits[PERSON] = choices_of_raters(grades, sets)
    for metric, hit in hits.items():
        share = share_interval(hit, cases[first].tolist(), resamples=resamples, rng=rng("choices"))
        rows[metric] |= dict(zip(("choices", "choices_low", "choices_high"), share, strict=True))
    others = [error for pair, error in errors.items() if name not in pair]
    return {
        "candidates": len(table),
        "cases": len(np.unique(cases)),
        "detectable": _detectable(float(np.median(others))),
        "null_band": _null_band(scores[name], wanted, sets, rng("null band")),
        "rows": list(rows.values()),
    }


def compared(drawn: Resampled, name: str, redraw: Callable[[Sequence[str]], Resampled]) -> pd.DataFrame:
    """Return :meth:`Resampled.compare` by rival; p values near the level come from more draws."""
    tested = drawn.compare(name).set_index("rival")
    near = [str(rival) for rival in tested.index[tested["p_holm"].between(*_NEAR)]]
    if near:
        tested.loc[near, "p"] = redraw([name, *near]).compare(name).set_index("rival")["p"]
        tested["p_holm"] = holm(tested["p"])
    return tested


def _row(row: pd.Series) -> dict[str, Any]:
    return {"metric": str(row["metric"]), **_interval(row)}


def _interval(row: pd.Series, name: str = "value", value: str = "value") -> dict[str, float]:
    ends_of = {f"{name}_low": float(row["low"]), f"{name}_high": float(row["high"])}
    return {name: float(row[value]), **ends_of}


def _detectable(error: float) -> float:
    """Return the difference that a two-sided test at the level finds with a power of 80 %, from its standard
    error; both are normal."""
    return float((norm.isf(LEVEL / 2) + norm.ppf(POWER)) * error)


def _null_band(
    scores: FloatArray, wanted: FloatArray, sets: NDArray[np.intp], rng: np.random.Generator
) -> list[float]:
    """Return 95 % of the τ_b that scores reach which are permuted between sets, and within each set."""
    signs = _signs(wanted)
    scale = np.sqrt((signs**2).sum() * (_signs(scores) ** 2).sum())
    reached = []
    for _ in range(PERMUTED):
        permuted = np.empty_like(scores)
        permuted[sets] = scores[rng.permuted(sets[rng.permutation(len(sets))], axis=1)]
        reached.append((_signs(permuted) * signs).sum() / scale)
    return [float(end) for end in ends(reached)]


def _signs(values: FloatArray) -> NDArray[np.float32]:
    """Return the sign of the difference of every two values, shape (values, values)."""
    places = np.unique(values, return_inverse=True)[1].astype(np.float32)
    return np.sign(places[:, None] - places)


def on_facts(
    table: pd.DataFrame, scores: Mapping[str, FloatArray], *, resamples: int, seed: int
) -> list[dict[str, Any]]:
    """Return each metric's τ_b with the F1 of facts that experts counted in MTS-Dialog: rows of ``metric``,
    ``n`` and ``value``, with ``value_low`` and ``value_high``."""
    counted = table["f1"].notna().to_numpy()
    cases = table["case"].to_numpy()[counted]
    drawn = resample(
        {name: oriented[counted] for name, oriented in scores.items() if varies(oriented[counted], cases)},
        table.loc[counted, "f1"].to_numpy(np.float64),
        groups=cases,
        kind="kendall",
        resamples=resamples,
        rng=np.random.default_rng([seed, *b"f1"]),
    )
    return [{**_row(row), "n": int(row["n"])} for _, row in drawn.intervals().iterrows()]
