"""Measurements for a metric's report card.

They are the metric's agreement with human ratings beside that of every stored metric, with the statistical
power of the comparison; the cost of simple edits; behaviour, such as ties; and scores of real systems.

Scores are oriented (higher is better) unless a function says otherwise. All rows of a case are resampled
together. Only the differences from each stored metric in τ_b with the mean grade are tested, as was fixed
beforehand.
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
from radeval_lib.stats.base import FloatArray, number_groups
from radeval_lib.stats.correlations import Resampled, compare_with_one_rater, resample, varies
from radeval_lib.stats.inference import holm
from radeval_lib.stats.resampling import estimate, percentile_ends, resample_sums, share_interval
from radeval_lib.stats.system_comparison import LEVEL, POWER

Half = Literal["all", "development", "report"]
MIN_CASES = 50
"""With fewer cases, a card has confidence intervals but no tests."""
PERSON = "one radiologist"
"""Name of the row of a single radiologist among the metrics."""
PERMUTATIONS, MORE_RESAMPLES = 2_000, 50_000
"""Numbers of permutations for the null band, and of resamples for p-values near the significance level."""
_P_VALUES_NEAR_LEVEL = (LEVEL / 5, 5 * LEVEL)
KINDS = {
    "changes the report": tuple(HARMFUL),
    "changes nothing it says": tuple(HARMLESS),
    "changes its layout": tuple(LAYOUTS),
    "sentences of another report": tuple(map(str, STEPS)),
}
"""The names of the edits of each kind."""
RESAMPLES = 1_000
"""Bootstrap resamples, except for the agreement with RadPref."""
_TOLERANCE = 1e-9  # scores that differ by at most this count as equal


def load_rivals(recording: Recording, excluded: str) -> dict[str, FloatArray]:
    """Return a mapping from metric title to the stored scores of a set (higher is better), shape (rows,).

    ``excluded`` is the name of a metric to leave out, or empty. A title also names the model that replaces a
    published model.
    """
    return {
        recording.title(name): recording.table[name].to_numpy(np.float64) * by_name.get(name).sign()
        for name in recording.description["columns"]
        if name != excluded
    }


def select_half(cases: NDArray[Any], half: Half) -> NDArray[np.bool_]:
    """Return a mask of the rows that belong to a half of RadPref, shape (rows,).

    ``development`` is the half with even case numbers, ``report`` the half with odd case numbers, and ``all``
    every row. ``cases`` has the case number of each row.
    """
    is_even = np.asarray(cases) % 2 == 0
    return {"all": np.ones_like(is_even), "development": is_even, "report": ~is_even}[half]


def measure_radpref(
    table: pd.DataFrame,
    scores: Mapping[str, FloatArray],
    name: str,
    *,
    resamples: int,
    seed: int,
    with_tests: bool = True,
) -> dict[str, Any]:
    """Return the agreement of metrics with the radiologists' grades in RadPref, for a card's ``radpref``.

    Parameters
    ----------
    table : one row per candidate, with ``case``, ``set`` and the grades ``grade_1`` to ``grade_3`` of three
        radiologists. The two candidates of a set are compared with each other.
    scores : a mapping from metric to finite scores, where higher is better; shape (rows,) each.
    name : the card's metric, a key of ``scores``.
    resamples : number of bootstrap resamples.
    seed : seed of the bootstrap and the permutations.
    with_tests : whether to test differences; False for rows on which metrics are developed. With fewer than
        :data:`MIN_CASES` cases, differences are never tested.

    Returns
    -------
    dict
        ``candidates`` and ``cases``, their numbers; ``detectable``, the difference in τ_b that a test finds
        with a power of 80% (the median over pairs of stored metrics); ``null_band``, the 2.5th and 97.5th
        percentile of τ_b with permuted scores; and ``rows``, one for each metric and :data:`PERSON`. A row
        has ``metric``, the name, and:

        - ``value``: τ_b with the mean grade (not for :data:`PERSON`);
        - ``difference``: τ_b of the card's metric minus that of this metric, with ``p_holm`` and
          ``detectable`` (only for other metrics, and only if differences are tested);
        - ``choices``: the share of pairs, from 0 to 1, on which the metric prefers the candidate that two
          radiologists prefer. Each of the three radiologists is left out in turn, and the mean is taken;
        - ``others``: τ_b with the mean grade of two radiologists; the mean is taken in the same way.

        Keys that end in ``_low`` and ``_high`` have the bounds of the 95% confidence interval, from
        resampling cases.
    """
    cases, grades = table["case"].to_numpy(), table[["grade_1", "grade_2", "grade_3"]].to_numpy(np.float64)
    mean_grades, sets = grades.mean(axis=1), pairs_within(table["set"].tolist())

    def rng(part: str) -> np.random.Generator:
        return np.random.default_rng([seed, *part.encode()])

    def resample_tau(values: Mapping[str, FloatArray], ratings: FloatArray, n: int, part: str) -> Resampled:
        return resample(values, ratings, groups=cases, kind="kendall", resamples=n, rng=rng(part))

    def redraw_taus(names: Sequence[str]) -> Resampled:
        return resample_tau({key: scores[key] for key in names}, mean_grades, MORE_RESAMPLES, "again")

    resampled = resample_tau(scores, mean_grades, resamples, "grade")
    estimates = resampled.intervals().set_index("metric")
    rows: dict[str, dict[str, Any]] = {
        str(metric): {"metric": str(metric), **_name_interval(row)} for metric, row in estimates.iterrows()
    }
    draws = dict(zip(resampled.names, resampled.draws, strict=True))
    standard_errors = {
        frozenset(pair): float(np.nanstd(draws[pair[0]] - draws[pair[1]])) for pair in combinations(draws, 2)
    }
    if with_tests and len(np.unique(cases)) >= MIN_CASES:
        tests = compare_with_rivals(resampled, name, redraw_taus)
        for rival, test in tests.iterrows():
            interval = _name_interval(test, "difference", column="difference")
            detectable = _find_detectable_difference(standard_errors[frozenset((name, str(rival)))])
            rows[str(rival)] |= {**interval, "p_holm": float(test["p_holm"]), "detectable": detectable}
    rows[PERSON] = {"metric": PERSON}
    rater_taus = []
    for rater in range(grades.shape[1]):
        means = np.delete(grades, rater, 1).mean(axis=1)
        rater_taus.append(resample_tau({**scores, PERSON: grades[:, rater]}, means, resamples, "rater"))
    for metric, row in compare_with_one_rater(rater_taus).iterrows():
        rows[str(metric)] |= _name_interval(row, "others")
    set_cases = cases[sets[:, 0]].tolist()
    choices = {key: metric_agreement(oriented, grades, sets, set_cases) for key, oriented in scores.items()}
    choices[PERSON] = rater_agreement(grades, sets)
    for metric, agreements in choices.items():
        share = share_interval(agreements, set_cases, resamples=resamples, rng=rng("choices"))
        rows[metric] |= dict(zip(("choices", "choices_low", "choices_high"), share, strict=True))
    rival_errors = [error for pair, error in standard_errors.items() if name not in pair]
    return {
        "candidates": len(table),
        "cases": len(np.unique(cases)),
        "detectable": _find_detectable_difference(float(np.median(rival_errors))),
        "null_band": _draw_null_band(scores[name], mean_grades, sets, rng("null band")),
        "rows": list(rows.values()),
    }


def compare_with_rivals(
    resampled: Resampled, name: str, redraw: Callable[[Sequence[str]], Resampled]
) -> pd.DataFrame:
    """Test a metric against every other metric, and return :meth:`Resampled.compare`, indexed by ``rival``.

    Parameters
    ----------
    resampled : the resampled correlations of all metrics.
    name : the metric to test.
    redraw : a function that takes names of metrics and returns more resamples of these. It is called for
        metrics with a corrected p-value between a fifth of the significance level and five times the level,
        and their tests are repeated.
    """
    tests = resampled.compare(name).set_index("rival")
    near_level = [str(rival) for rival in tests.index[tests["p_holm"].between(*_P_VALUES_NEAR_LEVEL)]]
    if near_level:
        tests.loc[near_level, "p"] = redraw([name, *near_level]).compare(name).set_index("rival")["p"]
        tests["p_holm"] = holm(tests["p"])
    return tests


def _name_interval(row: pd.Series, name: str = "value", column: str = "value") -> dict[str, float]:
    """Return a dictionary with the keys ``<name>``, ``<name>_low`` and ``<name>_high``.

    ``row`` has the estimate in ``column``, and the bounds of its confidence interval in ``low`` and ``high``.
    """
    return {name: float(row[column]), f"{name}_low": float(row["low"]), f"{name}_high": float(row["high"])}


def _find_detectable_difference(standard_error: float) -> float:
    """Return the difference that a two-sided z-test at the 5% level detects with a power of 80%.

    ``standard_error`` is the standard error of the difference.
    """
    return float((norm.isf(LEVEL / 2) + norm.ppf(POWER)) * standard_error)


def _draw_null_band(
    scores: FloatArray, grades: FloatArray, sets: NDArray[np.intp], rng: np.random.Generator
) -> list[float]:
    """Return the 2.5th and 97.5th percentile of τ_b between permuted scores and the grades.

    The pairs of scores are permuted among the sets, and the two scores within each set. ``sets`` has the
    indices of each set's two rows, shape (number of sets, 2); every row must belong to exactly one set.
    """
    signs = _compare_all(grades)
    scale = np.sqrt((signs**2).sum() * (_compare_all(scores) ** 2).sum())
    taus = []
    for _ in range(PERMUTATIONS):
        permuted = np.empty_like(scores)
        permuted[sets] = scores[rng.permuted(sets[rng.permutation(len(sets))], axis=1)]
        taus.append((_compare_all(permuted) * signs).sum() / scale)
    return [float(end) for end in percentile_ends(taus)]


def _compare_all(values: FloatArray) -> NDArray[np.float32]:
    """Return the signs of all pairwise differences, -1, 0 or 1; shape (len(values), len(values))."""
    ranks = np.unique(values, return_inverse=True)[1].astype(np.float32)
    return np.sign(ranks[:, None] - ranks)


def correlate_with_fact_f1(
    rows: pd.DataFrame, scores: Mapping[str, FloatArray], *, seed: int
) -> list[dict[str, Any]]:
    """Return each metric's Kendall τ_b with the F1 of facts that experts counted in MTS-Dialog.

    Parameters
    ----------
    rows : one row per summary, with ``case`` and ``f1``, which is NaN if no facts were counted.
    scores : a mapping from metric to scores, where higher is better; shape (rows,) each. Metrics whose scores
        do not vary are left out.
    seed : seed of the bootstrap.

    Returns
    -------
    list
        A dictionary for each metric: ``metric`` (its name), ``n`` (number of summaries), ``value`` (τ_b), and
        ``value_low`` and ``value_high``, the bounds of the 95% confidence interval.
    """
    mask = rows["f1"].notna().to_numpy()
    cases = rows["case"].to_numpy()[mask]
    resampled = resample(
        {name: oriented[mask] for name, oriented in scores.items() if varies(oriented[mask], cases)},
        rows.loc[mask, "f1"].to_numpy(np.float64),
        groups=cases,
        kind="kendall",
        resamples=RESAMPLES,
        rng=np.random.default_rng([seed, *b"f1"]),
    )
    intervals = resampled.intervals().set_index("metric")
    return [{"metric": name, **_name_interval(row), "n": int(row["n"])} for name, row in intervals.iterrows()]


def measure_costs(frame: pd.DataFrame, values: FloatArray, *, seed: int) -> list[dict[str, Any]]:
    """Return the cost of each edit: how much it lowers the mean score, relative to an unrelated report.

    Parameters
    ----------
    frame : the pairs of a card, from :func:`radeval_lib.metric_cards.pairs.build`.
    values : the scores of the pairs, where higher is better; none missing; shape (pairs,).
    seed : seed of the bootstrap.

    Returns
    -------
    list
        A dictionary for each edit: ``kind`` (a key of :data:`KINDS`), ``edit`` (its name), ``n`` (number of
        reports), ``value`` (the cost: 0 if the score is unchanged, 1 if it falls as far as for an unrelated
        report; it may be negative), and ``low`` and ``high``, the bounds of the 95% confidence interval from
        resampling reports. ``value``, ``low`` and ``high`` are None unless an unrelated report lowers the
        mean score in every resample.
    """
    edited_pairs = frame[frame["part"] == "edits"]
    score_table = pd.Series(values[edited_pairs.index], [edited_pairs["row"], edited_pairs["kind"]]).unstack()
    loss = -score_table.sub(score_table["same"], axis=0)
    rows: list[dict[str, Any]] = []
    for kind, edit in ((kind, edit) for kind, edits in KINDS.items() for edit in edits if edit in loss):
        sums = loss[[edit, "another report"]].dropna().to_numpy(np.float64)
        rng = np.random.default_rng([seed, *edit.encode()])
        totals = resample_sums(sums, lambda resampled: resampled, resamples=RESAMPLES, rng=rng)
        row = {"kind": kind, "edit": edit, "n": len(sums), "value": None, "low": None, "high": None}
        if (totals[:, 1] > 0).all():  # otherwise the ratio is not a meaningful share
            cost = estimate(sums[:, 0].mean() / sums[:, 1].mean(), totals[:, 0] / totals[:, 1])
            row |= {"value": cost.value, "low": cost.low, "high": cost.high}
        rows.append(row)
    return rows


def measure_behaviour(
    frame: pd.DataFrame, scored: Scored, value_range: tuple[float, float] | None, *, sign: int
) -> dict[str, Any]:
    """Return a metric's behaviour on the pairs of a card: range, failures, ties, time and repeatability.

    Parameters
    ----------
    frame, scored : the pairs of a card and their scores, in the metric's own direction.
    value_range : the declared lowest and highest score; None if not declared.
    sign : 1 if a higher score is better, otherwise -1.

    Returns
    -------
    dict
        - ``pairs``: number of pairs; ``failures``: number of pairs without a score, by part of the card;
        - ``seconds_per_pair``: as in :class:`~radeval_lib.metric_cards.pairs.Scored`;
        - ``range_seen``: the lowest and highest score; ``outside_range``: number of scores outside
          ``value_range``, None if no range is declared;
        - ``identical_above_unrelated``, ``identical_below_unrelated``: share of edited reports for which an
          identical candidate scores better, or worse, than an unrelated one, from 0 to 1;
        - ``distinct_scores``: number of different scores; ``commonest_share``: share of pairs that have the
          most frequent score, from 0 to 1;
        - ``empty``: the score of each pair with an empty text, by which text is empty;
        - ``again``: how the scores of repeated pairs differ, from :func:`_check_repeats`;
        - ``alone``: how the repeated pairs' scores differ if computed one by one; None unless the metric is
          batched.

        Repeated pairs are left out of the ranges and of the counts of distinct and most frequent scores.
    """
    values, finite = scored.values, np.isfinite(scored.values)
    parts, kinds = frame["part"].to_numpy(), frame["kind"].to_numpy()
    scores = values[finite & (parts != "again")]
    low, high = value_range or (-math.inf, math.inf)
    n_outside = int(((scores < low - _TOLERANCE) | (scores > high + _TOLERANCE)).sum())
    edit_scores = pd.Series(sign * values, [frame["row"], frame["kind"]])[parts == "edits"].unstack()
    controls = edit_scores[["same", "another report"]].dropna()
    return {
        "pairs": len(frame),
        "failures": dict(Counter(parts[~finite].tolist())),
        "seconds_per_pair": scored.seconds,
        "range_seen": [float(scores.min()), float(scores.max())],
        "outside_range": n_outside if value_range else None,
        "identical_above_unrelated": float((controls["same"] > controls["another report"]).mean()),
        "identical_below_unrelated": float((controls["same"] < controls["another report"]).mean()),
        "distinct_scores": len(np.unique(scores)),
        "commonest_share": float(np.unique(scores, return_counts=True)[1].max() / len(scores)),
        "empty": {str(kinds[index]): float(values[index]) for index in np.flatnonzero(parts == "empty")},
        "again": _check_repeats(frame, values, values[parts == "again"]),
        "alone": None if scored.scores_alone is None else _check_repeats(frame, values, scored.scores_alone),
    }


def _check_repeats(frame: pd.DataFrame, values: FloatArray, second_scores: FloatArray) -> dict[str, Any]:
    """Return how the scores of repeated pairs differ from the first scores of the same pairs.

    Parameters
    ----------
    frame : the pairs of a card.
    values : scores of all pairs of ``frame``.
    second_scores : scores of the repetitions, in the order of the part ``again``.

    Returns
    -------
    dict
        ``pairs``, the number of repeated pairs; ``differ``, how many scores differ by more than 1e-9, or are
        missing once but not twice; ``most``, the largest difference, or 0 if there is none.
    """
    first_scores = values[frame.loc[frame["part"] == "again", "row"].to_numpy(np.intp)]
    one_failed = np.isfinite(first_scores) != np.isfinite(second_scores)
    differences = np.abs(first_scores - second_scores)[np.isfinite(first_scores) & np.isfinite(second_scores)]
    n_different = int((differences > _TOLERANCE).sum() + one_failed.sum())
    return {"pairs": len(first_scores), "differ": n_different, "most": float(differences.max(initial=0.0))}


def measure_systems(frame: pd.DataFrame, values: FloatArray, *, sign: int, seed: int) -> dict[str, Any]:
    """Return the mean score of each system, and how much it falls if its reports are shuffled among studies.

    Parameters
    ----------
    frame, values : the pairs of a card and their scores, where higher is better; none missing.
    sign : 1 if a higher score is better in the metric's own direction, otherwise -1.
    seed : seed of the bootstrap.

    Returns
    -------
    dict
        ``studies``, the number of studies, and ``files``, a dictionary for each system: ``file`` (its name),
        ``texts`` (number of distinct reports), ``mean`` (the mean score in the metric's own direction), and
        ``lost_if_shuffled`` (how much the mean of ``values`` falls; None for a system that is not shuffled).
        ``mean`` and ``lost_if_shuffled`` are dictionaries of ``value`` and the bounds ``low`` and ``high`` of
        the 95% confidence interval from resampling distinct references.
    """
    rows = frame[frame["part"] == "systems"]
    table = pd.Series(values[rows.index], [rows["row"], rows["kind"]]).unstack()
    references = rows[rows["kind"] == FILES[0]].set_index("row")["reference"]
    groups = number_groups("references", references.loc[table.index], len(table)).tolist()

    def average(column: pd.Series) -> dict[str, float]:
        rng = np.random.default_rng(seed)
        interval = share_interval(column.to_numpy(), groups, resamples=RESAMPLES, rng=rng)
        return dict(zip(("value", "low", "high"), interval, strict=True))

    files = []
    for name in (file for file in (*FILES, CONSTANT) if file in table):
        n_texts, key = rows.loc[rows["kind"] == name, "candidate"].nunique(), f"{name}, shuffled"
        loss = average(table[name] - table[key]) if key in table else None
        files.append(
            {"file": name, "texts": n_texts, "mean": average(sign * table[name]), "lost_if_shuffled": loss}
        )
    return {"studies": len(table), "files": files}
