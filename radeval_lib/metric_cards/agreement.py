"""How a metric agrees with people, beside every metric that is recorded, and what such a test can tell.

Scores are oriented (higher is better) in all that follows. Cases are resampled whole; the family of tests
that is declared beforehand is the difference in τ_b with the mean grade to every stored metric.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

from radeval_lib.data.recorded import Recording
from radeval_lib.metrics import by_name
from radeval_lib.stats import meta_evaluation
from radeval_lib.stats.correlations import Resampled, beside_one_rater, coefficient, resample, varies
from radeval_lib.stats.inputs import FloatArray
from radeval_lib.stats.p_values import holm, inversion_p
from radeval_lib.stats.resampling import drawn_rows, ends, share_interval
from radeval_lib.stats.system_comparison import LEVEL, POWER, significance_clusters

LEAST_CASES = 50
"""With fewer cases a card gives intervals and no test."""
PERSON = "one radiologist"
RATES = {"f1": 1, "precision": 1, "recall": 1, "hallucination": -1, "omission": -1}
"""Rates of MTS-Dialog, and the sign that makes more of them better."""
PERMUTED = 2_000
"""Permutations of the scores for what chance would reach."""
_CHOICES_PERMUTED = 200  # of these, also for choices, whose ties are decided in each


def rivals(recording: Recording, without: str) -> dict[str, FloatArray]:
    """Oriented scores of every stored metric by its title, but of the one that the card is about."""
    return {
        by_name.get(name).title or name: oriented(recording, name)
        for name in recording.about["columns"]
        if name != without
    }


def oriented(recording: Recording, name: str) -> FloatArray:
    """A stored metric's scores, higher is better."""
    return recording.table[name].to_numpy(np.float64) * by_name.get(name).sign()


class RadPrefAgreement:
    """A metric on the rated candidates of RadPref, beside the stored metrics.

    Each method makes a part of the card's JSON. A list has a row per metric with ``metric``, ``value``, and
    ``low`` and ``high``, its 95% interval from drawing cases, unless the method says otherwise.

    Parameters
    ----------
    table : rows of the stored set, one per candidate, with ``case``, ``set``, ``grade_1`` to ``grade_3``,
        ``reference_words`` and ``candidate_words``; a set has two candidates, which are compared.
    scores : oriented scores of every metric by its name, shape (rows,) each.
    name : the card's metric, one of ``scores``.
    resamples, seed : of the bootstrap and the permutations.
    tests : whether the rows may be tested on, and not only developed on.

    Raises
    ------
    ValueError
        Where scores have another shape, are not finite, or vary in too few cases.
    """

    def __init__(
        self,
        table: pd.DataFrame,
        scores: Mapping[str, FloatArray],
        name: str,
        *,
        resamples: int,
        seed: int,
        tests: bool = True,
    ) -> None:
        self.table, self.scores, self.name = table.reset_index(drop=True), dict(scores), name
        self.cases = table["case"].to_numpy()
        self.grades = table[["grade_1", "grade_2", "grade_3"]].to_numpy(np.float64)
        self._sets = meta_evaluation.pairs_within(self.table["set"].tolist())
        self.first, self.second = self._sets.T
        self._resamples, self._seed, self._tests = resamples, seed, tests
        self._drawn = self._resample(self.scores, self.grades.mean(axis=1), self.cases, "grade")

    def rng(self, name: str) -> np.random.Generator:
        """The random generator for what is drawn, by its name."""
        return np.random.default_rng([self._seed, *name.encode()])

    @property
    def tested(self) -> bool:
        """Whether there are tests, and cases enough for them."""
        return self._tests and len(np.unique(self.cases)) >= LEAST_CASES

    def _resample(
        self, scores: Mapping[str, FloatArray], ratings: FloatArray, cases: Sequence[Any], name: str
    ) -> Resampled:
        return resample(
            scores, ratings, groups=cases, kind="kendall", resamples=self._resamples, rng=self.rng(name)
        )

    def power(self) -> dict[str, Any]:
        """The difference in τ_b that a test finds with a power of 80%, over all pairs of stored metrics.

        ``alone`` and ``corrected`` are quartiles of it at the level 0.05, and at that level divided by the
        number of comparisons, ``family``, as the first test by Holm; ``compared`` counts the pairs.
        """
        gaps = [self._drawn.draws[one] - self._drawn.draws[two] for one, two in self._others()]
        errors = np.array([np.nanstd(gap) for gap in gaps])
        family = max(1, len(self.scores) - 1)
        return {
            "candidates": len(self.table),
            "cases": len(np.unique(self.cases)),
            "power": POWER,
            "compared": len(errors),
            "alone": _quartiles(detectable(errors, LEVEL)),
            "corrected": _quartiles(detectable(errors, LEVEL / family)),
            "family": family,
        }

    def _others(self) -> list[tuple[int, int]]:
        names = self._drawn.names
        return [pair for pair in combinations(range(len(names)), 2) if names[pair[0]] != self.name]

    def null_band(self) -> dict[str, Any]:
        """What the metric would reach by chance: its scores are permuted between sets, and within each set.

        ``grade``, ``difference`` and ``choices`` are 95% intervals of the values of :meth:`tau`,
        :meth:`by_difference` and :meth:`choices` over permutations; ``p`` is two-sided, of :meth:`tau`.
        """
        scores, wanted = self.scores[self.name], self.grades.mean(axis=1)
        sets = self._sets
        rng = self.rng("null band")
        signs = _signs(wanted)
        scale = np.sqrt((signs**2).sum() * (_signs(scores) ** 2).sum())
        gap_signs = _signs(wanted[self.first] - wanted[self.second])
        grade, difference, choice = [], [], []
        for number in range(PERMUTED):
            permuted = np.empty_like(scores)
            permuted[sets] = scores[rng.permuted(sets[rng.permutation(len(sets))], axis=1)]
            grade.append((_signs(permuted) * signs).sum() / scale)
            gaps = permuted[self.first] - permuted[self.second]
            spread = np.sqrt((gap_signs**2).sum() * (_signs(gaps) ** 2).sum())
            difference.append((_signs(gaps) * gap_signs).sum() / spread if spread else 0.0)
            if number < _CHOICES_PERMUTED:
                choice.append(self._hits(permuted).mean())
        return {
            "permutations": PERMUTED,
            "grade": ends(grade).tolist(),
            "difference": ends(difference).tolist(),
            "choices": ends(choice).tolist(),
            "choices_permutations": _CHOICES_PERMUTED,
            "p": float((1 + (np.abs(grade) >= abs(self.tau()) - 1e-12).sum()) / (PERMUTED + 1)),
        }

    def tau(self) -> float:
        """τ_b of the metric with the mean grade."""
        return coefficient(self.scores[self.name], self.grades.mean(axis=1), "kendall")

    def by_grade(self) -> list[dict[str, Any]]:
        """τ_b of every metric with the mean grade.

        Where tests are made, rivals also have ``difference``, the card's metric minus this one, with its
        interval; ``p_holm``; and ``detectable``, the difference found with a power of 80%.
        """
        rows = _rows(self._drawn)
        if not self.tested:
            return rows
        shown = {"difference": "difference", "low": "difference_low", "high": "difference_high"}
        compared = self._drawn.compare(self.name).set_index("rival").rename(columns=shown)
        draws = dict(zip(self._drawn.names, self._drawn.draws, strict=True))
        own = draws[self.name]
        for row in rows:
            if row["metric"] != self.name:
                row |= compared.loc[row["metric"], [*shown.values(), "p_holm"]].astype(float).to_dict()
                row["detectable"] = float(detectable(np.nanstd(own - draws[row["metric"]]), LEVEL))
        return rows

    def clusters(self) -> list[list[str]]:
        """Clusters of metrics that tests tell apart, the best first; Holm's correction over all pairs."""
        values = dict(zip(self._drawn.names, self._drawn.values, strict=True))
        draws = dict(zip(self._drawn.names, self._drawn.draws, strict=True))
        pairs = list(combinations(values, 2))
        adjusted = holm([inversion_p(_finite(draws[one] - draws[two])) for one, two in pairs])
        apart = {frozenset(pair): p < LEVEL for pair, p in zip(pairs, adjusted, strict=True)}
        names = sorted(values, key=lambda name: -values[name])
        numbers = significance_clusters(names, lambda one, two: bool(apart[frozenset((one, two))]))
        return [
            [name for name, cluster in zip(names, numbers, strict=True) if cluster == number]
            for number in sorted(set(numbers))
        ]

    def by_difference(self) -> list[dict[str, Any]]:
        """τ_b of the difference of two candidates of a set with that of their grades."""
        wanted = self.grades.mean(axis=1)
        gaps = {name: scores[self.first] - scores[self.second] for name, scores in self.scores.items()}
        cases = self.cases[self.first]
        kept = {name: scores for name, scores in gaps.items() if varies(scores, cases)}
        return _rows(self._resample(kept, wanted[self.first] - wanted[self.second], cases, "difference"))

    def choices(self) -> list[dict[str, Any]]:
        """The share of pairs of candidates on which a metric, or one radiologist, says what the mean of the
        others says (first, second or a tie), each radiologist left out in turn; ``n`` counts the pairs."""
        hits = {name: self._hits(scores) for name, scores in self.scores.items()}
        hits[PERSON] = meta_evaluation.choices_of_raters(self.grades, self._sets)
        cases = self.cases[self.first].tolist()
        rows = []
        for name, hit in hits.items():
            value, low, high = share_interval(hit, cases, resamples=self._resamples, rng=self.rng("choices"))
            rows.append({"metric": name, "value": value, "low": low, "high": high, "n": len(hit)})
        return rows

    def _hits(self, scores: FloatArray) -> FloatArray:
        """For each pair, how often a metric says what the mean of two radiologists says, the third left out
        in turn; what counts as a tie is decided on other cases (:func:`meta_evaluation.agrees`)."""
        cases = self.cases[self.first].tolist()
        return meta_evaluation.choices_of_metric(scores, self.grades, self._sets, cases)

    def by_rater(self) -> list[dict[str, Any]]:
        """τ_b of every metric, and of one radiologist, with the mean grade of the other two, averaged over
        the three; ``below``, with its interval, is the radiologist's τ_b minus the metric's."""
        by_raters = [
            self._resample(
                {**self.scores, PERSON: self.grades[:, rater]},
                np.delete(self.grades, rater, 1).mean(axis=1),
                self.cases,
                "rater",
            )
            for rater in range(self.grades.shape[1])
        ]
        return _records(beside_one_rater(by_raters).rename_axis("metric").reset_index())

    def length(self) -> list[dict[str, Any]]:
        """Spearman correlations: with the mean grade (``spearman``), with the candidate's number of words
        (``with_length``), and the partial one with the mean grade, the words of both texts held fixed
        (``length_fixed``, with its interval)."""
        words = self.table[["candidate_words", "reference_words"]].to_numpy(np.float64)
        wanted = self.grades.mean(axis=1)
        columns = np.column_stack([*self.scores.values(), wanted, words])
        draws = drawn_rows(self.cases, min(500, self._resamples), self.rng("length"))
        low, high = ends([_length_fixed(rankdata(columns[place], axis=0)) for place in draws])
        fixed = _length_fixed(rankdata(columns, axis=0))
        return [
            {
                "metric": name,
                "spearman": coefficient(scores, wanted, "spearman"),
                "with_length": coefficient(scores, words[:, 0], "spearman"),
                "length_fixed": float(fixed[place]),
                "low": float(low[place]),
                "high": float(high[place]),
            }
            for place, (name, scores) in enumerate(self.scores.items())
        ]


def _length_fixed(ranks: FloatArray) -> FloatArray:
    """Partial correlation of each column of ``ranks`` but the last three with the third last, the last two
    held fixed, as pingouin's; NaN where nothing is left to vary. Shape (columns - 3,)."""
    design = np.column_stack([np.ones(len(ranks)), ranks[:, -2:]])
    rest = ranks[:, :-2] - design @ np.linalg.lstsq(design, ranks[:, :-2], rcond=None)[0]
    spread = np.sqrt((rest**2).sum(axis=0))
    spread[spread < 1e-9 * len(ranks)] = np.nan
    return rest[:, :-1].T @ rest[:, -1] / (spread[:-1] * spread[-1])


def facts(
    table: pd.DataFrame, scores: Mapping[str, FloatArray], *, resamples: int, seed: int
) -> dict[str, list[dict[str, Any]]]:
    """τ_b of every metric with each of :data:`RATES`, experts' rates of MTS-Dialog signed so that more is
    better: by rate, rows of ``metric``, ``value``, ``low``, ``high``, ``n`` and ``groups``."""
    by_rate = {}
    for rate, sign in RATES.items():
        known = table[rate].notna().to_numpy()
        cases = table["case"].to_numpy()[known]
        kept = {name: own[known] for name, own in scores.items() if varies(own[known], cases)}
        drawn = resample(
            kept,
            sign * table.loc[known, rate].to_numpy(np.float64),
            groups=cases,
            kind="kendall",
            resamples=resamples,
            rng=np.random.default_rng([seed, *rate.encode()]),
        )
        by_rate[rate] = _rows(drawn)
    return by_rate


def detectable(errors: Any, level: float) -> Any:
    """The difference that a two-sided test at this level finds with a power of 80%, from its standard error;
    both are normal."""
    return (norm.isf(level / 2) + norm.ppf(POWER)) * errors


def _quartiles(values: FloatArray) -> dict[str, float]:
    names = ("lowest", "lower_quartile", "median", "upper_quartile", "highest")
    return dict(zip(names, np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist(), strict=True))


def _signs(values: FloatArray) -> NDArray[np.float32]:
    """The sign of the difference of every two values, shape (values, values)."""
    places = np.unique(values, return_inverse=True)[1].astype(np.float32)
    return np.sign(places[:, None] - places)


def _finite(values: FloatArray) -> FloatArray:
    return values[np.isfinite(values)]


def _rows(drawn: Resampled) -> list[dict[str, Any]]:
    return _records(drawn.intervals())


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]
