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
from scipy import stats

from radeval_lib.data import radpref
from radeval_lib.metrics.green import green_score
from radeval_lib.models.judges.base import Judge, read_preference
from radeval_lib.models.judges.base import preference_prompt as preference_prompt
from radeval_lib.pages.green.judging import CHEST, counted, oriented
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.resampling import FloatArray, mean_difference, sum_estimates
from radeval_lib.study.checks import Check
from radeval_lib.study.runs import Run
from radeval_lib.study.superiority import Lead, check_superiority
from radeval_lib.synthetic import Comparison, Preference, Rater, compare, generate, panel, prefer, rate
from radeval_lib.synthetic.generator import seeded
from radeval_lib.synthetic.pairings import model_candidate

_MINOR = 0.25  # what an insignificant error counts for, as in the grades of simulated raters
_SURE = 3.0  # a difference in significant errors from which on a simulated radiologist is quite sure

Chooses = Callable[[Comparison, Comparison, Rater, int, str], Preference]


@dataclass(frozen=True)
class Choice:
    """One reference with two candidates."""

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
    noted = [
        sum(rating.significant.values()) + _MINOR * sum(rating.insignificant.values())
        for rating in (rate(one, rater, seed, f"{case}/{place}") for place, one in enumerate((first, second)))
    ]
    gap = noted[1] - noted[0]
    coin = seeded(seed, rater.name, case, "coin").random() < 0.5
    choice = int(coin if gap == 0 else gap < 0)
    return Preference(rater.name, choice, 1 + round(9 * min(1.0, abs(gap) / _SURE)))


def weighted_error_count(truth: Comparison) -> float:
    """The number of errors, insignificant ones at a quarter."""
    return sum(1.0 if error.significant else _MINOR for error in truth.errors)


RADIOLOGISTS: dict[str, Chooses] = {"errors alone": by_errors, "errors against what is right": prefer}
"""What a simulated radiologist minds: the number of errors, or the share of what was said that is right."""


def simulated(n: int, seed: int, chooses: Chooses) -> list[Choice]:
    """Cases with two candidates as two runs of a report generator would write them, and the choices of two
    radiologists, who err as simulated raters do."""
    people, writers = panel(2, seed), [seeded(seed, "writer", place).getrandbits(30) for place in (0, 1)]
    made = []
    for number, reference in enumerate(generate(n, seed, modality_anatomy=CHEST, min_findings=1)):
        pair = [model_candidate(reference, writer) for writer in writers]
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

    Index: the scores. ``accuracy`` by the paper's words, where a tie is no match; ``low`` and ``high`` of it;
    ``ties`` (share of the cases); ``ties by a coin``, the accuracy where a tie counts one half.
    """
    values = np.array([part.to_numpy() for part in table.values()])
    cases = values.shape[1]
    right = (values == 1).T.astype(float)
    found = sum_estimates(right, lambda sums: sums / cases, resamples=resamples, rng=rng)
    return pd.DataFrame(
        {
            "accuracy": [one.value for one in found],
            "low": [one.low for one in found],
            "high": [one.high for one in found],
            "ties": (values == 0.5).mean(axis=1),
            "ties by a coin": values.mean(axis=1),
        },
        index=list(table),
    )


def lead(
    table: Mapping[str, pd.Series], first: str, second: str, run: Run, stream: str, tie: float = 0.0
) -> Estimate:
    """By how much one score chooses better than another, a tie counting as ``tie``."""
    one, other = (table[name].where(table[name] != 0.5, tie) for name in (first, second))
    return mean_difference(one, other, resamples=run.profile.resamples, rng=run.rng(stream))


def levels(choices: Sequence[Choice]) -> pd.Series:
    """Each case's level of confidence, 0 to 3: as even groups as ties in confidence allow."""
    ranks = pd.Series([one.confidence for one in choices]).rank(pct=True)
    return np.ceil(ranks * 4).clip(1, 4).astype(int) - 1


def high_confidence(choices: Sequence[Choice]) -> pd.Series:
    """Whether the radiologists were surer of a case than of the median one."""
    confidence = pd.Series([one.confidence for one in choices])
    return confidence > confidence.median()


def group_difference(
    part: pd.Series, known: pd.Series, *, resamples: int, rng: np.random.Generator
) -> Estimate:
    """By how much values are higher in cases that are sure, as a mean difference with its 95% interval."""
    is_sure = known.to_numpy(bool)
    if is_sure.all() or not is_sure.any():
        raise ValueError("every case, or none, is sure: there is nothing to compare")
    values = part.to_numpy(float)
    sums = np.column_stack([is_sure * values, is_sure, ~is_sure * values, ~is_sure])

    def difference(drawn: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore"):
            return drawn[..., :1] / drawn[..., 1:2] - drawn[..., 2:3] / drawn[..., 3:]

    (found,) = sum_estimates(sums, difference, resamples=resamples, rng=rng)
    return found


IMPROVES = "GREEN’s preference alignment improves in conjunction with increased radiologist confidence"
DISTINCT = "distinguishing it from the approach of using just the total error counts"


def check_confidence(
    run: Run, label: str, choices: Sequence[Choice], green: pd.Series, count: pd.Series
) -> list[Check]:
    """Whether GREEN gains with confidence, and more than the error count does.

    ``green``, ``count``: of :func:`is_correct`.
    """
    sure, rng, right = high_confidence(choices), run.rng(f"confidence {label}"), (green == 1).astype(float)
    rise, more, other = (
        group_difference(values, sure, resamples=run.profile.resamples, rng=rng)
        for values in (right, right - (count == 1), count == 1)
    )
    return [
        *check_superiority(
            f"GREEN, {label}: sure cases against others",
            IMPROVES,
            {"sure": right[sure].mean(), "others": right[~sure].mean()},
            first="sure",
            leads=Lead.by_interval(rise, 2),
            decimals=2,
        ),
        *check_superiority(
            f"Gain with confidence, {label}: GREEN against the error count",
            DISTINCT,
            {"GREEN": rise.value, "error count": other.value},
            first="GREEN",
            leads=Lead.by_interval(more, 2),
            decimals=2,
        ),
    ]


def check_split(kind: str, choices: Sequence[Choice]) -> list[Check]:
    """Whether the candidates of split cases are nearer to equal than those of the others."""
    split, agreed_on = (
        np.array([abs(np.diff(list(map(weighted_error_count, one.truth))))[0] for one in part if one.truth])
        for part in ([one for one in choices if one.split], agreed(choices))
    )
    p = stats.mannwhitneyu(split, agreed_on, alternative="two-sided").pvalue
    return check_superiority(
        f"Split cases are nearer to equal, radiologists who mind {kind}",
        "The quality of the two candidates is considered to be equal when experts had differing preferences",
        {"agreed": agreed_on.mean(), "split": split.mean()},
        first="split",
        leads=Lead.by_p(agreed_on.mean() - split.mean(), p),
        lower_is_better=True,
    )


Scores = dict[str, tuple[pd.Series, pd.Series]]
"""Of each score, by name, its values for the first and for the second candidates; higher is better."""


def matches(choices: Sequence[Choice], scores: Scores) -> dict[str, pd.Series]:
    """What the choices of each score are worth: :func:`is_correct`."""
    return {name: is_correct(choices, *both) for name, both in scores.items()}


def metric_scores(run: Run, choices: Sequence[Choice]) -> Scores:
    """Two scores beside GREEN and the counts: errors by the weights of our rules, and ROUGE-L."""
    references, first, second = zip(*((one.reference, one.first, one.second) for one in choices), strict=True)
    return {
        label: (
            pd.Series(oriented(run, name, references, first)),
            pd.Series(oriented(run, name, references, second)),
        )
        for label, name in (("weighted errors", "green_rules_errors"), ("ROUGE-L", "rouge_l"))
    }


def _of_counts(sides: Sequence[pd.DataFrame]) -> Scores:
    """GREEN, the number of all errors, and of significant ones, of both candidates' counts."""
    grave, minor = "significant errors", "insignificant errors"
    first, second = (
        {"GREEN": one["GREEN"], "error count": -one[grave] - one[minor], grave: -one[grave]} for one in sides
    )
    return {name: (first[name], second[name]) for name in first}


def judged_scores(choices: Sequence[Choice], judge: Judge) -> Scores:
    """What a judge's analyses come to: GREEN, the number of all errors, and of significant ones."""
    first = counted(judge.judge([(one.reference, one.first) for one in choices]))
    return _of_counts([first, counted(judge.judge([(one.reference, one.second) for one in choices]))])


def known_scores(choices: Sequence[Choice]) -> Scores:
    """The same of a judge who makes no mistake, from the exact differences that the generator knows."""
    truths = [one.truth for one in choices if one.truth is not None]
    return _of_counts([pd.DataFrame([exact_counts(truth[place]) for truth in truths]) for place in (0, 1)])


def exact_counts(truth: Comparison) -> dict[str, float]:
    """GREEN's score and counts of exact differences; shared denials and normal statements are matches."""
    grave, minor = (sum(truth.count(significant).values()) for significant in (True, False))
    score = green_score(len(truth.matched) + len(truth.agreed_negatives), grave)
    return {"GREEN": score, "significant errors": float(grave), "insignificant errors": float(minor)}


ANSWERS = {
    "as asked for": ("Preferred: 2\nConfidence: 8", 1, 8),
    "with words and marks": ("**Preferred:** Candidate report 1\n**Confidence:** 7/10", 0, 7),
    "reasons first": ("Candidate 1 omits the effusion.\nPreferred: 2\nConfidence: 10", 1, 10),
    "none": ("Both reports are equally good.\nConfidence: 5", None, 5),
    "both": ("Preferred: 1\nConfidence: 4\nOn reflection:\nPreferred: 2", None, 4),
    "no confidence": ("Preferred: 1", 0, None),
    "out of range": ("Preferred: 3\nConfidence: 11", None, None),
}
"""Answers of a language model, with the choice and the confidence that are meant."""


def read_answers() -> pd.DataFrame:
    """How :data:`ANSWERS` are read: ``answer``, ``choice``, ``confidence``, and whether ``as meant``."""
    rows = {}
    for name, (answer, choice, confidence) in ANSWERS.items():
        found = read_preference(answer)
        rows[name] = {
            "answer": answer.replace("\n", " / "),
            "choice": "none" if found.choice is None else ("first", "second")[found.choice],
            "confidence": "none" if found.confidence is None else f"{found.confidence:.0f}",
            "as meant": (found.choice, found.confidence) == (choice, confidence),
        }
    return pd.DataFrame.from_dict(rows, orient="index")
