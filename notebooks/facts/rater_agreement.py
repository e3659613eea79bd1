"""Compare the agreement of the same raters on counts, on ratios of counts, and on grades.

A *rating matrix* has one row per rated unit and one column per rater, without missing values; a level of its
index is the unit's ``case``, and resamples draw whole cases. Agreement is Krippendorff's alpha at the
interval level.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from radeval_lib.data import radpref
from radeval_lib.data.errors import DataError
from radeval_lib.data.records import NoteJudgement, RatedPair
from radeval_lib.data.restricted import reveal
from radeval_lib.stats.agreement import interval_alpha
from radeval_lib.stats.base import Estimate, FloatArray
from radeval_lib.stats.resampling import estimate, percentile_ends, resample_sums
from radeval_lib.study.runs import Run
from radeval_lib.text_format import with_interval

# By quantity, the role of the ratings by the same raters of the same texts.
RATED = {
    "grade": "rated_pairs",
    "errors, counted": "rated_errors",
    "errors by findings": "rated_sentences",
}
SIGNIFICANT = "significant errors, counted"
RATIO, COUNTS = "share of errors that are omissions", ["incorrect statements", "omissions"]


def make_rating_matrix(records: Sequence[RatedPair]) -> pd.DataFrame:
    """Return the rating matrix of the pairs that all raters rated, with the index ``id`` and ``case``.

    Pairs with the same reference have the same case, a number from 0.
    """
    rows = [(record.id, record.rater, record.rating, reveal(record.reference)) for record in records]
    frame = pd.DataFrame(rows, columns=["id", "rater", "rating", "case"])
    frame["case"] = pd.factorize(frame["case"])[0]
    return frame.pivot_table(index=["id", "case"], columns="rater", values="rating").dropna()


def compare_counts_with_grades(run: Run) -> tuple[pd.DataFrame, dict[str, Estimate]]:
    """Return the raters' agreement on grades, error counts and ratios, and the differences between these.

    Returns
    -------
    table : one row per quantity, which is named in the column ``what``: those of :data:`RATED` and, for
        RadPref, which marks significant errors, :data:`SIGNIFICANT`. ``alpha`` is a string with the interval;
        ``units``, ``cases`` and ``raters`` are as in :func:`resample_alphas`.
    gaps : the difference of two quantities' alphas on the same draws of cases, by its name (``counted errors
        minus grades``).

    Raises
    ------
    DataError
        If the roles of :data:`RATED` do not rate the same texts.
    """
    resamples = run.profile.resamples
    rated = {quantity: make_rating_matrix(run.load(role)) for quantity, role in RATED.items()}
    if len({tuple(matrix.index.get_level_values("id")) for matrix in rated.values()}) > 1:
        problem = f"the roles {', '.join(RATED.values())} rate different texts"
        raise DataError(problem, remedy="In the profile, give them sources from one data set.")
    compared = {
        "counted errors minus grades": (rated["errors, counted"], rated["grade"]),
        "counted errors minus errors by findings": (rated["errors, counted"], rated["errors by findings"]),
    }
    if "radpref" in run.source_of("data", "rated_pairs"):
        stored = run.recording("radpref")
        marks = stored.parts["ratings"]
        kinds = ["_".join(mark) for mark in radpref.MARKS if mark[1] in radpref.SIGNIFICANT]
        cases = marks["number"].map(stored.table.set_index("number")["case"])
        marked = marks.assign(case=cases, significant=marks[kinds].sum(axis=1))
        significant, grade = (
            marked.pivot_table(index=["number", "case"], columns="rater", values=name).dropna()
            for name in ("significant", "grade")
        )
        rated[SIGNIFICANT] = significant
        compared["significant errors alone minus grades"] = significant, grade
    gaps = {
        name: subtract_alphas(*pair, resamples, lambda: run.rng("agreement"))
        for name, pair in compared.items()
    }
    streams = {quantity: f"alpha {quantity}" for quantity in rated}
    streams[SIGNIFICANT] = "alpha significant errors"
    agreement = pd.concat(
        resample_alphas({quantity: matrix}, resamples=resamples, rng=run.rng(streams[quantity]))
        for quantity, matrix in rated.items()
    )
    intervals = [with_interval(row.alpha, row.low, row.high, ".2f") for row in agreement.itertuples()]
    table = agreement.assign(alpha=intervals).drop(columns=["low", "high"])
    return table.rename_axis("what").reset_index(), gaps


def resample_alphas(
    matrices: Mapping[str, pd.DataFrame], *, resamples: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Return Krippendorff's alpha of each rating matrix, with 95% percentile intervals over draws of cases.

    The index is the matrices' names; columns are ``alpha``, ``low``, ``high`` and the numbers of ``units``,
    ``cases`` and ``raters``. Resamples in which all ratings are equal are left out.
    """
    rows = {}
    for name, matrix in matrices.items():
        alpha, drawn = _resample_alpha(matrix, resamples, rng)
        cases = matrix.index.get_level_values("case").nunique()
        rows[name] = (alpha, *percentile_ends(drawn), len(matrix), cases, matrix.shape[1])
    columns = ["alpha", "low", "high", "units", "cases", "raters"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def _resample_alpha(
    matrix: pd.DataFrame, resamples: int, rng: np.random.Generator
) -> tuple[float, FloatArray]:
    """Return two things: a rating matrix's alpha, and its alphas in resamples of cases, shape (resamples,).

    An alpha is NaN if all ratings are equal. A resample's alpha equals
    :func:`~radeval_lib.stats.agreement.interval_alpha` of a matrix in which each unit is repeated as often as
    its case was drawn, but it is computed faster, from sums over units.
    """
    values = matrix.to_numpy(dtype=np.float64).T
    case_of = pd.factorize(matrix.index.get_level_values("case"))[0]
    raters = len(values)
    centred = values - values.mean()
    within, squares = centred.var(axis=0, ddof=1), (centred**2).sum(axis=0)
    by_unit = np.column_stack([np.ones(len(case_of)), within, centred.sum(axis=0), squares])
    by_case = pd.DataFrame(by_unit).groupby(case_of).sum().to_numpy()

    def alpha_of(case_sums: FloatArray) -> FloatArray:
        units, within, sums, squares = case_sums.T
        spread = (squares - sums**2 / (units * raters)) / (units * raters - 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(spread > 1e-12, 1 - within / units / spread, np.nan)

    return float(interval_alpha(values)), resample_sums(by_case, alpha_of, resamples=resamples, rng=rng)


def subtract_alphas(
    first: pd.DataFrame, second: pd.DataFrame, resamples: int, rng: Callable[[], np.random.Generator]
) -> Estimate:
    """Return alpha of the rating matrix ``first`` minus alpha of ``second``, with its 95% interval.

    ``rng`` must return a new generator in the same state at each call. Then both matrices are resampled by
    the same draws, if they have the same cases in the same order of first appearance.
    """
    (alpha, drawn), (other_alpha, other_drawn) = (
        _resample_alpha(matrix, resamples, rng()) for matrix in (first, second)
    )
    return estimate(alpha - other_alpha, drawn - other_drawn)


def tabulate_note_errors(judgements: Sequence[NoteJudgement]) -> pd.DataFrame:
    """Return the numbers of errors that each clinician listed in each note.

    The index is ``case``, ``group`` and ``clinician``. Columns are ``candidate`` (the note; restricted texts
    are revealed, so never show it), those of :data:`COUNTS`, ``critical errors``, and ``seconds`` (time of
    correction, NaN if it was not measured).
    """
    return pd.DataFrame(
        {
            "case": judged.case,
            "group": judged.group,
            "clinician": judged.rater,
            "candidate": reveal(judged.candidate),
            "incorrect statements": len(judged.incorrect),
            "omissions": len(judged.omissions),
            "critical errors": sum(error.critical for error in (*judged.incorrect, *judged.omissions)),
            "seconds": np.nan if judged.seconds is None else judged.seconds,
        }
        for judged in judgements
    ).set_index(["case", "group", "clinician"])


def make_note_matrices(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the rating matrices of the columns of :func:`tabulate_note_errors` and of two ratios of these, by name.

    A matrix has one row per note and one column per clinician. It leaves out notes for which a clinician has
    no value; without any note, the matrix is left out.
    """
    errors = table[COUNTS].sum(axis=1)
    word_counts = table["candidate"].str.split().str.len().clip(lower=1)
    values = {name: table[name] for name in (*COUNTS, "critical errors", "seconds")} | {
        "errors by words of the note": errors / word_counts,
        RATIO: table["omissions"] / errors.where(errors > 0),
    }
    matrices = {name: column.unstack("clinician").dropna() for name, column in values.items()}
    return {name: matrix for name, matrix in matrices.items() if len(matrix)}
