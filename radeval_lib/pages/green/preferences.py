"""Which of two candidates is preferred, by simulated radiologists or RadPref's, and how often a score agrees.

Source: Ostmeier et al. 2024, Sections 3.4.2 and 4.3.2. Two radiologists choose one of two candidates for the
same reference and say how sure they are; cases on which they split are left out. A score is right where it
puts the preferred candidate first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from radeval_lib.data import radpref
from radeval_lib.metrics.green import green_score
from radeval_lib.models.judges.base import Judge
from radeval_lib.pages.green.judging import counted
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.resampling import drawn_counts
from radeval_lib.study.superiority import Lead
from radeval_lib.synthetic import (
    Comparison,
    Preference,
    Rater,
    Rating,
    compare,
    generate,
    panel,
    prefer,
    rate,
)
from radeval_lib.synthetic.generator import Pair, seeded
from radeval_lib.synthetic.pairings import model_candidate

_MINOR = 0.25  # what an insignificant error counts for, as in the grades of simulated raters
_SURE = 3.0  # a difference in significant errors from which on a simulated radiologist is quite sure

Chooses = Callable[[Comparison, Comparison, Rater, int, str], Preference]


@dataclass(frozen=True)
class Choice:
    """One reference with two candidates.

    Attributes
    ----------
    case : its name.
    reference, first, second : texts.
    votes : of each radiologist 0 (the first candidate) or 1; None where the radiologist prefers neither.
    confidence : mean of the radiologists; 1 to 10, or in steps of a grade where grades were given.
    truth : of either candidate the exact differences from the reference, where a generator knows them.
    """

    case: str
    reference: str
    first: str
    second: str
    votes: tuple[int | None, ...]
    confidence: float
    truth: tuple[Comparison, Comparison] | None = None

    @property
    def split(self) -> bool:
        """Whether two radiologists prefer different candidates."""
        return {0, 1} <= set(self.votes)

    @property
    def preferred(self) -> int | None:
        """The candidate that is preferred: by two radiologists at least, and by none the other."""
        votes = [vote for vote in self.votes if vote is not None]
        return votes[0] if len(votes) >= 2 and not self.split else None


def by_errors(first: Comparison, second: Comparison, rater: Rater, seed: int, case: str) -> Preference:
    """The choice of a radiologist who minds errors alone: the fewer, with insignificant ones at a quarter."""
    ratings = [rate(one, rater, seed, f"{case}/{place}") for place, one in enumerate((first, second))]
    gap = _noted(ratings[1]) - _noted(ratings[0])
    coin = seeded(seed, rater.name, case, "coin").random() < 0.5
    choice = int(coin if gap == 0 else gap < 0)
    return Preference(rater.name, choice, 1 + round(9 * min(1.0, abs(gap) / _SURE)))


def _noted(rating: Rating) -> float:
    return sum(rating.significant.values()) + _MINOR * sum(rating.insignificant.values())


def weighted_error_count(truth: Comparison) -> float:
    """The number of errors, insignificant ones at a quarter."""
    return sum(1.0 if error.significant else _MINOR for error in truth.errors)


RADIOLOGISTS: dict[str, Chooses] = {"errors alone": by_errors, "errors against what is right": prefer}
"""What a simulated radiologist minds: the number of errors, or the share of what was said that is right."""


def simulated(
    n: int, seed: int, chooses: Chooses, anatomy: Pair | None = ("X-Ray", "CHEST"), *, raters: int = 2
) -> list[Choice]:
    """Cases with two candidates as two runs of a report generator would write them, and the radiologists'
    choices; the radiologists err as simulated raters do."""
    people = panel(raters, seed)
    made = []
    for number, reference in enumerate(generate(n, seed, modality_anatomy=anatomy, min_findings=1)):
        pair = [model_candidate(reference, 2 * seed + place) for place in (0, 1)]
        truth = compare(reference, pair[0]), compare(reference, pair[1])
        said = [chooses(*truth, rater, seed, str(number)) for rater in people]
        made.append(
            Choice(
                str(number),
                reference.findings.text,
                pair[0].findings.text,
                pair[1].findings.text,
                tuple(one.choice for one in said),
                float(np.mean([one.confidence for one in said])),
                truth,
            )
        )
    return made


def graded(cases: Sequence[radpref.Case], ratings: Sequence[radpref.Rating]) -> list[Choice]:
    """RadPref's grades as choices: a radiologist prefers the candidate with the higher grade; the confidence
    is the mean difference of the grades."""
    grades: dict[tuple[str, str], dict[str, int]] = {}
    for one in ratings:
        grades.setdefault((one.case, one.rater), {})[one.candidate] = one.rating
    made = []
    for case in cases:
        gaps = [
            by_candidate["C2"] - by_candidate["C1"]
            for (name, _), by_candidate in grades.items()
            if name == case.id
        ]
        votes = tuple(None if gap == 0 else int(gap > 0) for gap in gaps)
        texts = (case.reference, case.candidates["C1"], case.candidates["C2"])
        made.append(Choice(case.id, *texts, votes, float(np.mean(np.abs(gaps)))))
    return made


def agreed(choices: Sequence[Choice]) -> list[Choice]:
    """The cases with a preference: the radiologists do not split."""
    return [one for one in choices if one.preferred is not None]


def is_correct(choices: Sequence[Choice], first: Sequence[float], second: Sequence[float]) -> pd.Series:
    """Of each case with a preference, what a score's choice is worth: 1 where the preferred candidate scores
    higher, 0 where the other does, one half where both score alike.

    Parameters
    ----------
    first, second : scores of the candidates, higher is better, one for each of ``choices``.

    Raises
    ------
    ValueError
        Where a case has no preference, or the lengths differ.
    """
    if any(one.preferred is None for one in choices):
        raise ValueError("a case has no preference; leave it out with agreed()")
    if not len(choices) == len(first) == len(second):
        raise ValueError(f"{len(choices)} cases and scores of {len(first)} and {len(second)}")
    sign = np.array([1 if one.preferred else -1 for one in choices])
    gap = np.round(np.subtract(second, first), 9) * sign
    return pd.Series(np.where(gap == 0, 0.5, (gap > 0).astype(float)))


def accuracies(table: Mapping[str, pd.Series], *, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Accuracy of each score, with percentile intervals from drawing cases.

    Returns
    -------
    DataFrame
        Index: the scores. ``accuracy`` by the paper's words, where a tie is no match; ``low`` and ``high`` of
        it; ``ties`` (share of the cases); ``ties by a coin``, the accuracy where a tie counts one half.
    """
    values = np.array([part.to_numpy() for part in table.values()])
    draws = np.concatenate(
        [w @ (values == 1).T for w in drawn_counts(values.shape[1], resamples, rng, len(values))]
    )
    low, high = np.quantile(draws / values.shape[1], (0.025, 0.975), axis=0)
    return pd.DataFrame(
        {
            "accuracy": (values == 1).mean(axis=1),
            "low": low,
            "high": high,
            "ties": (values == 0.5).mean(axis=1),
            "ties by a coin": values.mean(axis=1),
        },
        index=list(table),
    )


def paired_difference(
    first: pd.Series, second: pd.Series, *, resamples: int, rng: np.random.Generator
) -> Estimate:
    """Mean of one number minus that of another on the same cases; 95% interval from drawing cases."""
    gaps = first.to_numpy(float) - second.to_numpy(float)
    draws = np.concatenate([w @ gaps for w in drawn_counts(len(gaps), resamples, rng, len(gaps))]) / len(gaps)
    low, high = np.quantile(draws, (0.025, 0.975))
    return Estimate(float(gaps.mean()), float(low), float(high))


_LEADS = {
    1: "GREEN's lead is established",
    0: "no lead is established",
    -1: "the count's lead is established",
}
_CLOSING = {
    frozenset([1]): "GREEN leads for all of them.",
    frozenset([-1]): "The error count leads for all of them.",
    frozenset([0]): "These cases do not tell the two apart.",
    frozenset([1, 0]): "Where the two can be told apart, GREEN leads.",
    frozenset([-1, 0]): "Where the two can be told apart, the error count leads.",
}


def conclusion(found: Mapping[str, tuple[float, float, Estimate]]) -> str:
    """GREEN against the error count, in words.

    Parameters
    ----------
    found : by whose choices they are: the accuracies of GREEN and of the error count, and the lead of GREEN.
    """
    told, signs = [], set()
    for whose, (score, count, lead) in found.items():
        sign = Lead.by_interval(lead).sign
        signs.add(sign)
        told.append(
            f"Of the choices of {whose}, GREEN predicts {score:.0%} and the error count {count:.0%}; "
            f"{_LEADS[sign]} ({lead.value:+.2f}, 95% interval {lead.low:+.2f} to {lead.high:+.2f})."
        )
    closing = _CLOSING.get(
        frozenset(signs), "Which of the two chooses better depends on whose choices they are."
    )
    return " ".join([*told, closing, "Ties count as wrong here."])


def levels(choices: Sequence[Choice], number: int = 4) -> pd.Series:
    """Each case's level of confidence, 0 the lowest: as even groups as ties in confidence allow."""
    ranks = pd.Series([one.confidence for one in choices]).rank(pct=True)
    return np.ceil(ranks * number).clip(1, number).astype(int) - 1


def high_confidence(choices: Sequence[Choice]) -> pd.Series:
    """Whether the radiologists were surer of a case than of the median one."""
    confidence = pd.Series([one.confidence for one in choices])
    return confidence > confidence.median()


def group_difference(
    part: pd.Series, known: pd.Series, *, resamples: int, rng: np.random.Generator
) -> Estimate:
    """By how much values are higher in cases that are sure, as a mean difference with its 95% interval.

    Parameters
    ----------
    part : a number of each case, as 1 for right.
    known : bool, whether the radiologists were sure of the case.

    Raises
    ------
    ValueError
        Where no case is sure, or every one.
    """
    is_sure = known.to_numpy(bool)
    if is_sure.all() or not is_sure.any():
        raise ValueError("every case, or none, is sure: there is nothing to compare")
    values = part.to_numpy(float)

    def difference(weights: np.ndarray) -> np.ndarray:
        high = (weights[:, is_sure] @ values[is_sure]) / weights[:, is_sure].sum(axis=1)
        low = (weights[:, ~is_sure] @ values[~is_sure]) / weights[:, ~is_sure].sum(axis=1)
        return np.asarray(high - low)

    with np.errstate(invalid="ignore"):
        draws = np.concatenate(
            [difference(w) for w in drawn_counts(len(values), resamples, rng, len(values))]
        )
    ends = np.nanquantile(draws, (0.025, 0.975))
    value = difference(np.ones((1, len(values))))[0]
    return Estimate(float(value), float(ends[0]), float(ends[1]))


Scores = dict[str, tuple[pd.Series, pd.Series]]
"""Of each score, by name, its values for the first and for the second candidates; higher is better."""


def judged_scores(choices: Sequence[Choice], judge: Judge) -> Scores:
    """What a judge's analyses come to: GREEN, the number of all errors, and of significant ones."""
    first, second = (
        counted(judge.judge([(one.reference, text) for one, text in zip(choices, texts, strict=True)]))
        for texts in ([one.first for one in choices], [one.second for one in choices])
    )

    def both(score: Callable[[pd.DataFrame], pd.Series]) -> tuple[pd.Series, pd.Series]:
        return score(first), score(second)

    return {
        "GREEN": both(lambda found: found["GREEN"]),
        "error count": both(lambda found: -found["significant errors"] - found["insignificant errors"]),
        "significant errors": both(lambda found: -found["significant errors"]),
    }


def known_scores(choices: Sequence[Choice]) -> Scores:
    """The same of a judge who makes no mistake, from the exact differences that the generator knows."""
    rows = {
        "GREEN": green_of,
        "error count": lambda one: -len(one.errors),
        "significant errors": _significant,
    }
    return {
        name: tuple(
            pd.Series([float(score(one.truth[place])) for one in choices if one.truth is not None])
            for place in (0, 1)
        )
        for name, score in rows.items()
    }


def green_of(truth: Comparison) -> float:
    """GREEN's score of exact differences; shared denials and normal statements are matched findings."""
    return green_score(len(truth.matched) + len(truth.agreed_negatives), -_significant(truth))


def _significant(truth: Comparison) -> int:
    return -sum(truth.count(True).values())
