"""Judges against radiologists who counted errors in the same pairs (Ostmeier et al. 2024, Tables 4 and 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from IPython.display import Markdown
from numpy.typing import NDArray
from scipy import stats

from radeval_lib.data import rexval
from radeval_lib.data.categories import LETTERS
from radeval_lib.data.restricted import reveal
from radeval_lib.models.judges.base import Judge, Pair
from radeval_lib.pages.green.judging import counted
from radeval_lib.roles import SYNTHETIC
from radeval_lib.roles.generated_ratings import cases
from radeval_lib.stats import agreement
from radeval_lib.stats.estimates import Estimate
from radeval_lib.study.runs import Run

FloatArray = NDArray[np.float64]
KINDS: tuple[rexval.Kind, ...] = ("significant", "insignificant")


@dataclass(frozen=True)
class Counted:
    """Pairs of reports with what several radiologists counted."""

    pairs: list[Pair]
    counts: dict[str, FloatArray]

    def means(self, kind: str) -> FloatArray:
        """The average radiologist, shape (pairs, 6)."""
        return np.asarray(self.counts[kind].mean(axis=2))


WITHOUT_COUNTS = Markdown(
    "*Left out of this build: this part needs ReXVal's error counts (numbers only, published in the GREEN "
    "repository) in the data root; see* Reproduce it yourself."
)


def rexval_counts(run: Run) -> dict[str, FloatArray] | None:
    """ReXVal's ``significant``, ``insignificant`` and ``total`` errors, each (pairs, 6, radiologists); None
    where the data root does not hold them."""
    path = run.find("rexval_counts")
    if path is None:
        return None
    records = rexval.load(path)
    return {kind: rexval.counts_array(records, kind) for kind in (*KINDS, "total")}


def load(run: Run) -> Counted | None:
    """The pairs of the role ``rated_errors`` with the counts of ``error_counts``; None where what fills the
    two roles does not speak of the same pairs. Where the generator fills both, radiologists simulated
    count in one set of its pairs."""
    if run.evidence("rated_errors") == run.evidence("error_counts") == SYNTHETIC:
        return simulated(run.profile.sizes["rated_errors"], run.seed)
    texts = {one.id: (reveal(one.reference), reveal(one.candidate)) for one in run.load("rated_errors")}
    records = run.load("error_counts")
    keys = [f"{study}/{origin}" for study, origin in sorted({(one.study, one.origin) for one in records})]
    if not all(key in texts for key in keys):
        return None
    return Counted([texts[key] for key in keys], {kind: rexval.counts_array(records, kind) for kind in KINDS})


def simulated(n: int, seed: int) -> Counted:
    """``n`` generated pairs, four of each reference, in which six simulated radiologists counted errors."""
    made = list(cases(n, seed))
    return Counted(
        [(pair.reference.findings.text, pair.candidate.findings.text) for pair, _ in made],
        {
            kind: np.array(
                [
                    [[getattr(one, kind)[letter] for one in ratings] for letter in LETTERS]
                    for _, ratings in made
                ],
                dtype=np.float64,
            )
            for kind in KINDS
        },
    )


def judged(judges: Sequence[Judge], pairs: Sequence[Pair]) -> dict[str, FloatArray]:
    """The counts of one judge, or of several that differ in what they learned from alone.

    Returns
    -------
    dict
        For each of :data:`KINDS` an array of shape (judges, pairs, 6).
    """
    found = [counted(judge.judge(pairs)) for judge in judges]
    return {
        kind: np.stack(
            [one[[f"{kind} {letter}" for letter in LETTERS]].to_numpy(np.float64) for one in found]
        )
        for kind in KINDS
    }


def differences(counts: FloatArray, mean: FloatArray) -> FloatArray:
    """Absolute differences from the average radiologist summed over categories, shape (judges, pairs).

    Parameters
    ----------
    counts, mean : shapes (judges, pairs, 6) and (pairs, 6).
    """
    return np.asarray(np.abs(counts - mean).sum(axis=-1))


def experts_differences(counts: FloatArray) -> FloatArray:
    """Absolute differences of each radiologist from the others' mean, shape (pairs, 6, radiologists)."""
    return np.stack(
        [np.abs(counts[:, c] - agreement.mean_of_others(counts[:, c])) for c in range(len(LETTERS))], axis=1
    )


def spans(counts: Mapping[str, FloatArray]) -> dict[str, str]:
    """From the least to the most that single radiologists differ from the others' mean, over all categories,
    for each of :data:`KINDS`."""
    found = {}
    for kind in KINDS:
        each = experts_differences(counts[kind]).sum(axis=1).mean(axis=0)
        found[f"{kind} errors"] = f"{each.min():.2f} to {each.max():.2f}"
    return found


def table_of(judges: dict[str, dict[str, FloatArray]], gold: Counted) -> pd.DataFrame:
    """Table 4's form; ``judges`` holds counts of :func:`judged` by name.

    Returns
    -------
    DataFrame
        One row a judge: ``significant errors`` and ``insignificant errors``, mean ± standard deviation of
        :func:`differences`, and ``(a)`` to ``(f)``, the share of pairs in which the counts of both kinds of
        error are those of the average radiologist.
    """
    rows = {}
    for name, counts in judges.items():
        row: dict[str, str | float] = {}
        exact = np.ones(counts["significant"].shape, dtype=bool)
        for kind in KINDS:
            values = differences(counts[kind], gold.means(kind))
            row[f"{kind} errors"] = f"{values.mean():.2f} ± {values.std():.2f}"
            exact &= np.isclose(counts[kind], gold.means(kind))
        row |= {
            f"({letter})": float(share)
            for letter, share in zip(LETTERS, exact.mean(axis=(0, 1)), strict=True)
        }
        rows[name] = row
    return pd.DataFrame.from_dict(rows, orient="index")


def judge_leads(
    people: FloatArray, judge: FloatArray, cases: Sequence[str], *, resamples: int, rng: np.random.Generator
) -> dict[str, Estimate]:
    """By how much a judge agrees better with radiologists than they do with each other.

    Parameters
    ----------
    people, judge : totals of errors, shapes (pairs, radiologists) and (pairs,).
    cases : the reference of each pair; whole cases are drawn for the 95% intervals.

    Returns
    -------
    dict
        ``each other``: the judge's mean tau_b with a radiologist, less that of two radiologists. ``mean`` and
        ``difference``: tau_b with the radiologists' mean, and mean absolute difference from it, where a
        radiologist is compared with the mean of the others; positive where the judge is nearer.
    """
    others, mean = agreement.mean_of_others(people), people.mean(axis=1)

    def found(rows: NDArray[np.intp]) -> list[float]:
        tau = agreement.kendall_matrix(np.column_stack([people, judge])[rows])
        own = agreement.kendall_with(people[rows], others[rows]).mean()
        apart = np.abs(people - others)[rows].mean() - np.abs(judge - mean)[rows].mean()
        return [
            tau[-1, :-1].mean() - agreement.upper_triangle(tau[:-1, :-1]).mean(),
            stats.kendalltau(judge[rows], mean[rows]).statistic - own,
            apart,
        ]

    places = list(pd.Series(range(len(people))).groupby(list(cases), sort=False).groups.values())
    drawn = rng.integers(0, len(places), (resamples, len(places)))
    draws = np.array([found(np.concatenate([places[one] for one in row])) for row in drawn])
    low, high = np.nanquantile(draws, (0.025, 0.975), axis=0)
    values = found(np.arange(len(people)))
    return {
        name: Estimate(float(values[place]), float(low[place]), float(high[place]))
        for place, name in enumerate(("each other", "mean", "difference"))
    }
