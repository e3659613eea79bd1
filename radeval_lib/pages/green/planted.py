"""Errors planted by the generator, and what a judge finds of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from radeval_lib.data.categories import CATEGORIES
from radeval_lib.models.judges.base import Judge
from radeval_lib.models.judges.rules import Judgement, judge_pair
from radeval_lib.models.judges.rules.items import Synonyms
from radeval_lib.pages.green.judging import counted
from radeval_lib.stats.resampling import FloatArray, drawn_counts
from radeval_lib.synthetic import ErrorPair, SyntheticReport, error_pairs, rewrite
from radeval_lib.synthetic.generator import Pair
from radeval_lib.synthetic.records import SyntheticError

Planted = tuple[ErrorPair, SyntheticReport]
ENDS = (0.025, 0.975)


def planted_pairs(n: int, seed: int, anatomy: Pair | None) -> list[Planted]:
    """Pairs with planted errors and the candidate as it is judged: said anew, in other words and half of the
    time in another style, so that shared wording does not give its errors away."""
    pairs = []
    for number, pair in enumerate(error_pairs(n, seed=seed, modality_anatomy=anatomy)):
        said = partial(rewrite, kind="style" if number % 2 else "synonym", seed=seed)
        try:
            candidate = said(pair.candidate)
        except SyntheticError:  # it has no other wording
            candidate = pair.candidate
        pairs.append((pair, candidate))
    return pairs


def judged(pairs: Sequence[Planted], synonyms: Synonyms | None = None) -> list[Judgement]:
    """What the rules judge says of each pair, with the lexicon alone or with synonyms beside it."""
    return [judge_pair(pair.reference.findings.text, said.findings.text, synonyms) for pair, said in pairs]


def counts(pairs: Sequence[Planted], judgements: Sequence[Judgement]) -> pd.DataFrame:
    """Significant errors, planted and found.

    Returns
    -------
    DataFrame
        One row a pair and category: ``pair``, ``category``, ``planted``, ``found`` and ``hit``, the smaller
        of the two.
    """
    rows = []
    for number, ((pair, _), judgement) in enumerate(zip(pairs, judgements, strict=True)):
        gold = pair.comparison.count(True)
        for letter, found in zip(CATEGORIES, judgement.count(True), strict=True):
            rows.append((number, letter, gold[letter], found, min(gold[letter], found)))
    return pd.DataFrame(rows, columns=["pair", "category", "planted", "found", "hit"])


def micro_f1(table: pd.DataFrame, *, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Micro-F1 of the counts, by category and over all, with 95 % intervals from drawing pairs.

    Returns
    -------
    DataFrame
        Index ``category`` and "all"; ``planted``, ``found``, ``value``, ``low``, ``high``.
    """
    wide = table.pivot(index="pair", columns="category", values=["planted", "found", "hit"])
    stacked = np.stack([wide[name].to_numpy(float) for name in ("hit", "planted", "found")])
    stacked = np.concatenate([stacked, stacked.sum(axis=2, keepdims=True)], axis=2)
    low, high = np.nanquantile(_resampled(stacked, resamples, rng), ENDS, axis=0)
    total = stacked.sum(axis=1)
    return pd.DataFrame(
        {
            "planted": total[1].astype(int),
            "found": total[2].astype(int),
            "value": _f1(*total),
            "low": low,
            "high": high,
        },
        index=pd.Index([*wide["hit"].columns, "all"], name="category"),
    )


def paired_difference(
    before: pd.DataFrame, after: pd.DataFrame, *, resamples: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """By how much micro-F1 over all categories rises from one judge to another on the same pairs, with the
    ends of its 95 % interval from drawing pairs.

    Parameters
    ----------
    before, after : see :func:`counts`, of the same pairs.
    """
    totals = [table.groupby("pair")[["hit", "planted", "found"]].sum() for table in (before, after)]
    stacked = np.stack([total.to_numpy(float).T for total in totals], axis=2)
    low, high = np.quantile(np.diff(_resampled(stacked, resamples, rng)), ENDS)
    return float(np.diff(_f1(*stacked.sum(axis=1)))[0]), float(low), float(high)


def _resampled(stacked: FloatArray, resamples: int, rng: np.random.Generator) -> FloatArray:
    """Micro-F1 of each resample of the pairs, shape (resamples, columns), from hits, planted and found, shape
    (3, pairs, columns)."""
    draws = []
    for weights in drawn_counts(stacked.shape[1], resamples, rng, stacked.shape[1]):
        draws.append(np.einsum("rp,kpc->krc", weights, stacked))
    return _f1(*np.concatenate(draws, axis=1))


def _f1(hit: FloatArray, planted: FloatArray, found: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        return 2 * hit / (planted + found)


def category_assignment_rates(judge: Judge, n: int, seed: int) -> pd.DataFrame:
    """Where a judge files single planted errors in ``n`` X-rays of the chest of each kind.

    Returns
    -------
    DataFrame
        Index: category and significance; ``category``, the share of errors filed under their category, and
        ``right``, the share filed so and with their significance. Nothing else may be named for either.
    """
    rows = {}
    for letter in CATEGORIES:
        for significant in (True, False):
            made = list(error_pairs(n, seed, {(letter, significant): 1}, modality_anatomy=("X-Ray", "CHEST")))
            said = counted(
                judge.judge(
                    [(one.reference.findings.text, _anew(one.candidate, seed).findings.text) for one in made]
                )
            )
            kinds = ("significant", "insignificant")
            total = said[[f"{kind} errors" for kind in kinds]].sum(axis=1)
            both = said[[f"{kind} {letter}" for kind in kinds]].sum(axis=1)
            own = said[f"{kinds[0 if significant else 1]} {letter}"]
            rows[f"({letter}) {kinds[0 if significant else 1]}"] = (
                ((both == 1) & (total == 1)).mean(),
                ((own == 1) & (total == 1)).mean(),
            )
    return pd.DataFrame.from_dict(rows, orient="index", columns=["category", "right"])


def _anew(report: SyntheticReport, seed: int) -> SyntheticReport:
    try:
        return rewrite(report, "synonym", seed)
    except SyntheticError:  # it has no other wording
        return report
