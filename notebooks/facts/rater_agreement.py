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

# The rated quantities, with the roles of their ratings. The same raters rate the same texts in all roles.
RATED = {
    "grade": "rated_pairs",
    "errors, counted": "rated_errors",
    "errors by findings": "rated_sentences",
}
SIGNIFICANT = "significant errors, counted"
RATIO, COUNTS = "share of errors that are omissions", ["incorrect statements", "omissions"]


def make_rating_matrix(records: Sequence[RatedPair]) -> pd.DataFrame:
    """Return the rating matrix of the pairs that all raters rated, with index levels ``id`` and ``case``.

    Pairs with the same reference have the same case, numbered from 0.
    """
    rows = [(record.id, record.rater, record.rating, reveal(record.reference)) for record in records]
    frame = pd.DataFrame(rows, columns=["id", "rater", "rating", "case"])
    frame["case"] = pd.factorize(frame["case"])[0]
    return frame.pivot_table(index=["id", "case"], columns="rater", values="rating").dropna()


def compare_counts_with_grades(run: Run) -> tuple[pd.DataFrame, dict[str, Estimate]]:
    """Return the raters' agreement on grades, error counts and ratios, and differences in agreement.

    Returns
    -------
    table : one row per quantity of :data:`RATED` and, for RadPref, which marks significant errors, of
        :data:`SIGNIFICANT`. Columns are ``what`` (the quantity), ``alpha`` (a string with the confidence
        interval), and the numbers of ``units``, ``cases`` and ``raters``.
    gaps : a mapping from the name of each difference, such as ``counted errors minus grades``, to the
        difference in alpha on the same draws of cases.

    Raises
    ------
    DataError
        If the texts that all raters rated are not the same in all roles of :data:`RATED`.
    """
    resamples = run.profile.resamples
    rated = {quantity: make_rating_matrix(run.load(role)) for quantity, role in RATED.items()}
    if len({tuple(matrix.index.get_level_values("id")) for matrix in rated.values()}) > 1:
        problem = f"the texts that all raters rated differ between the roles {', '.join(RATED.values())}"
        raise DataError(problem, remedy="In the profile, give these roles sources with the same rated texts.")
    compared = {
        "counted errors minus grades": (rated["errors, counted"], rated["grade"]),
        "counted errors minus errors by findings": (rated["errors, counted"], rated["errors by findings"]),
    }
    if "radpref" in run.source_of("data", "rated_pairs"):
        recording = run.recording("radpref")
        ratings = recording.parts["ratings"]
        columns = ["_".join(mark) for mark in radpref.MARKS if mark[1] in radpref.SIGNIFICANT]
        cases = ratings["number"].map(recording.table.set_index("number")["case"])
        counted = ratings.assign(case=cases, significant=ratings[columns].sum(axis=1))
        significant, grade = (
            counted.pivot_table(index=["number", "case"], columns="rater", values=name).dropna()
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
    """Return Krippendorff's alpha of each rating matrix, with a 95% percentile interval over draws of cases.

    ``matrices`` maps names to rating matrices. The DataFrame is indexed by name; columns are ``alpha``,
    ``low``, ``high``, and the numbers of ``units``, ``cases`` and ``raters``. Resamples in which all ratings
    are equal do not count for the interval.
    """
    rows = {}
    for name, matrix in matrices.items():
        alpha, resampled = _resample_alpha(matrix, resamples, rng)
        cases = matrix.index.get_level_values("case").nunique()
        rows[name] = (alpha, *percentile_ends(resampled), len(matrix), cases, matrix.shape[1])
    columns = ["alpha", "low", "high", "units", "cases", "raters"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def _resample_alpha(
    matrix: pd.DataFrame, resamples: int, rng: np.random.Generator
) -> tuple[float, FloatArray]:
    """Return the alpha of a rating matrix, and its alphas in resamples of cases, shape (resamples,).

    An alpha is NaN if all ratings are equal. The alpha of a resample equals
    :func:`~radeval_lib.stats.agreement.interval_alpha` of a matrix in which each unit is repeated as often as
    its case was drawn, but is computed faster, from sums over units.
    """
    ratings = matrix.to_numpy(dtype=np.float64).T
    case_of = pd.factorize(matrix.index.get_level_values("case"))[0]
    n_raters = len(ratings)
    centred = ratings - ratings.mean()
    variances, squares = centred.var(axis=0, ddof=1), (centred**2).sum(axis=0)
    by_unit = np.column_stack([np.ones(len(case_of)), variances, centred.sum(axis=0), squares])
    by_case = pd.DataFrame(by_unit).groupby(case_of).sum().to_numpy()

    def compute_alpha(totals: FloatArray) -> FloatArray:
        """Return alpha from the totals of the columns of ``by_unit``, shape (resamples, 4)."""
        units, variances, sums, squares = totals.T
        overall = (squares - sums**2 / (units * n_raters)) / (units * n_raters - 1)  # variance of all ratings
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(overall > 1e-12, 1 - variances / units / overall, np.nan)

    return float(interval_alpha(ratings)), resample_sums(by_case, compute_alpha, resamples=resamples, rng=rng)


def subtract_alphas(
    first: pd.DataFrame, second: pd.DataFrame, resamples: int, rng: Callable[[], np.random.Generator]
) -> Estimate:
    """Return the alpha of the rating matrix ``first`` minus that of ``second``, with its 95% interval.

    ``rng`` must return a new generator in the same state at each call, so that both matrices are resampled by
    the same draws; their cases must have the same order of first appearance.
    """
    (minuend, resampled), (subtrahend, other_resampled) = (
        _resample_alpha(matrix, resamples, rng()) for matrix in (first, second)
    )
    return estimate(minuend - subtrahend, resampled - other_resampled)


def tabulate_note_errors(judgements: Sequence[NoteJudgement]) -> pd.DataFrame:
    """Return how many errors each clinician listed in each note, one row per judgement.

    Index levels are ``case``, ``group`` and ``clinician``. Columns are ``candidate`` (the note; restricted
    texts are revealed, so never show it), the counts in :data:`COUNTS`, ``critical errors`` (their number),
    and ``seconds`` (the time that correction took; NaN if it was not measured).
    """
    return pd.DataFrame(
        {
            "case": judgement.case,
            "group": judgement.group,
            "clinician": judgement.rater,
            "candidate": reveal(judgement.candidate),
            "incorrect statements": len(judgement.incorrect),
            "omissions": len(judgement.omissions),
            "critical errors": sum(error.critical for error in (*judgement.incorrect, *judgement.omissions)),
            "seconds": np.nan if judgement.seconds is None else judgement.seconds,
        }
        for judgement in judgements
    ).set_index(["case", "group", "clinician"])


def make_note_matrices(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return a mapping from the name of each count and ratio of errors to its rating matrix.

    ``table`` is the table that :func:`tabulate_note_errors` returned. The names are its numeric columns,
    ``errors by words of the note``, and :data:`RATIO`. A matrix has one row per note and one column per
    clinician. Notes for which a clinician has no value are left out, as are matrices without notes.
    """
    errors = table[COUNTS].sum(axis=1)
    word_counts = table["candidate"].str.split().str.len().clip(lower=1)
    values = {name: table[name] for name in (*COUNTS, "critical errors", "seconds")} | {
        "errors by words of the note": errors / word_counts,
        RATIO: table["omissions"] / errors.where(errors > 0),
    }
    matrices = {name: column.unstack("clinician").dropna() for name, column in values.items()}
    return {name: matrix for name, matrix in matrices.items() if len(matrix)}
