"""How far the same raters agree on counts, on ratios made of them, and on grades: alpha with intervals; and
what clinicians listed in consultation notes.

A matrix of ratings has one row per unit, one column per rater and nothing missing; its index has the unit's
``case``, which is drawn as a whole.
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
from radeval_lib.stats.resampling import ends, estimate, sum_draws
from radeval_lib.study.runs import Run
from radeval_lib.text_format import with_interval

RATED = {
    "grade": "rated_pairs",
    "errors, counted": "rated_errors",
    "errors by findings": "rated_sentences",
}
"""Roles of what the same raters said of the same texts."""
SIGNIFICANT = "significant errors, counted"
RATIO, COUNTS = "share of errors that are omissions", ["incorrect statements", "omissions"]


def rating_matrix(records: Sequence[RatedPair]) -> pd.DataFrame:
    """Return the ratings of each pair; pairs that some rater left out are left out."""
    rows = [(record.id, record.rater, record.rating, reveal(record.reference)) for record in records]
    frame = pd.DataFrame(rows, columns=["id", "rater", "rating", "case"])
    frame["case"] = pd.factorize(frame["case"])[0]
    matrix = frame.pivot_table(index=["id", "case"], columns="rater", values="rating").dropna()
    return matrix


def graders_who_counted(run: Run) -> tuple[pd.DataFrame, dict[str, Estimate]]:
    """Return agreement of raters who gave grades, counts and ratios, and by how much it differs.

    Returns
    -------
    table : ``what``; columns as :func:`alphas`, the interval with the value as text; on RadPref, whose marks
        tell them apart, also significant errors alone.
    gaps : differences of alpha on the same draws of cases, by name.
    """
    resamples = run.profile.resamples
    rated = {quantity: rating_matrix(run.load(role)) for quantity, role in RATED.items()}
    if len({tuple(matrix.index.get_level_values("id")) for matrix in rated.values()}) > 1:
        raise DataError(
            "grades and counts rate different texts", "", "Configure the roles with one data set."
        )
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
        of_significant, grade = (
            marked.pivot_table(index=["number", "case"], columns="rater", values=name).dropna()
            for name in ("significant", "grade")
        )
        rated[SIGNIFICANT] = of_significant
        compared["significant errors alone minus grades"] = of_significant, grade
    gaps = {name: gain(*pair, resamples, lambda: run.rng("agreement")) for name, pair in compared.items()}
    streams = {SIGNIFICANT: "alpha significant errors"}
    agreed = pd.concat(
        alphas(
            {quantity: matrix}, resamples=resamples, rng=run.rng(streams.get(quantity, f"alpha {quantity}"))
        )
        for quantity, matrix in rated.items()
    )
    intervals = [with_interval(row.alpha, row.low, row.high, ".2f") for row in agreed.itertuples()]
    table = agreed.assign(alpha=intervals).drop(columns=["low", "high"])
    return table.rename_axis("what").reset_index(), gaps


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
    """Return alpha, and alpha in each resample of cases, shape (resamples,); NaN if all ratings are equal.

    As :func:`~radeval_lib.stats.agreement.interval_alpha` of the units repeated as often as their case
    was drawn, from sums over units.
    """
    values = matrix.to_numpy(dtype=np.float64).T
    case_of = pd.factorize(matrix.index.get_level_values("case"))[0]
    raters = len(values)
    centred = values - values.mean()
    within, squares = centred.var(axis=0, ddof=1), (centred**2).sum(axis=0)
    by_unit = np.column_stack([np.ones(len(case_of)), within, centred.sum(axis=0), squares])
    by_case = pd.DataFrame(by_unit).groupby(case_of).sum().to_numpy()

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
    that ratings of the same cases, in the same order, are resampled together."""
    (alpha, drawn), (other_alpha, other_drawn) = (
        _resampled(matrix, resamples, rng()) for matrix in (first, second)
    )
    return estimate(alpha - other_alpha, drawn - other_drawn)


def listed_facts(judgements: Sequence[NoteJudgement]) -> pd.DataFrame:
    """Return what each clinician listed in each note.

    Index ``case``, ``group``, ``clinician``; ``candidate`` (str; restricted texts are laid open, so this must
    not be shown); :data:`COUNTS`, ``critical errors``, ``seconds`` (NaN if not known).
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


def note_matrices(lists: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return what :func:`listed_facts` has and ratios of it, for :func:`alphas`:
    one row per note, one column per clinician; only notes of which all clinicians have a value."""
    errors = lists[COUNTS].sum(axis=1)
    word_counts = lists["candidate"].str.split().str.len().clip(lower=1)
    values = {name: lists[name] for name in (*COUNTS, "critical errors", "seconds")} | {
        "errors by words of the note": errors / word_counts,
        RATIO: lists["omissions"] / errors.where(errors > 0),
    }
    matrices = {name: column.unstack("clinician").dropna() for name, column in values.items()}
    return {name: matrix for name, matrix in matrices.items() if len(matrix)}
