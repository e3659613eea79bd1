"""Which of two candidates RadPref's radiologists prefer, and how often a score agrees.

Source: Ostmeier et al. 2024, Sections 3.4.2 and 4.3.2. Two radiologists choose one of two candidates for the
same reference and say how sure they are; cases on which they split are left out. A score is right where it
puts the preferred candidate first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
import pandas as pd

from radeval_lib.data import radpref
from radeval_lib.metrics.green import clean, parse
from radeval_lib.models.judges.base import Judge
from radeval_lib.models.judges.opening import open_judge
from radeval_lib.models.naming import title
from radeval_lib.models.pretrained import RULES
from radeval_lib.pages.green.judging import oriented
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.resampling import FloatArray, mean_difference, sum_estimates
from radeval_lib.study.runs import Run
from radeval_lib.wording import with_interval


@dataclass(frozen=True)
class Choice:
    """One reference with two candidates."""

    case: str
    reference: str
    first: str
    second: str
    votes: tuple[int | None, ...]
    confidence: float

    @property
    def split(self) -> bool:
        """Whether two radiologists prefer different candidates."""
        return {0, 1} <= set(self.votes)

    @property
    def preferred(self) -> int | None:
        """The candidate that is preferred: by two radiologists at least, and by none the other."""
        votes = [vote for vote in self.votes if vote is not None]
        return votes[0] if len(votes) >= 2 and not self.split else None


def graded(cases: Sequence[radpref.Case], ratings: Sequence[radpref.RadPrefRating]) -> list[Choice]:
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


def with_confidence(
    run: Run, choices: Sequence[Choice], green: pd.Series, count: pd.Series
) -> tuple[Estimate, Estimate]:
    """By how much GREEN's accuracy is higher where radiologists are surer, and how much more it gains so than
    the error count; ``green``, ``count``: of :func:`is_correct`."""
    sure, right = high_confidence(choices), (green == 1).astype(float)
    rise, more = (
        group_difference(values, sure, resamples=run.profile.resamples, rng=run.rng("confidence"))
        for values in (right, right - (count == 1))
    )
    return rise, more


def with_sign(estimate: Estimate) -> str:
    """A difference of accuracies with its interval, for the page's text."""
    return with_interval(estimate.value, estimate.low, estimate.high, "+.2f")


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


def counted(analyses: Sequence[str]) -> pd.DataFrame:
    """What analyses come to, by the rules of the released parser, which scores malformed ones too: ``GREEN``,
    and minus the number of errors (``error count``) and of ``significant errors``."""
    read = [parse(clean(one)) for one in analyses]
    grave, minor = (
        [sum(getattr(one, kind) or ()) for one in read] for kind in ("significant", "insignificant")
    )
    return pd.DataFrame(
        {
            "GREEN": [one.score for one in read],
            "error count": -np.add(grave, minor),
            "significant errors": np.negative(grave),
        }
    )


def judge_of(run: Run) -> Judge:
    """The judge that fills the role in the run's profile; answers of language models are kept beside its
    results."""
    return open_judge(run.model("judge"), cache=run.output_dir / "cache" / "judge", device=run.profile.device)


def judged_by(run: Run) -> str:
    """What the judge of the run is, for what says what stands in for GREEN's model."""
    name = str(run.profile.models["judge"])
    return "a judge by rules instead of GREEN's model" if name == RULES else title(name)


def judged_scores(choices: Sequence[Choice], judge: Judge) -> Scores:
    """What a judge's analyses of both candidates come to, by :func:`counted`."""
    first, second = (
        counted(judge.judge([(one.reference, candidate(one)) for one in choices]))
        for candidate in (attrgetter("first"), attrgetter("second"))
    )
    return {str(name): (first[name], second[name]) for name in first}
