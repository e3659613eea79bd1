"""What a perfect judge would get: the marks of RadPref's radiologists in GREEN's formula and its variants.

A radiologist marked, finding by finding, what a candidate has wrong and how much it matters. From one
radiologist's marks follows a score by any formula; how far it agrees with the grades of the *other* two is
the most that a judge can reach who finds every error as a radiologist does. All weights are stated here and
none is fitted: those of significance are CRIMSON's (1, 0.5, 0.25, 0; Baharoon et al. 2026).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from radeval_lib.data.radpref import MARKS, SIGNIFICANT
from radeval_lib.stats.correlations import Resampled, resample
from radeval_lib.stats.measures import ratio

WEIGHTS: Mapping[str, float] = {
    "urgent": 1.0,
    "actionable_not_urgent": 0.5,
    "not_actionable_not_urgent": 0.25,
    "benign_expected": 0.0,
    "significant": 0.5,
    "negligible": 0.0,
}
"""What a marked error counts for; the last two are of wrong attributes."""

VARIANTS: dict[str, tuple[str, str]] = {
    "weighted errors": ("", "weighted"),
    "all errors": ("", "errors"),
    "significant errors": ("", "significant"),
    "GREEN": ("clean", "significant"),
    "GREEN, all errors": ("clean", "errors"),
    "GREEN, a match unless false": ("right", "significant"),
    "GREEN, a match unless significant": ("passable", "significant"),
    "GREEN, errors weighted": ("clean", "weighted"),
    "GREEN, one match given": ("given", "significant"),
}
"""Name -> the columns of :func:`marked` that are its matches and errors in GREEN's form, or a sum of errors
alone; higher is better."""


def marked(candidates: pd.DataFrame, marks: pd.DataFrame) -> pd.DataFrame:
    """What a radiologist marked on a candidate, by every formula: one row for each two.

    ``candidates``, ``marks``: of :func:`radpref.candidates`, by number, and :func:`radpref.marks`. Returns
    the marks with ``case``, ``others`` (mean grade of the other radiologists; NaN where nobody else graded
    the candidate), the sums ``weighted``, ``errors`` and ``significant``, and one column for each of
    :data:`VARIANTS`. Marks of a candidate that is not among ``candidates`` are a ValueError.
    """
    if unknown := set(marks["number"]) - set(candidates.index):
        raise ValueError(f"marks of candidate {min(unknown)}, which is not among the candidates")
    counts: dict[str, pd.Series] = {}
    for kind, significance in MARKS:
        counts[significance] = counts.get(significance, 0) + marks[f"{kind}_{significance}"]
    frame = marks.assign(
        case=marks["number"].map(candidates["case"]),
        weighted=sum(WEIGHTS[key] * count for key, count in counts.items()),
        errors=sum(counts.values()),
        significant=sum(count for key, count in counts.items() if key in SIGNIFICANT),
        given=marks["clean"] + 1,
    )
    for name, (matches, errors) in VARIANTS.items():
        if matches:
            matched, wrong = frame[[matches, errors]].to_numpy(float).T
            frame[name] = ratio(matched, matched + wrong)
        else:
            frame[name] = -frame[errors]
    grades = frame.groupby("number")["grade"]
    frame["others"] = (grades.transform("sum") - frame["grade"]) / (grades.transform("size") - 1)
    return frame


def single_ceilings(frame: pd.DataFrame) -> pd.DataFrame:
    """Agreement (tau_b) of each variant by one radiologist's marks with the mean grade of the others: its
    ``min``, ``mean`` and ``max`` over radiologists."""
    found = {
        rater: rows[list(VARIANTS)].corrwith(rows["others"], method="kendall")
        for rater, rows in frame.groupby("rater")
    }
    return pd.DataFrame(found).agg(["min", "mean", "max"], axis=1)


def joint_ceilings(frame: pd.DataFrame, *, resamples: int, rng: np.random.Generator) -> Resampled:
    """Agreement of each variant, averaged over the radiologists, with their mean grade.

    Marks and grades are of the same people, so this is the most that the formulas can give.
    """
    by_candidate = frame.groupby("number")
    variants, grades = dict(by_candidate[list(VARIANTS)].mean()), by_candidate["grade"].mean()
    cases = by_candidate["case"].first()
    return resample(variants, grades, groups=cases, kind="kendall", resamples=resamples, rng=rng)


def listing(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of :func:`marked` whose candidate lists a finding.

    RadPref lists abnormal findings alone, so a candidate that names nothing abnormal has nothing that could
    match. GREEN's judge also counts as matched what both reports call normal or absent.
    """
    return frame[frame["stated"] > 0]


def about_one_match(frame: pd.DataFrame) -> pd.DataFrame:
    """How far one match more moves GREEN's score, and what grades the candidates have whose score is 0.

    ``frame``: of :func:`marked`. Returns one column of text, by what each number is.
    """
    zero, step = frame.loc[frame["GREEN"] == 0, "others"], frame["GREEN, one match given"] - frame["GREEN"]
    rows = {
        "findings stated, median": f"{frame['stated'].median():.0f}",
        "of these without a mark, mean": f"{frame['clean'].mean():.1f}",
        "step of one match more, mean": f"{step.mean():.2f}",
        "scores that are exactly 0": f"{len(zero) / len(frame):.0%}",
        "grades of these candidates": f"{zero.min():.1f} to {zero.max():.1f}",
        "standard deviation of these grades": f"{zero.std():.2f}",
        "standard deviation of all grades": f"{frame['others'].std():.2f}",
    }
    return pd.DataFrame({"": rows})


def with_marks(candidates: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """``case``, ``reference`` and ``text`` of every candidate with its mean marks, by number."""
    means = frame.groupby("number")[["grade", "weighted", "errors"]].mean()
    return candidates[["case", "reference", "text"]].join(means)
