"""Where metrics fail: candidates that are wrong in one known way, which of two candidates a metric prefers,
and what the length of a report has to do with its agreement with counts of errors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from radeval_lib.stats.correlations import drawn_counts
from radeval_lib.synthetic import CATEGORIES, SyntheticError, SyntheticReport, inject, rewrite
from radeval_lib.synthetic.generator import report_at

COPIED, REWORDED = "copied", "reworded"
NONE, UNRELATED = "none", "another report"
KINDS = tuple((category, significant) for category in CATEGORIES for significant in (True, False))
_TRIES = 400  # reports looked at for each one that is wanted; about one in fifteen allows every kind of error
_SAME = 1e-9  # scores nearer than this are a tie


def single_errors(n: int, seed: int) -> pd.DataFrame:
    """Generated reports, each with two candidates for every kind of single error, and with three controls.

    One candidate repeats the reference word by word but for the error; the other says the same thing, with
    the same error, in other words. The reports are those of which every kind of error can be made, so that
    kinds are compared on the same references: each has at least four findings and a comparison with an
    earlier examination.

    Parameters
    ----------
    n : number of references, at least 2.
    seed : what the reports, errors and wordings depend on.

    Returns
    -------
    DataFrame
        27 rows a reference: ``case`` (int); ``kind`` (a category letter, ``none`` or ``another report``);
        ``significant`` (bool; False without an error); ``wording`` (``copied`` or ``reworded``; empty for
        another report, which is the next case's reference); ``reference``, ``candidate``; and what either
        says where the error is, ``reference_says`` and ``candidate_says``.

    Raises
    ------
    ValueError
        Where ``n`` is less than 2.
    SyntheticError
        Where too few reports allow every kind of error.
    """
    if n < 2:
        raise ValueError(f"{n} references; another report needs at least two")
    found: dict[str, list[dict[str, object]]] = {}
    for index in range(_TRIES * n):
        report = report_at(seed, index, min_findings=4, prior=True)
        try:
            found.setdefault(report.findings.text, _candidates(report, seed))
        except SyntheticError:
            continue
        if len(found) == n:
            break
    else:
        raise SyntheticError(
            f"{len(found)} of {n} reports allow every kind of error", "single_errors", "Ask for fewer."
        )
    rows, references = [], list(found)
    for case, reference in enumerate(references):
        other: dict[str, object] = {"kind": UNRELATED, "wording": "", "candidate": references[(case + 1) % n]}
        rows += [{"case": case, "reference": reference, **row} for row in (*found[reference], other)]
    table = pd.DataFrame(rows).fillna({"significant": False, "reference_says": "", "candidate_says": ""})
    columns = ["case", "kind", "significant", "wording", "reference", "candidate"]
    return table[[*columns, "reference_says", "candidate_says"]].astype({"significant": bool})


def _candidates(report: SyntheticReport, seed: int) -> list[dict[str, object]]:
    """The report itself and a rewrite, each without an error and with every kind of single error."""
    rows: list[dict[str, object]] = []
    for wording, base in ((COPIED, report), (REWORDED, rewrite(report, "synonym", seed))):
        rows.append({"kind": NONE, "wording": wording, "candidate": base.findings.text})
        for category, significant in KINDS:
            pair = inject(base, [(category, significant)], seed)
            (error,) = pair.errors
            rows.append(
                {
                    "kind": category,
                    "significant": significant,
                    "wording": wording,
                    "candidate": pair.candidate.findings.text,
                    "reference_says": error.reference_says,
                    "candidate_says": error.candidate_says,
                }
            )
    return rows


def percent(share: float) -> str:
    """A share as whole percent, where 0% and 100% are said of none and of all alone."""
    if 0 < share < 0.01:
        return "under 1%"
    return "over 99%" if 0.99 < share < 1 else f"{share:.0%}"


def preferences(
    better: pd.DataFrame, worse: pd.DataFrame, level: float = 0.95, *, groups: ArrayLike | None = None
) -> pd.DataFrame:
    """How often each metric scores the better of two candidates above the worse one.

    A tie counts as one half, so that a metric that sees no difference gets one half.

    Parameters
    ----------
    better, worse : scores of the two candidates of each item, one column a metric, of the same shape and
        columns; row i of both is about one item.
    level : coverage of the intervals, strictly between 0 and 1.
    groups : the group of each item, as items of one report; default: each item is its own. Groups are taken
        as independent and count alike; the items of a group need not be.

    Returns
    -------
    DataFrame
        Index: the metrics. ``value``, the mean over the groups; ``low`` and ``high`` (Wilson 1927, with the
        number of groups, so wider than needed where there are ties or items of a group differ); ``tied``
        (share of items), ``n`` (items) and ``groups``.

    Raises
    ------
    ValueError
        Where the shapes or columns differ, there is no item, a score is not finite, the groups are not one an
        item, or ``level`` is out of range.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be strictly between 0 and 1, not {level}")
    if list(better.columns) != list(worse.columns) or len(better) != len(worse):
        raise ValueError(f"scores of {better.shape} and {worse.shape} do not belong together")
    if not len(better):
        raise ValueError("no item to compare scores on")
    gaps = better.to_numpy(dtype=np.float64) - worse.to_numpy(dtype=np.float64)
    if not np.isfinite(gaps).all():
        raise ValueError("a score is missing or not finite; leave those items out")
    tied = np.abs(gaps) < _SAME
    labels = np.arange(len(gaps)) if groups is None else np.asarray(groups)
    if labels.shape != (len(gaps),):
        raise ValueError(f"groups of shape {labels.shape} for {len(gaps)} items")
    means = pd.DataFrame(np.where(tied, 0.5, gaps > 0)).groupby(labels).mean()
    values, n = means.mean().to_numpy(), len(means)
    low, high = proportion_confint(values * n, n, alpha=1 - level, method="wilson")
    return pd.DataFrame(
        {
            "value": values,
            "low": low,
            "high": high,
            "tied": tied.mean(axis=0),
            "n": len(gaps),
            "groups": n,
        },
        index=better.columns,
    )


def partial_spearman(x: ArrayLike, y: ArrayLike, covariates: Sequence[ArrayLike]) -> float:
    """Spearman correlation of ``x`` and ``y`` with the covariates held constant; NaN where it is not defined.

    From the inverse of the correlation matrix of the ranks, as pingouin's ``partial_corr``.

    Parameters
    ----------
    x, y, covariates : finite, each of shape (pairs,).
    """
    return _partial(np.array([x, y, *covariates], dtype=np.float64))


def _partial(rows: NDArray[np.float64]) -> float:
    if (np.ptp(rows, axis=1) == 0).any():
        return float("nan")
    matrix = np.corrcoef(stats.rankdata(rows, axis=1))
    if np.linalg.matrix_rank(matrix) < len(matrix):
        return float("nan")
    inverse = np.linalg.inv(matrix)
    return float(-inverse[0, 1] / np.sqrt(inverse[0, 0] * inverse[1, 1]))


def length_held_constant(
    scores: pd.DataFrame,
    ratings: ArrayLike,
    lengths: Sequence[ArrayLike],
    *,
    groups: ArrayLike,
    resamples: int,
    rng: np.random.Generator,
    level: float = 0.95,
) -> pd.DataFrame:
    """Spearman correlation of each metric with the ratings, as it is and with the lengths held constant.

    Parameters
    ----------
    scores : one column a metric, one row a pair; finite.
    ratings : finite, shape (pairs,).
    lengths : of the texts, each of shape (pairs,).
    groups : the case of each pair; whole cases are drawn with replacement.
    resamples : how often the cases are drawn; all metrics are computed on the same draws.
    rng : source of the draws.
    level : coverage of the intervals, strictly between 0 and 1.

    Returns
    -------
    DataFrame
        Index: the metrics. ``plain``, ``partial``, and ``change``, partial minus plain, with its percentile
        interval ``low``, ``high``. Draws in which something does not vary are left out.
    """
    y, held = np.asarray(ratings, dtype=np.float64), [np.asarray(row, dtype=np.float64) for row in lengths]
    columns = {name: scores[name].to_numpy(dtype=np.float64) for name in scores.columns}
    place, labels = pd.factorize(np.asarray(groups))
    members = [np.flatnonzero(place == number) for number in range(len(labels))]
    draws: list[list[float]] = []
    for chunk in drawn_counts(len(labels), resamples, rng, len(y)):
        for counts in chunk.astype(int):
            chosen = np.concatenate(
                [np.repeat(members[case], counts[case]) for case in np.flatnonzero(counts)]
            )
            now = [row[chosen] for row in held]
            draws.append(
                [
                    _partial(np.array([x[chosen], y[chosen], *now]))
                    - _partial(np.array([x[chosen], y[chosen]]))
                    for x in columns.values()
                ]
            )
    low, high = np.nanquantile(np.array(draws), [0.5 - level / 2, 0.5 + level / 2], axis=0)
    result = pd.DataFrame(index=scores.columns)
    result["plain"] = [_partial(np.array([x, y])) for x in columns.values()]
    result["partial"] = [_partial(np.array([x, y, *held])) for x in columns.values()]
    return result.assign(change=result["partial"] - result["plain"], low=low, high=high)
