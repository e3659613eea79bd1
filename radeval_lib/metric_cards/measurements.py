"""The measurements of a card: a metric's agreement with people, beside every stored metric, and the power of
that comparison; the simple edits that it detects, its behaviour, and its scores of committed outputs.

Scores are oriented (higher is better), unless a function says otherwise. Cases are resampled whole. The tests
declared beforehand are those of the difference in τ_b with the mean grade to every stored metric.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm

from radeval_lib.data.recorded import Recording
from radeval_lib.data.report_edits import HARMFUL, HARMLESS, LAYOUTS, STEPS
from radeval_lib.metric_cards.pairs import CONSTANT, FILES, Scored
from radeval_lib.metrics import by_name
from radeval_lib.stats.agreement import metric_agreement, pairs_within, rater_agreement
from radeval_lib.stats.base import FloatArray, group_numbers
from radeval_lib.stats.correlations import Resampled, compare_with_one_rater, resample, varies
from radeval_lib.stats.inference import holm
from radeval_lib.stats.resampling import ends, estimate, share_interval, sum_draws
from radeval_lib.stats.system_comparison import LEVEL, POWER

Half = Literal["all", "development", "report"]
LEAST_CASES = 50
"""With fewer cases a card gives intervals and no test."""
PERSON = "one radiologist"
PERMUTED, MORE = 2_000, 50_000
"""Permutations of the scores for the band of chance; resamples for a p value near the level."""
_NEAR = (LEVEL / 5, 5 * LEVEL)
KINDS = {
    "changes the report": tuple(HARMFUL),
    "changes nothing it says": tuple(HARMLESS),
    "changes its layout": tuple(LAYOUTS),
    "sentences of another report": tuple(map(str, STEPS)),
}
RESAMPLES = 1_000
"""Of everything in a card but RadPref's part."""
_SAME = 1e-9  # scores nearer than this are equal


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
    tests : whether to test the differences; rows that metrics are developed on must not be tested.

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
    values = whole.intervals().set_index("metric")
    rows: dict[str, dict[str, Any]] = {
        str(metric): {"metric": str(metric), **_interval(row)} for metric, row in values.iterrows()
    }
    draws = dict(zip(whole.names, whole.draws, strict=True))
    errors = {
        frozenset(pair): float(np.nanstd(draws[pair[0]] - draws[pair[1]])) for pair in combinations(draws, 2)
    }
    if tests and len(np.unique(cases)) >= LEAST_CASES:
        tested = compare_with_rivals(
            whole, name, lambda names: drawn({key: scores[key] for key in names}, wanted, MORE, "again")
        )
        for rival, test in tested.iterrows():
            numbers = _interval(test, "difference", value="difference")
            detectable = _detectable(errors[frozenset((name, str(rival)))])
            rows[str(rival)] |= {**numbers, "p_holm": float(test["p_holm"]), "detectable": detectable}
    rows[PERSON] = {"metric": PERSON}
    by_raters = []
    for rater in range(grades.shape[1]):
        others = np.delete(grades, rater, 1).mean(axis=1)
        by_raters.append(drawn({**scores, PERSON: grades[:, rater]}, others, resamples, "rater"))
    for metric, part in compare_with_one_rater(by_raters).iterrows():
        rows[str(metric)] |= _interval(part, "others")
    of_sets = cases[sets[:, 0]].tolist()
    hits = {metric: metric_agreement(oriented, grades, sets, of_sets) for metric, oriented in scores.items()}
    hits[PERSON] = rater_agreement(grades, sets)
    for metric, hit in hits.items():
        share = share_interval(hit, of_sets, resamples=resamples, rng=rng("choices"))
        rows[metric] |= dict(zip(("choices", "choices_low", "choices_high"), share, strict=True))
    of_rivals = [error for pair, error in errors.items() if name not in pair]
    return {
        "candidates": len(table),
        "cases": len(np.unique(cases)),
        "detectable": _detectable(float(np.median(of_rivals))),
        "null_band": _null_band(scores[name], wanted, sets, rng("null band")),
        "rows": list(rows.values()),
    }


def compare_with_rivals(
    drawn: Resampled, name: str, redraw: Callable[[Sequence[str]], Resampled]
) -> pd.DataFrame:
    """Return :meth:`Resampled.compare` by rival; p values near the level come from more draws."""
    tested = drawn.compare(name).set_index("rival")
    near = [str(rival) for rival in tested.index[tested["p_holm"].between(*_NEAR)]]
    if near:
        tested.loc[near, "p"] = redraw([name, *near]).compare(name).set_index("rival")["p"]
        tested["p_holm"] = holm(tested["p"])
    return tested


def _interval(row: pd.Series, name: str = "value", value: str = "value") -> dict[str, float]:
    return {name: float(row[value]), f"{name}_low": float(row["low"]), f"{name}_high": float(row["high"])}


def _detectable(error: float) -> float:
    """Return the difference that a two-sided normal test at the level finds with a power of 80 %, from the
    difference's standard error."""
    return float((norm.isf(LEVEL / 2) + norm.ppf(POWER)) * error)


def _null_band(
    scores: FloatArray, wanted: FloatArray, sets: NDArray[np.intp], rng: np.random.Generator
) -> list[float]:
    """Return the ends of 95 % of the τ_b of scores permuted between sets and within each set."""
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


def on_facts(table: pd.DataFrame, scores: Mapping[str, FloatArray], *, seed: int) -> list[dict[str, Any]]:
    """Return each metric's τ_b with the F1 of facts that experts counted in MTS-Dialog: rows of ``metric``,
    ``n`` and ``value``, with ``value_low`` and ``value_high``."""
    counted = table["f1"].notna().to_numpy()
    cases = table["case"].to_numpy()[counted]
    drawn = resample(
        {name: oriented[counted] for name, oriented in scores.items() if varies(oriented[counted], cases)},
        table.loc[counted, "f1"].to_numpy(np.float64),
        groups=cases,
        kind="kendall",
        resamples=RESAMPLES,
        rng=np.random.default_rng([seed, *b"f1"]),
    )
    values = drawn.intervals().set_index("metric")
    return [{"metric": metric, **_interval(row), "n": int(row["n"])} for metric, row in values.iterrows()]


def costs(frame: pd.DataFrame, values: FloatArray, *, seed: int) -> list[dict[str, Any]]:
    """Return the losses from edits as shares of the loss from an unrelated report on the same texts.

    Parameters
    ----------
    frame : the pairs of a card.
    values : oriented scores of them, none missing.

    Returns
    -------
    list
        For each edit ``kind``, ``edit``, ``n`` (reports), and ``value``, ``low``, ``high``, which are None if
        an unrelated report costs these reports nothing in some resample.
    """
    part = frame[frame["part"] == "edits"]
    wide = pd.Series(values[part.index], [part["row"], part["kind"]]).unstack()
    loss = -wide.sub(wide["same"], axis=0)
    rows: list[dict[str, Any]] = []
    for kind, edit in ((kind, edit) for kind, edits in KINDS.items() for edit in edits if edit in loss):
        sums = loss[[edit, "another report"]].dropna().to_numpy(np.float64)
        rng = np.random.default_rng([seed, *edit.encode()])
        drawn = sum_draws(sums, lambda totals: totals, resamples=RESAMPLES, rng=rng)
        row = {"kind": kind, "edit": edit, "n": len(sums), "value": None, "low": None, "high": None}
        if (drawn[:, 1] > 0).all():  # else a share of what an unrelated report costs has no meaning
            cost = estimate(sums[:, 0].mean() / sums[:, 1].mean(), drawn[:, 0] / drawn[:, 1])
            row |= {"value": cost.value, "low": cost.low, "high": cost.high}
        rows.append(row)
    return rows


def behaviour(
    frame: pd.DataFrame, scored: Scored, value_range: tuple[float, float] | None, *, sign: int
) -> dict[str, Any]:
    """Return how a metric behaves on the pairs of a card: failures, range, direction, ties, empty texts, and
    whether scores repeat, also for a pair alone.

    ``value_range`` is the declared range, None if there is none; ``sign`` orients the scores.
    """
    values, finite = scored.values, np.isfinite(scored.values)
    part, kinds = frame["part"].to_numpy(), frame["kind"].to_numpy()
    scores = values[finite & (part != "again")]
    low, high = value_range or (-math.inf, math.inf)
    outside = int(((scores < low - _SAME) | (scores > high + _SAME)).sum())
    edits = pd.Series(sign * values, [frame["row"], frame["kind"]])[part == "edits"].unstack()
    both = edits[["same", "another report"]].dropna()
    return {
        "pairs": len(frame),
        "failures": dict(Counter(part[~finite].tolist())),
        "seconds_per_pair": scored.seconds,
        "range_seen": [float(scores.min()), float(scores.max())],
        "outside_range": outside if value_range else None,
        "identical_above_unrelated": float((both["same"] > both["another report"]).mean()),
        "identical_below_unrelated": float((both["same"] < both["another report"]).mean()),
        "distinct_scores": len(np.unique(scores)),
        "commonest_share": float(np.unique(scores, return_counts=True)[1].max() / len(scores)),
        "empty": {str(kinds[at]): float(values[at]) for at in np.flatnonzero(part == "empty")},
        "again": _again(frame, values, values[part == "again"]),
        "alone": None if scored.alone is None else _again(frame, values, scored.alone),
    }


def _again(frame: pd.DataFrame, values: FloatArray, repeated: FloatArray) -> dict[str, Any]:
    """Return how many pairs' repeated score differs from the first, and the largest difference."""
    first = values[frame.loc[frame["part"] == "again", "row"].to_numpy(np.intp)]
    failed = np.isfinite(first) != np.isfinite(repeated)
    gaps = np.abs(first - repeated)[np.isfinite(first) & np.isfinite(repeated)]
    differ = int((gaps > _SAME).sum() + failed.sum())
    return {"pairs": len(first), "differ": differ, "most": float(gaps.max(initial=0.0))}


def on_systems(frame: pd.DataFrame, values: FloatArray, *, sign: int, seed: int) -> dict[str, Any]:
    """Return the mean score of every file of committed outputs, and the loss when its outputs are exchanged
    between studies.

    Parameters
    ----------
    frame, values : the pairs of a card and their oriented scores, none missing; ``sign`` turns them back.

    Returns
    -------
    dict
        ``studies``; ``files``: for each its ``texts`` (different ones), its ``mean`` in the metric's unit and
        ``lost_if_shuffled`` (higher is better), each with an interval from drawing different references.
    """
    part = frame[frame["part"] == "systems"]
    wide = pd.Series(values[part.index], [part["row"], part["kind"]]).unstack()
    references = part[part["kind"] == FILES[0]].set_index("row")["reference"]
    groups = group_numbers("references", references.loc[wide.index], len(wide)).tolist()

    def mean(column: pd.Series) -> dict[str, float]:
        rng = np.random.default_rng(seed)
        ends = share_interval(column.to_numpy(), groups, resamples=RESAMPLES, rng=rng)
        return dict(zip(("value", "low", "high"), ends, strict=True))

    files = []
    for name in (file for file in (*FILES, CONSTANT) if file in wide):
        texts, dealt = part.loc[part["kind"] == name, "candidate"].nunique(), f"{name}, shuffled"
        lost = mean(wide[name] - wide[dealt]) if dealt in wide else None
        files.append(
            {"file": name, "texts": texts, "mean": mean(sign * wide[name]), "lost_if_shuffled": lost}
        )
    return {"studies": len(wide), "files": files}
