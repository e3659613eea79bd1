"""The measurements of a metric's report card.

These are its agreement with human ratings beside every stored metric, with the power of that comparison, the
cost of simple edits, its behaviour, and its scores of reports of real systems.

Scores are oriented (higher is better) unless a function says otherwise. All rows of a case are resampled
together. Only differences in τ_b with the mean grade, to every stored metric, are tested; this was fixed
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
LEAST_CASES = 50
"""With fewer cases, a card has intervals but no tests."""
PERSON = "one radiologist"
"""Name of the row of a single radiologist among the metrics."""
PERMUTATIONS, MORE_RESAMPLES = 2_000, 50_000
"""Permutations of scores for the band of chance, and resamples for p values near the significance level."""
_P_VALUES_NEAR_LEVEL = (LEVEL / 5, 5 * LEVEL)
KINDS = {
    "changes the report": tuple(HARMFUL),
    "changes nothing it says": tuple(HARMLESS),
    "changes its layout": tuple(LAYOUTS),
    "sentences of another report": tuple(map(str, STEPS)),
}
RESAMPLES = 1_000
"""Bootstrap resamples, except for the agreement with RadPref."""
_TOLERANCE = 1e-9  # scores nearer than this are equal


def load_rivals(recording: Recording, without: str) -> dict[str, FloatArray]:
    """Return the oriented stored scores of a set, shape (rows,), by the title of the metric.

    ``without`` is the name of a metric to leave out, or empty. A title also names the model that replaces a
    published one.
    """
    return {
        recording.title(name): recording.table[name].to_numpy(np.float64) * by_name.get(name).sign()
        for name in recording.about["columns"]
        if name != without
    }


def select_half(cases: NDArray[Any], half: Half) -> NDArray[np.bool_]:
    """Return which rows belong to a half of RadPref, as booleans of shape (rows,).

    ``development`` is the half with even case numbers, ``report`` the half with odd ones, and ``all`` every
    row. ``cases`` has the case number of each row.
    """
    even = np.asarray(cases) % 2 == 0
    return {"all": np.ones_like(even), "development": even, "report": ~even}[half]


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
    scores : oriented, finite scores of every metric by its name; shape (rows,) each.
    name : the card's metric, one of ``scores``.
    resamples : number of bootstrap resamples.
    seed : seed of the bootstrap and the permutations.
    with_tests : whether to test differences; False for rows on which metrics are developed. Differences are
        not tested either if there are fewer than :data:`LEAST_CASES` cases.

    Returns
    -------
    dict
        ``candidates`` and ``cases``, their numbers; ``detectable``, the difference in τ_b that a test finds
        with a power of 80 % (median over pairs of stored metrics); ``null_band``, the ends of the middle 95 %
        of the τ_b of permuted scores; and ``rows``, one for each metric and :data:`PERSON`. A row has
        ``metric``, the name, and:

        - ``value``: τ_b with the mean grade (not for :data:`PERSON`);
        - ``difference``: τ_b of the card's metric minus τ_b of this one, with ``p_holm`` and ``detectable``
          (only for other metrics, and only if differences are tested);
        - ``choices``: the share of pairs, from 0 to 1, on which the metric prefers the candidate that two
          radiologists prefer. Each of the three radiologists is left out in turn, and the mean is taken;
        - ``others``: τ_b with the mean grade of two radiologists; the mean is taken in the same way.

        Keys that end in ``_low`` and ``_high`` have the ends of the 95 % interval from resampling cases.
    """
    cases, grades = table["case"].to_numpy(), table[["grade_1", "grade_2", "grade_3"]].to_numpy(np.float64)
    mean_grades, sets = grades.mean(axis=1), pairs_within(table["set"].tolist())

    def rng(part: str) -> np.random.Generator:
        return np.random.default_rng([seed, *part.encode()])

    def resample_tau(values: Mapping[str, FloatArray], ratings: FloatArray, n: int, part: str) -> Resampled:
        return resample(values, ratings, groups=cases, kind="kendall", resamples=n, rng=rng(part))

    def resample_again(names: Sequence[str]) -> Resampled:
        return resample_tau({key: scores[key] for key in names}, mean_grades, MORE_RESAMPLES, "again")

    with_mean = resample_tau(scores, mean_grades, resamples, "grade")
    values = with_mean.intervals().set_index("metric")
    rows: dict[str, dict[str, Any]] = {
        str(metric): {"metric": str(metric), **_name_interval(row)} for metric, row in values.iterrows()
    }
    draws = dict(zip(with_mean.names, with_mean.draws, strict=True))
    standard_errors = {
        frozenset(pair): float(np.nanstd(draws[pair[0]] - draws[pair[1]])) for pair in combinations(draws, 2)
    }
    if with_tests and len(np.unique(cases)) >= LEAST_CASES:
        tested = compare_with_rivals(with_mean, name, resample_again)
        for rival, test in tested.iterrows():
            numbers = _name_interval(test, "difference", value="difference")
            detectable = _detectable_difference(standard_errors[frozenset((name, str(rival)))])
            rows[str(rival)] |= {**numbers, "p_holm": float(test["p_holm"]), "detectable": detectable}
    rows[PERSON] = {"metric": PERSON}
    by_raters = []
    for rater in range(grades.shape[1]):
        others = np.delete(grades, rater, 1).mean(axis=1)
        by_raters.append(resample_tau({**scores, PERSON: grades[:, rater]}, others, resamples, "rater"))
    for metric, row in compare_with_one_rater(by_raters).iterrows():
        rows[str(metric)] |= _name_interval(row, "others")
    set_cases = cases[sets[:, 0]].tolist()
    choices = {key: metric_agreement(oriented, grades, sets, set_cases) for key, oriented in scores.items()}
    choices[PERSON] = rater_agreement(grades, sets)
    for metric, agreed in choices.items():
        share = share_interval(agreed, set_cases, resamples=resamples, rng=rng("choices"))
        rows[metric] |= dict(zip(("choices", "choices_low", "choices_high"), share, strict=True))
    rival_errors = [error for pair, error in standard_errors.items() if name not in pair]
    return {
        "candidates": len(table),
        "cases": len(np.unique(cases)),
        "detectable": _detectable_difference(float(np.median(rival_errors))),
        "null_band": _draw_null_band(scores[name], mean_grades, sets, rng("null band")),
        "rows": list(rows.values()),
    }


def compare_with_rivals(
    resampled: Resampled, name: str, redraw: Callable[[Sequence[str]], Resampled]
) -> pd.DataFrame:
    """Return the tests of a metric against every other one: :meth:`Resampled.compare`, indexed by ``rival``.

    Parameters
    ----------
    resampled : the resampled correlations of all metrics.
    name : the metric to test.
    redraw : a function that returns more resamples of the metrics with the given names. If a corrected p
        value is between a fifth of the significance level and five times the level, the test is repeated on
        these resamples.
    """
    tested = resampled.compare(name).set_index("rival")
    near_level = [str(rival) for rival in tested.index[tested["p_holm"].between(*_P_VALUES_NEAR_LEVEL)]]
    if near_level:
        tested.loc[near_level, "p"] = redraw([name, *near_level]).compare(name).set_index("rival")["p"]
        tested["p_holm"] = holm(tested["p"])
    return tested


def _name_interval(row: pd.Series, name: str = "value", value: str = "value") -> dict[str, float]:
    """Return a dictionary with the keys ``<name>``, ``<name>_low`` and ``<name>_high``.

    Their values are the columns ``value`` (the parameter names this column), ``low`` and ``high`` of the row.
    """
    return {name: float(row[value]), f"{name}_low": float(row["low"]), f"{name}_high": float(row["high"])}


def _detectable_difference(error: float) -> float:
    """Return the difference that a two-sided normal test at 5 % finds with a power of 80 %.

    ``error`` is the standard error of the difference.
    """
    return float((norm.isf(LEVEL / 2) + norm.ppf(POWER)) * error)


def _draw_null_band(
    scores: FloatArray, grades: FloatArray, sets: NDArray[np.intp], rng: np.random.Generator
) -> list[float]:
    """Return the 2.5th and 97.5th percentile of τ_b between permuted scores and the grades.

    The pairs of scores are permuted among the sets, and the two scores within each set. ``sets`` has the
    indices of the two rows of each set, shape (sets, 2); every row must belong to one set.
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
    """Return the sign of the difference of every two values: -1, 0 or 1, shape (values, values)."""
    ranks = np.unique(values, return_inverse=True)[1].astype(np.float32)
    return np.sign(ranks[:, None] - ranks)


def measure_facts(rows: pd.DataFrame, scores: Mapping[str, FloatArray], *, seed: int) -> list[dict[str, Any]]:
    """Return each metric's Kendall τ_b with the F1 of facts that experts counted in MTS-Dialog.

    Parameters
    ----------
    rows : one row per summary, with ``case`` and ``f1``, which is NaN if no facts were counted.
    scores : oriented scores by metric, shape (rows,) each. Metrics that do not vary are left out.

    Returns
    -------
    list
        For each metric ``metric``, ``n`` (summaries), ``value``, and the ends of its 95 % interval,
        ``value_low`` and ``value_high``.
    """
    counted = rows["f1"].notna().to_numpy()
    cases = rows["case"].to_numpy()[counted]
    resampled = resample(
        {name: oriented[counted] for name, oriented in scores.items() if varies(oriented[counted], cases)},
        rows.loc[counted, "f1"].to_numpy(np.float64),
        groups=cases,
        kind="kendall",
        resamples=RESAMPLES,
        rng=np.random.default_rng([seed, *b"f1"]),
    )
    values = resampled.intervals().set_index("metric")
    return [{"metric": name, **_name_interval(row), "n": int(row["n"])} for name, row in values.iterrows()]


def measure_costs(frame: pd.DataFrame, values: FloatArray, *, seed: int) -> list[dict[str, Any]]:
    """Return the cost of each edit: by how much it lowers the mean score, relative to an unrelated report.

    Parameters
    ----------
    frame : the pairs of a card, from :func:`radeval_lib.metric_cards.pairs.build`.
    values : their oriented scores, none missing; shape (pairs,).
    seed : seed of the bootstrap.

    Returns
    -------
    list
        A dictionary for each edit: ``kind`` (a key of :data:`KINDS`), ``edit`` (its name), ``n`` (number of
        reports), ``value`` (the cost: 0 if the score stays, 1 if it falls as far as for an unrelated report;
        it may be negative), and ``low`` and ``high``, the ends of its 95 % interval from resampling reports.
        ``value``, ``low`` and ``high`` are None unless an unrelated report lowers the mean score in every
        resample.
    """
    part = frame[frame["part"] == "edits"]
    wide = pd.Series(values[part.index], [part["row"], part["kind"]]).unstack()
    loss = -wide.sub(wide["same"], axis=0)
    rows: list[dict[str, Any]] = []
    for kind, edit in ((kind, edit) for kind, edits in KINDS.items() for edit in edits if edit in loss):
        sums = loss[[edit, "another report"]].dropna().to_numpy(np.float64)
        rng = np.random.default_rng([seed, *edit.encode()])
        totals = resample_sums(sums, lambda sums: sums, resamples=RESAMPLES, rng=rng)
        row = {"kind": kind, "edit": edit, "n": len(sums), "value": None, "low": None, "high": None}
        if (totals[:, 1] > 0).all():  # otherwise the ratio is not a meaningful share
            cost = estimate(sums[:, 0].mean() / sums[:, 1].mean(), totals[:, 0] / totals[:, 1])
            row |= {"value": cost.value, "low": cost.low, "high": cost.high}
        rows.append(row)
    return rows


def measure_behaviour(
    frame: pd.DataFrame, scored: Scored, value_range: tuple[float, float] | None, *, sign: int
) -> dict[str, Any]:
    """Return how a metric behaves on the pairs of a card: its range, failures, ties, time and repeatability.

    Parameters
    ----------
    frame, scored : the pairs of a card and their scores, in the metric's own direction.
    value_range : the declared lowest and highest score; None if there are none.
    sign : 1 if a higher score is better, otherwise -1.

    Returns
    -------
    dict
        - ``pairs``: number of pairs; ``failures``: number of pairs without a score, by part;
        - ``seconds_per_pair``: as in :class:`~radeval_lib.metric_cards.pairs.Scored`;
        - ``range_seen``: the lowest and highest score; ``outside_range``: number of scores outside
          ``value_range``, None without a declared range;
        - ``identical_above_unrelated``, ``identical_below_unrelated``: share of edited reports for which an
          identical candidate scores better, or worse, than an unrelated one, from 0 to 1;
        - ``distinct_scores``: number of different scores; ``commonest_share``: share of pairs that have the
          most frequent score, from 0 to 1;
        - ``empty``: the score if the reference, the candidate or both are empty, by which of them is;
        - ``again``: how the scores of repeated pairs differ, from :func:`_check_repeats`;
        - ``alone``: the same if repeated pairs are scored one by one; None unless the function is batched.

        Repeated pairs are left out of all numbers of scores.
    """
    values, finite = scored.values, np.isfinite(scored.values)
    part, kinds = frame["part"].to_numpy(), frame["kind"].to_numpy()
    scores = values[finite & (part != "again")]
    low, high = value_range or (-math.inf, math.inf)
    outside = int(((scores < low - _TOLERANCE) | (scores > high + _TOLERANCE)).sum())
    edits = pd.Series(sign * values, [frame["row"], frame["kind"]])[part == "edits"].unstack()
    controls = edits[["same", "another report"]].dropna()
    return {
        "pairs": len(frame),
        "failures": dict(Counter(part[~finite].tolist())),
        "seconds_per_pair": scored.seconds,
        "range_seen": [float(scores.min()), float(scores.max())],
        "outside_range": outside if value_range else None,
        "identical_above_unrelated": float((controls["same"] > controls["another report"]).mean()),
        "identical_below_unrelated": float((controls["same"] < controls["another report"]).mean()),
        "distinct_scores": len(np.unique(scores)),
        "commonest_share": float(np.unique(scores, return_counts=True)[1].max() / len(scores)),
        "empty": {str(kinds[at]): float(values[at]) for at in np.flatnonzero(part == "empty")},
        "again": _check_repeats(frame, values, values[part == "again"]),
        "alone": None if scored.scores_alone is None else _check_repeats(frame, values, scored.scores_alone),
    }


def _check_repeats(frame: pd.DataFrame, values: FloatArray, repeated: FloatArray) -> dict[str, Any]:
    """Return how the scores of repeated pairs differ from the first scores of the same pairs.

    Parameters
    ----------
    values : scores of all pairs of ``frame``.
    repeated : scores of the repetitions, in the order of the part ``again``.

    Returns
    -------
    dict
        ``pairs``, the number of repeated pairs; ``differ``, how many scores differ by more than 1e-9, or are
        missing only once; ``most``, the largest difference, 0 if there is none.
    """
    first = values[frame.loc[frame["part"] == "again", "row"].to_numpy(np.intp)]
    failed = np.isfinite(first) != np.isfinite(repeated)
    differences = np.abs(first - repeated)[np.isfinite(first) & np.isfinite(repeated)]
    differ = int((differences > _TOLERANCE).sum() + failed.sum())
    return {"pairs": len(first), "differ": differ, "most": float(differences.max(initial=0.0))}


def measure_systems(frame: pd.DataFrame, values: FloatArray, *, sign: int, seed: int) -> dict[str, Any]:
    """Return the mean score of each system, and how much it falls if its reports are shuffled among studies.

    Parameters
    ----------
    frame, values : the pairs of a card and their oriented scores, none missing.
    sign : 1 if a higher score is better in the metric's own direction, otherwise -1.
    seed : seed of the bootstrap.

    Returns
    -------
    dict
        ``studies``, the number of studies, and ``files``, a dictionary for each system: ``file`` (its name),
        ``texts`` (number of distinct reports), ``mean`` (the mean score in the metric's own direction), and
        ``lost_if_shuffled`` (by how much the oriented mean falls; None for a system that is not shuffled).
        ``mean`` and ``lost_if_shuffled`` are dictionaries of ``value`` and the ends ``low`` and ``high`` of
        the 95 % interval from resampling distinct references.
    """
    part = frame[frame["part"] == "systems"]
    wide = pd.Series(values[part.index], [part["row"], part["kind"]]).unstack()
    references = part[part["kind"] == FILES[0]].set_index("row")["reference"]
    groups = number_groups("references", references.loc[wide.index], len(wide)).tolist()

    def mean(column: pd.Series) -> dict[str, float]:
        rng = np.random.default_rng(seed)
        interval = share_interval(column.to_numpy(), groups, resamples=RESAMPLES, rng=rng)
        return dict(zip(("value", "low", "high"), interval, strict=True))

    files = []
    for name in (file for file in (*FILES, CONSTANT) if file in wide):
        texts, shuffled = part.loc[part["kind"] == name, "candidate"].nunique(), f"{name}, shuffled"
        loss = mean(wide[name] - wide[shuffled]) if shuffled in wide else None
        files.append(
            {"file": name, "texts": texts, "mean": mean(sign * wide[name]), "lost_if_shuffled": loss}
        )
    return {"studies": len(wide), "files": files}
