"""How far the same raters agree on counts, on ratios made of them, and on grades: alpha with intervals.

A matrix of ratings has one row per unit, one column per rater and nothing missing; its index has the unit's
``case``, which is drawn as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from radeval_lib.data import radpref
from radeval_lib.data.errors import DataError
from radeval_lib.data.records import RatedPair
from radeval_lib.data.restricted import reveal
from radeval_lib.stats.agreement import interval_alpha
from radeval_lib.stats.base import Estimate, FloatArray
from radeval_lib.stats.resampling import ends, estimate, sum_draws
from radeval_lib.study.runs import Run
from radeval_lib.text_format import with_interval

RATED = {
    "grade": "rated_pairs",
    "errors, counted": "rated_errors",
    "errors by findings": "rated_sentences",
}
"""Roles of what the same raters said of the same texts."""


def rating_matrix(records: Sequence[RatedPair]) -> pd.DataFrame:
    """Return the ratings of each pair; pairs that some rater left out are left out."""
    if not records:
        raise DataError("no rated pairs")
    rows = [(one.id, one.rater, one.rating, reveal(one.reference)) for one in records]
    frame = pd.DataFrame(rows, columns=["id", "rater", "rating", "case"])
    frame["case"] = pd.factorize(frame["case"])[0]
    matrix = frame.pivot_table(index=["id", "case"], columns="rater", values="rating").dropna()
    if matrix.empty:
        raise DataError("no pair that all raters rated")
    return matrix


def graders_who_counted(run: Run) -> tuple[pd.DataFrame, Estimate]:
    """Return agreement on grades, counts and ratios of raters who gave them all, and what counting gains.

    Returns
    -------
    table : ``what``; columns as :func:`alphas`, the interval with the value as text.
    gain : alpha of counts minus alpha of grades, on the same draws of cases.

    Raises
    ------
    DataError
        Where the roles of :data:`RATED` are filled by different texts.
    """
    resamples = run.profile.resamples
    rated = {what: rating_matrix(run.load(role)) for what, role in RATED.items()}
    if len({tuple(matrix.index.get_level_values("id")) for matrix in rated.values()}) > 1:
        raise DataError("grades and counts are of different texts", "", "Fill the roles from one data set.")
    agreed = [
        alphas({what: matrix}, resamples=resamples, rng=run.rng(f"alpha {what}"))
        for what, matrix in rated.items()
    ]
    gained = gain(rated["errors, counted"], rated["grade"], resamples, lambda: run.rng("agreement"))
    return _in_words(pd.concat(agreed)), gained


def _in_words(agreed: pd.DataFrame) -> pd.DataFrame:
    """Return rows of :func:`alphas`, the interval with the value as text."""
    table = agreed.rename_axis("what").reset_index()
    intervals = [with_interval(row.alpha, row.low, row.high, ".2f") for row in table.itertuples()]
    return table.assign(alpha=intervals).drop(columns=["low", "high"])


def graders_who_counted_significant(run: Run) -> tuple[pd.DataFrame, Estimate] | None:
    """Return the row of :func:`graders_who_counted` and what counting gains over grades where clinically
    significant errors alone are counted; None where the rated pairs are not RadPref's, whose marks tell them
    apart."""
    if "radpref" not in run.filler("data", "rated_pairs"):
        return None
    stored = run.recording("radpref")
    candidates, marks = stored.table.set_index("number"), stored.parts["ratings"]
    kinds = ["_".join(mark) for mark in radpref.MARKS if mark[1] in radpref.SIGNIFICANT]
    rated = marks.assign(case=marks["number"].map(candidates["case"]), significant=marks[kinds].sum(axis=1))
    of_significant, grade = (
        rated.pivot_table(index=["number", "case"], columns="rater", values=name).dropna()
        for name in ("significant", "grade")
    )
    rng, resamples = run.rng("alpha significant errors"), run.profile.resamples
    row = alphas({"significant errors, counted": of_significant}, resamples=resamples, rng=rng)
    return _in_words(row), gain(of_significant, grade, resamples, lambda: run.rng("agreement"))


def alphas(matrices: Mapping[str, pd.DataFrame], *, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return Krippendorff's alpha, interval level, of each matrix, with percentile intervals that draw whole
    cases.

    Index: the names. ``alpha``, ``low``, ``high``, ``units``, ``cases``, ``raters``. Resamples in which all
    ratings are equal are left out.
    """
    rows = {}
    for name, matrix in matrices.items():
        alpha, drawn = _resampled(matrix, resamples, rng)
        cases = matrix.index.get_level_values("case").nunique()
        rows[name] = (alpha, *ends(drawn), len(matrix), cases, matrix.shape[1])
    columns = ["alpha", "low", "high", "units", "cases", "raters"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def _resampled(matrix: pd.DataFrame, resamples: int, rng: np.random.Generator) -> tuple[float, FloatArray]:
    """Return alpha, and alpha in each resample of cases, shape (resamples,); NaN where all ratings are equal.

    As :func:`~radeval_lib.stats.agreement.interval_alpha` of the units repeated as often as their case
    was drawn, from sums over units.
    """
    values = matrix.to_numpy(dtype=np.float64).T
    place = pd.factorize(matrix.index.get_level_values("case"))[0]
    raters = len(values)
    centred = values - values.mean()
    within, squares = centred.var(axis=0, ddof=1), (centred**2).sum(axis=0)
    by_unit = np.column_stack([np.ones(len(place)), within, centred.sum(axis=0), squares])
    by_case = pd.DataFrame(by_unit).groupby(place).sum().to_numpy()

    def alpha(drawn: FloatArray) -> FloatArray:
        units, within, sums, squares = drawn.T
        spread = (squares - sums**2 / (units * raters)) / (units * raters - 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(spread > 1e-12, 1 - within / units / spread, np.nan)

    return float(interval_alpha(values)), sum_draws(by_case, alpha, resamples=resamples, rng=rng)


def gain(
    first: pd.DataFrame, second: pd.DataFrame, resamples: int, rng: Callable[[], np.random.Generator]
) -> Estimate:
    """Return alpha of ``first`` minus alpha of ``second``; ``rng`` makes the same generator at each call, so
    that ratings of the same cases are resampled together.

    Raises
    ------
    ValueError
        Where the two are not of the same cases in the same order.
    """
    cases = [matrix.index.get_level_values("case").unique().tolist() for matrix in (first, second)]
    if cases[0] != cases[1]:
        raise ValueError("the two are of other cases, which cannot be resampled together")
    (alpha, drawn), (other_alpha, other_drawn) = (
        _resampled(matrix, resamples, rng()) for matrix in (first, second)
    )
    return estimate(alpha - other_alpha, drawn - other_drawn)
