"""How far the same raters agree on counts, on ratios made of them, and on grades: alpha, of real raters with
intervals, and of simulated ones who count at different levels of detail.

The claim: raters who cut a text into facts of different sizes disagree on counts and agree on ratios
(Moramarco et al. 2021, Section 6.1). The divide is how far the least agreed ratio lies above the best agreed
count; the claim holds where it is positive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib.data.errors import DataError
from radeval_lib.data.records import ErrorCount, NoteJudgement, RatedPair
from radeval_lib.data.restricted import reveal
from radeval_lib.stats.agreement import interval_alpha
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.fact_counts import FactCounts
from radeval_lib.stats.resampling import FloatArray, ends, estimate, sum_draws
from radeval_lib.study.runs import Run
from radeval_lib.synthetic.fact_raters import Description, count_facts
from radeval_lib.wording import with_interval

RAW = {"R facts": "reference", "G facts": "generated", "G&R facts": "common", "G acc facts": "correct"}
DERIVED = {"Precision": "precision", "Recall": "recall", "F-Score": "f_score"}
FIELDS = {**RAW, **DERIVED}
"""Rows of the paper's Table 2 and the counts behind them; accuracy, almost always 1, is left out."""

OVERLAPS = (0.60, 0.60, 0.45, 0.95)  # share of the reference that each simulated model copies
MIDDLE = 0.65  # granularity about which raters spread


def three_raters(spread: float) -> tuple[float, float, float]:
    """Granularities of three raters, two finer and one coarser, that lie ``spread`` apart."""
    return MIDDLE + spread, MIDDLE + spread, MIDDLE - 2 * spread


def count_alphas(counted: Sequence[Sequence[FactCounts]]) -> dict[str, float]:
    """Krippendorff's alpha of each row of :data:`FIELDS` over raters; units where a rater has no value are
    left out.

    ``counted``: the raters' counts, one list a rater, in the same order of units.
    """
    found = {}
    for name, field in FIELDS.items():
        table = np.array([[getattr(one, field) for one in rater] for rater in counted], dtype=np.float64)
        table = table[:, np.isfinite(table).all(axis=0)]
        found[name] = float(interval_alpha(table)) if table.shape[1] else float("nan")
    return found


def ratio_count_gap(agreement: Mapping[str, float]) -> float:
    """Lowest alpha of a ratio minus highest alpha of a count; positive where the claim holds."""
    return min(agreement[name] for name in DERIVED) - max(agreement[name] for name in RAW)


@dataclass(frozen=True)
class Scenario:
    """One departure from the mechanism, in steps."""

    name: str
    unit: str
    steps: tuple[float, ...]
    texts: Callable[[np.random.Generator, float], list[Description]]
    alike: Callable[[float], float] = lambda step: 1.0
    slips: Callable[[float], float] = lambda step: 0.0


def sweep(rng: np.random.Generator, scenario: Scenario, spread: float, repeats: int) -> pd.DataFrame:
    """Agreement in each repetition of each step of raters whose granularities lie ``spread`` apart.

    Returns ``step``, an alpha for each row of :data:`FIELDS`, and ``divide``.
    """
    rows = []
    for _ in range(repeats):
        for step in scenario.steps:
            texts, raters = scenario.texts(rng, step), three_raters(spread)
            settings = {"alike": scenario.alike(step), "slips": scenario.slips(step)}
            found = count_alphas(count_facts(rng, texts, raters, **settings))
            rows.append({"step": step, **found, "divide": ratio_count_gap(found)})
    return pd.DataFrame(rows)


Ratings = tuple[pd.DataFrame, pd.Series]
"""A matrix, one row a unit and one column a rater, and the case of each unit."""


def rating_matrix(records: Sequence[RatedPair]) -> Ratings:
    """Ratings as a table, one row a pair and one column a rater, and the case of each pair.

    Pairs that some rater left out are left out.
    """
    if not records:
        raise DataError("no rated pairs")
    rows = [(one.id, one.rater, one.rating, reveal(one.reference)) for one in records]
    frame = pd.DataFrame(rows, columns=["id", "rater", "rating", "case"])
    table = frame.pivot_table(index="id", columns="rater", values="rating").dropna()
    if table.empty:
        raise DataError("no pair that all raters rated")
    cases = frame.groupby("id")["case"].first().loc[table.index]
    return table, pd.Series(pd.factorize(cases)[0], index=table.index)


def counted_and_graded(run: Run) -> dict[str, Ratings]:
    """The same raters' grades, counts of errors, and errors by what could be wrong, on the same texts.

    Returns ``grade``, ``errors, counted`` and ``errors by findings``, each as :func:`rating_matrix` gives it.
    Raises DataError: where the roles are filled by different texts.
    """
    filled = {
        "grade": "rated_pairs",
        "errors, counted": "rated_errors",
        "errors by findings": "rated_sentences",
    }
    found = {name: rating_matrix(run.load(role)) for name, role in filled.items()}
    texts = {tuple(matrix.index) for matrix, _ in found.values()}
    if len(texts) > 1:
        raise DataError("grades and counts are of different texts", "", "Fill the roles from one data set.")
    return found


def graders_who_counted(run: Run) -> tuple[pd.DataFrame, Estimate]:
    """Agreement on grades, counts and ratios of raters who gave them all, and what counting gains.

    Returns
    -------
    table : index ``ratings`` and ``what``; columns as :func:`alphas`, the interval with the value as text.
    gain : alpha of counts minus alpha of grades, on the same draws of cases.
    """
    pairs, resamples = counted_and_graded(run), run.profile.resamples
    agreed = pd.concat(
        alphas({name: matrix}, cases, resamples=resamples, rng=run.rng(f"alpha {name}"))
        for name, (matrix, cases) in pairs.items()
    )
    sorted_errors, studies = error_matrices(run.load("error_counts"))
    by_significance = alphas(sorted_errors, studies, resamples=resamples, rng=run.rng("alpha errors"))
    sources = {run.source("rated_pairs"): agreed, run.source("error_counts"): by_significance}
    table = pd.concat(sources, names=["ratings", "what"]).reset_index()
    intervals = [with_interval(row.alpha, row.low, row.high, ".2f") for row in table.itertuples()]
    table = table.assign(alpha=intervals).drop(columns=["low", "high"])
    return table, gain(pairs["errors, counted"], pairs["grade"], resamples, lambda: run.rng("agreement"))


def error_matrices(records: Sequence[ErrorCount]) -> tuple[dict[str, pd.DataFrame], pd.Series]:
    """Errors that raters counted in each candidate, and a ratio made of them.

    ``matrices``: ``all errors``, ``significant errors`` and ``share that is significant`` (only candidates in
    which every rater counted an error); one row a candidate, one column a rater. ``cases``: the case of each
    candidate.
    """
    rows = [(one.study, one.origin, one.rater, one.count, one.count * one.significant) for one in records]
    frame = pd.DataFrame(rows, columns=["study", "origin", "rater", "errors", "significant"])
    summed = frame.groupby(["study", "origin", "rater"])[["errors", "significant"]].sum()
    errors, significant = (summed[name].unstack("rater") for name in ("errors", "significant"))
    matrices = {
        "all errors": errors,
        "significant errors": significant,
        "share that is significant": (significant / errors.where(errors > 0)).dropna(),
    }
    return matrices, pd.Series(errors.index.get_level_values("study"), index=errors.index)


def note_matrices(records: Sequence[NoteJudgement]) -> tuple[dict[str, pd.DataFrame], pd.Series]:
    """What clinicians listed in each note: counts, counts by length, and the time of the correction.

    ``matrices``: ``incorrect statements``, ``omissions``, ``critical errors``, ``errors by words of the
    note`` and ``share of errors that are omissions`` (only notes in which every clinician listed an error),
    and ``seconds`` where all times are known; one row a note, one column a clinician. ``cases``: the
    consultation of each note.
    """
    frame = pd.DataFrame(
        {
            "case": one.case,
            "group": one.group,
            "rater": one.rater,
            "incorrect statements": len(one.incorrect),
            "omissions": len(one.omissions),
            "critical errors": sum(error.critical for error in (*one.incorrect, *one.omissions)),
            "words": max(1, len(reveal(one.candidate).split())),
            "seconds": np.nan if one.seconds is None else one.seconds,
        }
        for one in records
    ).set_index(["case", "group", "rater"])
    errors = frame["incorrect statements"] + frame["omissions"]
    frame["errors by words of the note"] = errors / frame["words"]
    frame["share of errors that are omissions"] = frame["omissions"] / errors.where(errors > 0)
    names = [name for name in frame if name != "words"]
    matrices = {name: frame[name].unstack("rater").dropna() for name in names}
    matrices = {name: matrix for name, matrix in matrices.items() if len(matrix)}
    index = frame["words"].unstack("rater").index
    return matrices, pd.Series(index.get_level_values("case"), index=index)


def alphas(
    matrices: Mapping[str, pd.DataFrame],
    cases: pd.Series,
    *,
    resamples: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Krippendorff's alpha, interval level, of each matrix, with percentile intervals that draw whole cases.

    ``matrices``: one row a unit, one column a rater, nothing missing. ``cases``: the case of each unit; its
    index covers that of every matrix. Index: the names. ``alpha``, ``low``, ``high``, ``units``, ``cases``,
    ``raters``. Resamples in which all ratings are equal are left out.
    """
    rows = []
    for matrix in matrices.values():
        values = matrix.to_numpy(dtype=np.float64).T
        place = pd.factorize(cases.loc[matrix.index])[0]
        low, high = ends(_draws(values, place, resamples, rng))
        raters, units = values.shape
        rows.append((float(interval_alpha(values)), low, high, units, int(place.max()) + 1, raters))
    columns = ["alpha", "low", "high", "units", "cases", "raters"]
    return pd.DataFrame(rows, index=list(matrices), columns=columns)


def _draws(
    values: NDArray[np.float64], place: NDArray[np.intp], resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Alpha of each resample of cases, shape (resamples,); NaN where all ratings are equal.

    As :func:`~radeval_lib.stats.agreement.interval_alpha` of the units repeated as often as their case
    was drawn, from sums over units.
    """
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

    return sum_draws(by_case, alpha, resamples=resamples, rng=rng)


def gain(first: Ratings, second: Ratings, resamples: int, rng: Callable[[], np.random.Generator]) -> Estimate:
    """Alpha of ``first`` minus alpha of ``second``; ``rng`` makes the same generator at each call, so that
    ratings of the same cases are resampled together."""
    values, draws = [], []
    for matrix, cases in (first, second):
        table = matrix.to_numpy(dtype=np.float64).T
        values.append(float(interval_alpha(table)))
        draws.append(_draws(table, pd.factorize(cases.loc[matrix.index])[0], resamples, rng()))
    return estimate(values[0] - values[1], draws[0] - draws[1])
