"""Judges beside each other on pairs with labels: absolute errors of counts, and likeness of the wording.

Source: Ostmeier et al. 2024, Tables 2, 3, 8 and 9, where labels are GPT-4's analyses. Here they are of a
judge who knows every error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib.models.judges.base import Judge, Pair
from radeval_lib.models.judges.sentence_judge import LearnedJudge
from radeval_lib.pages.green.judging import QUANTITIES, counted
from radeval_lib.pages.green.other_modalities import Modified, modified, other_pairs
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.resampling import drawn_counts
from radeval_lib.synthetic import SyntheticPair, green_answer, green_pairs

ABDOMINAL_CT = (("CT", "ABDOMEN"), ("CT", "ABDOMEN-PELVIS"))
"""CellOutput out of what a judge learns from, as the paper's abdominal CT."""

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Labelled:
    """Pairs of reports with the analyses that count as right."""

    pairs: list[Pair]
    labels: list[str]

    def __add__(self, other: Labelled) -> Labelled:
        return Labelled([*self.pairs, *other.pairs], [*self.labels, *other.labels])


def labelled(made: Sequence[SyntheticPair | Modified]) -> Labelled:
    """Generated pairs with the analysis of a judge who knows every error."""
    return Labelled(
        [(one.reference.findings.text, one.candidate.findings.text) for one in made],
        [green_answer(one.reference, one.candidate, one.comparison) for one in made],
    )


def chest(n: int, seed: int) -> Labelled:
    """``n`` X-rays of the chest of each of GREEN's five heuristics."""
    return labelled(list(green_pairs(n, seed)))


def other_images(n: int, seed: int) -> Labelled:
    """``n`` pairs of other kinds of images but :data:`ABDOMINAL_CT`, by the paper's four methods."""
    kinds = [kind for kind in other_pairs() if kind not in ABDOMINAL_CT]
    return labelled(list(modified(n, seed, kinds)))


def abdominal_ct(n: int, seed: int) -> Labelled:
    """``n`` pairs of abdominal CT by the same methods."""
    return labelled(list(modified(n, seed, ABDOMINAL_CT)))


def learned(sets: Sequence[Labelled], name: str) -> list[Judge]:
    """One judge for each set that it learns from."""
    return [LearnedJudge(one.pairs, one.labels, f"{name} {place}") for place, one in enumerate(sets)]


def absolute_errors(judges: Sequence[Judge], gold: Labelled) -> dict[str, FloatArray]:
    """Absolute differences of counts and scores from the labels'.

    Parameters
    ----------
    judges : one, or several that differ in what they learned from alone.

    Returns
    -------
    dict
        For each of :data:`~radeval_lib.pages.green.judging.QUANTITIES` an array, (judges, pairs).
    """
    right = counted(gold.labels)
    found = [counted(judge.judge(gold.pairs)) for judge in judges]
    return {
        name: np.array([(one[name] - right[name]).abs().to_numpy(np.float64) for one in found])
        for name in QUANTITIES
    }


def mean_and_sd(errors: Mapping[str, Mapping[str, FloatArray]], gold: Labelled) -> pd.DataFrame:
    """Table 2's form: the labels' mean counts above the judges' mean absolute errors, as ``mean ± sd``."""
    right = counted(gold.labels)
    rows = {"labels": {name: _both(right[name].to_numpy(np.float64)) for name in QUANTITIES[:-1]}}
    rows |= {judge: {name: _both(values) for name, values in by.items()} for judge, by in errors.items()}
    return pd.DataFrame.from_dict(rows, orient="index").reindex(columns=list(QUANTITIES)).fillna("")


def _both(values: FloatArray) -> str:
    return f"{values.mean():.2f} ± {values.std():.2f}"


def paired_difference(
    first: FloatArray, second: FloatArray, *, resamples: int, rng: np.random.Generator
) -> Estimate:
    """By how much a number is lower for one judge than for another, with the 95% interval.

    Parameters
    ----------
    first, second : shapes (judges, pairs) with the same pairs; judges (what was learned from) and pairs are
        both drawn anew.
    """
    draws = []
    for weights in drawn_counts(first.shape[1], resamples, rng, first.shape[1]):
        sides = []
        for values in (first, second):
            chosen = rng.integers(0, len(values), size=(len(weights), len(values)))
            means = weights @ values.T / values.shape[1]  # (resamples, judges)
            sides.append(np.take_along_axis(means, chosen, axis=1).mean(axis=1))
        draws.append(sides[1] - sides[0])
    low, high = np.quantile(np.concatenate(draws), (0.025, 0.975))
    return Estimate(float(second.mean() - first.mean()), float(low), float(high))
