"""How a metric agrees with people, beside every metric that is recorded, and what such a test can tell.

Scores are oriented (higher is better) in all that follows. Cases are resampled whole; the family of tests
that is declared beforehand is the difference in τ_b with the mean grade to every recorded metric.
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
from radeval_lib.metrics import base
from radeval_lib.stats import meta_evaluation
from radeval_lib.stats.correlations import Resampled, beside_one_rater, coefficient, resample, varies
from radeval_lib.stats.inputs import FloatArray
from radeval_lib.stats.resampling import drawn_rows, ends, holm, inversion_p, share_interval
from radeval_lib.stats.system_comparison import LEVEL, POWER, significance_clusters

LEAST_CASES = 50
"""With fewer cases a card gives intervals and no test."""
PERSON = "one radiologist"
RATES = {"f1": 1, "precision": 1, "recall": 1, "hallucination": -1, "omission": -1}
"""Rates of MTS-Dialog, and the sign that makes more of them better."""
PERMUTED = 2_000
_CHOICES_PERMUTED = 200


def rivals(recording: Recording, without: str) -> dict[str, FloatArray]:
    """Oriented scores of every recorded metric by its title, but of the one that the card is about."""
    return {
        base.get(name).title or name: oriented(recording, name)
        for name in recording.about["columns"]
        if name != without
    }


def oriented(recording: Recording, name: str) -> FloatArray:
    """A recorded metric's scores, higher is better."""
    return recording.table[name].to_numpy(np.float64) * base.get(name).sign()


class RadPref:
    """A metric on the rated candidates of RadPref.

    Parameters
    ----------
    table : rows of the recorded set.
    scores : oriented, of the metric by ``name`` first, then of the others; shape (rows,) each.
    tests : whether the rows are there to be tested, and not to develop on.
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
        self.first, self.second = meta_evaluation.pairs_within(self.table["set"].tolist()).T
        self._resamples, self._seed, self._tests = resamples, seed, tests
        self._drawn = self._resample(self.scores, self.grades.mean(axis=1), self.cases, "grade")

    def rng(self, name: str) -> np.random.Generator:
        """The one source of chance, by the name of what is drawn."""
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
        """How large a difference in τ_b must be to be found four times in five: of every two metrics."""
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
        """τ_b, τ_b of differences and choices of the metric where its scores are dealt to other candidates:
        set by set, and within each set in either order."""
        mine, wanted = self.scores[self.name], self.grades.mean(axis=1)
        sets = np.stack([self.first, self.second], axis=1)
        rng = self.rng("null band")
        signs = _signs(wanted)
        scale = np.sqrt((signs**2).sum() * (_signs(mine) ** 2).sum())
        gap_signs = _signs(wanted[self.first] - wanted[self.second])
        grade, difference, choice = [], [], []
        for number in range(PERMUTED):
            dealt = np.empty_like(mine)
            dealt[sets] = mine[rng.permuted(sets[rng.permutation(len(sets))], axis=1)]
            grade.append((_signs(dealt) * signs).sum() / scale)
            gaps = dealt[self.first] - dealt[self.second]
            spread = np.sqrt((gap_signs**2).sum() * (_signs(gaps) ** 2).sum())
            difference.append((_signs(gaps) * gap_signs).sum() / spread if spread else 0.0)
            if number < _CHOICES_PERMUTED:
                choice.append(self._hits(gaps).mean())
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
        """τ_b of every metric with the mean grade, and what the card's metric has more."""
        rows = _rows(self._drawn)
        if not self.tested:
            return rows
        compared = self._drawn.compare(self.name).set_index("rival")
        errors = {
            rival: float(np.nanstd(self._drawn.draws[0] - draws))
            for rival, draws in zip(self._drawn.names, self._drawn.draws, strict=True)
        }
        for row in rows:
            if row["metric"] != self.name:
                lead = compared.loc[row["metric"]]
                row |= {
                    "difference": float(lead["difference"]),
                    "difference_low": float(lead["low"]),
                    "difference_high": float(lead["high"]),
                    "p_holm": float(lead["p_holm"]),
                    "detectable": float(detectable(errors[row["metric"]], LEVEL)),
                }
        return rows

    def clusters(self) -> list[list[str]]:
        """Metrics that tests tell apart, the best first; Holm's correction over every two."""
        values = dict(zip(self._drawn.names, self._drawn.values, strict=True))
        draws = dict(zip(self._drawn.names, self._drawn.draws, strict=True))
        pairs = list(combinations(values, 2))
        found = holm([inversion_p(_finite(draws[one] - draws[two])) for one, two in pairs])
        apart = {frozenset(pair): p < LEVEL for pair, p in zip(pairs, found, strict=True)}
        names = sorted(values, key=lambda name: -values[name])
        numbers = significance_clusters(names, lambda one, two: bool(apart[frozenset((one, two))]))
        return [
            [name for name, of in zip(names, numbers, strict=True) if of == number]
            for number in sorted(set(numbers))
        ]

    def by_difference(self) -> list[dict[str, Any]]:
        """τ_b of the difference of two candidates of a set with that of their grades."""
        wanted = self.grades.mean(axis=1)
        gaps = {name: of[self.first] - of[self.second] for name, of in self.scores.items()}
        cases = self.cases[self.first]
        kept = {name: of for name, of in gaps.items() if varies(of, cases)}
        return _rows(self._resample(kept, wanted[self.first] - wanted[self.second], cases, "difference"))

    def choices(self) -> list[dict[str, Any]]:
        """How often a metric prefers the candidate that people prefer, or calls a tie where they do."""
        hits = {
            name: self._hits(of[self.first] - of[self.second]).astype(float)
            for name, of in self.scores.items()
        }
        each = [
            self._wanted(self.grades[:, rater]) == self._wanted(np.delete(self.grades, rater, 1).mean(axis=1))
            for rater in range(self.grades.shape[1])
        ]
        hits[PERSON] = np.mean(each, axis=0)
        cases = self.cases[self.first].tolist()
        rows = []
        for name, hit in hits.items():
            value, low, high = share_interval(hit, cases, resamples=self._resamples, rng=self.rng("choices"))
            rows.append({"metric": name, "value": value, "low": low, "high": high, "n": len(hit)})
        return rows

    def _hits(self, gaps: FloatArray) -> NDArray[np.bool_]:
        """Whether the metric says what people say; its ties are decided on other cases."""
        cases = self.cases[self.first].tolist()
        wanted = self._wanted(self.grades.mean(axis=1))
        return meta_evaluation.agrees(gaps, wanted, cases, rng=np.random.default_rng(self._seed))

    def _wanted(self, grades: FloatArray) -> FloatArray:
        signs: FloatArray = np.sign(grades[self.first] - grades[self.second])
        return signs

    def by_rater(self) -> list[dict[str, Any]]:
        """τ_b of every metric, and of one radiologist, with the mean grade of the other two, each left out in
        turn; ``below`` is what the radiologist has more."""
        found = [
            self._resample(
                {**self.scores, PERSON: self.grades[:, rater]},
                np.delete(self.grades, rater, 1).mean(axis=1),
                self.cases,
                "rater",
            )
            for rater in range(self.grades.shape[1])
        ]
        return _records(beside_one_rater(found).rename_axis("metric").reset_index())

    def length(self) -> list[dict[str, Any]]:
        """Spearman correlation with the mean grade, that with the candidate's words, and the first where the
        words of both texts are held fixed."""
        words = self.table[["candidate_words", "reference_words"]].to_numpy(np.float64)
        wanted = self.grades.mean(axis=1)
        columns = np.column_stack([*self.scores.values(), wanted, words])
        draws = drawn_rows(self.cases, min(500, self._resamples), self.rng("length"))
        low, high = ends([_length_fixed(rankdata(columns[at], axis=0)) for at in draws])
        fixed = _length_fixed(rankdata(columns, axis=0))
        return [
            {
                "metric": name,
                "spearman": coefficient(of, wanted, "spearman"),
                "with_length": coefficient(of, words[:, 0], "spearman"),
                "length_fixed": float(fixed[at]),
                "low": float(low[at]),
                "high": float(high[at]),
            }
            for at, (name, of) in enumerate(self.scores.items())
        ]


def _length_fixed(ranks: FloatArray) -> FloatArray:
    """Partial correlation of each column but the last three with the third last, the last two held fixed, as
    pingouin's; NaN where nothing is left to vary."""
    design = np.column_stack([np.ones(len(ranks)), ranks[:, -2:]])
    rest = ranks[:, :-2] - design @ np.linalg.lstsq(design, ranks[:, :-2], rcond=None)[0]
    spread = np.sqrt((rest**2).sum(axis=0))
    spread[spread < 1e-9 * len(ranks)] = np.nan
    found: FloatArray = rest[:, :-1].T @ rest[:, -1] / (spread[:-1] * spread[-1])
    return found


def facts(
    table: pd.DataFrame, scores: Mapping[str, FloatArray], *, resamples: int, seed: int
) -> dict[str, list[dict[str, Any]]]:
    """τ_b of every metric with experts' rates of MTS-Dialog, signed so that more is better."""
    found = {}
    for rate, sign in RATES.items():
        known = table[rate].notna().to_numpy()
        cases = table["case"].to_numpy()[known]
        kept = {name: of[known] for name, of in scores.items() if varies(of[known], cases)}
        drawn = resample(
            kept,
            sign * table.loc[known, rate].to_numpy(np.float64),
            groups=cases,
            kind="kendall",
            resamples=resamples,
            rng=np.random.default_rng([seed, *rate.encode()]),
        )
        found[rate] = _rows(drawn)
    return found


def detectable(errors: Any, level: float) -> Any:
    """How large a difference must be to be found four times in five, by its standard error (normal)."""
    return (norm.isf(level / 2) + norm.ppf(POWER)) * errors


def _quartiles(values: FloatArray) -> dict[str, float]:
    names = ("lowest", "lower_quartile", "median", "upper_quartile", "highest")
    return dict(zip(names, np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist(), strict=True))


def _signs(values: FloatArray) -> NDArray[np.float32]:
    """1, 0 or -1 for every two values."""
    places = np.unique(values, return_inverse=True)[1].astype(np.float32)
    return np.sign(places[:, None] - places)


def _finite(values: FloatArray) -> FloatArray:
    return values[np.isfinite(values)]


def _rows(drawn: Resampled) -> list[dict[str, Any]]:
    return _records(drawn.intervals())


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]
