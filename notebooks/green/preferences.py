"""Which of two candidates RadPref's radiologists prefer, and how often a score agrees.

Source: Ostmeier et al. 2024, Sections 3.4.2 and 4.3.2. Two radiologists choose one of two candidates for the
same reference; cases on which they split are left out. A score is right where it puts the preferred candidate
first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from notebooks.green.radpref_scores import oriented, recorded_columns
from radeval_lib.data.radpref import CANDIDATES
from radeval_lib.metrics.green import clean, parse
from radeval_lib.models.judges.opening import open_judge
from radeval_lib.models.pretrained import RULES
from radeval_lib.placeholders import refuse
from radeval_lib.registry import ABSENT
from radeval_lib.rules.judge.base import Judge
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.resampling import mean_difference, sum_estimates
from radeval_lib.study.runs import Run
from radeval_lib.text_format import with_interval

OTHERS = {"weighted errors": "green_rules_errors", "ROUGE-L": "rouge_l"}
"""Scores beside GREEN and the counts of its judge: errors by the weights of our rules, and words."""


def choices(candidates: pd.DataFrame, marks: pd.DataFrame) -> pd.DataFrame:
    """RadPref's grades as choices between two candidates, one row per set of two, by its number.

    ``candidates``, ``marks``: of :func:`radpref.candidates`, by number, and :func:`radpref.marks`. A
    radiologist prefers the candidate with the higher grade. Columns: the texts ``reference``, ``C1`` and
    ``C2``; ``split``, whether two radiologists prefer different candidates; ``preferred``, 1 where two at
    least prefer C2, -1 where they prefer C1, 0 where they split or fewer than two choose. A set of any other
    number of candidates is a ValueError.
    """
    sizes = candidates.groupby("set").size()
    if (wrong := sizes[sizes != len(CANDIDATES)]).size:
        raise ValueError(f"set {wrong.index[0]} has {wrong.iloc[0]} candidates, not {len(CANDIDATES)}")
    key = pd.Series(candidates.groupby("set").cumcount().map(dict(enumerate(CANDIDATES))), name="candidate")
    placed = candidates.assign(candidate=key)
    grades = marks.join(placed[["set", "candidate"]], on="number")
    wide = grades.pivot(index="set", columns=["candidate", "rater"], values="grade")
    gaps = wide["C2"] - wide["C1"]
    for_first, for_second = (gaps < 0).sum(axis=1), (gaps > 0).sum(axis=1)
    split = (for_first > 0) & (for_second > 0)
    lead = for_second - for_first
    texts = placed.pivot(index="set", columns="candidate", values="text")[list(CANDIDATES)]
    return texts.assign(
        reference=candidates.groupby("set")["reference"].first(),
        split=split,
        preferred=np.sign(lead).where(~split & (lead.abs() >= 2), 0),
    )


def matches(chosen: pd.DataFrame, first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """What a score's choice is worth in each case: 1 where the preferred candidate scores higher, 0 where the
    other does, one half where both score alike.

    ``first``, ``second``: the scores of the two candidates, one row per case of ``chosen``, one column per
    score. Other shapes, other scores of one than of the other, or a score that is missing are a ValueError.
    """
    if list(first) != list(second) or not len(first) == len(second) == len(chosen):
        raise ValueError("both candidates need the same scores of every case")
    if first.isna().any(axis=None) or second.isna().any(axis=None):
        raise ValueError("a score is missing, so that nothing was chosen")
    gaps = (second - first).round(9).mul(chosen["preferred"].to_numpy(), axis=0)
    return (np.sign(gaps) + 1) / 2


def accuracies(run: Run, right: pd.DataFrame) -> pd.DataFrame:
    """Accuracy of each score, with percentile intervals from drawing cases.

    Index: the scores. ``accuracy`` by the paper's words, where a tie is not a match; ``low`` and ``high`` of
    it; ``ties`` (share of the cases); ``ties by a coin``, the accuracy where a tie counts one half.
    """
    estimates = sum_estimates(
        right.eq(1).to_numpy(float),
        lambda sums: sums / len(right),
        resamples=run.profile.resamples,
        rng=run.rng("radpref"),
    )
    table = pd.DataFrame([(share.value, share.low, share.high) for share in estimates], right.columns)
    table.columns = pd.Index(["accuracy", "low", "high"])
    return table.assign(ties=right.eq(0.5).mean(), **{"ties by a coin": right.mean()})


def is_graded(run: Run) -> bool:
    """Whether ratings by people fill the role that the page needs."""
    return run.evidence("rated_pairs") not in ("synthetic", ABSENT) and not run.lacks("rated_pairs")


def answer(run: Run, table: pd.DataFrame, cases: int) -> str:
    """How often GREEN's score chooses what RadPref's radiologists prefer, by :func:`accuracies`."""
    accuracy, low, high = table.loc["GREEN", ["accuracy", "low", "high"]]
    share = with_interval(accuracy, low, high, ".0%")
    name = by_judge(run, ["GREEN"])["GREEN"]
    return f"{name} chooses the report that radiologists prefer in {share} of {cases} cases of RadPref."


def lead(run: Run, right: pd.DataFrame, stream: str, tie: float) -> Estimate:
    """By how much GREEN chooses better than the error count, a tie counting as ``tie``."""
    counted = right.replace(0.5, tie)
    green, errors = counted["GREEN"], counted["error count"]
    return mean_difference(green, errors, resamples=run.profile.resamples, rng=run.rng(stream))


def counted(analyses: Sequence[str]) -> pd.DataFrame:
    """What analyses come to, by the rules of the released parser, which scores malformed ones too: ``GREEN``,
    and minus the number of errors (``error count``) and of ``significant errors``."""
    read = [parse(clean(analysis)) for analysis in analyses]
    grave, minor = (
        [sum(getattr(parsed, kind) or ()) for parsed in read] for kind in ("significant", "insignificant")
    )
    return pd.DataFrame(
        {
            "GREEN": [parsed.score for parsed in read],
            "error count": -np.add(grave, minor),
            "significant errors": np.negative(grave),
        }
    )


def by_judge(run: Run, names: Sequence[str]) -> dict[str, str]:
    """The names of scores as a figure has them, with whose judge they come from."""
    by = "by rules" if run.profile.models["judge"] == RULES else "by this build's judge"
    of_rules = {key for key, metric in OTHERS.items() if metric.startswith("green_rules")}
    judged = {name: f"{name} {by}" for name in names if name not in OTHERS}
    return judged | {name: f"{name} by rules" for name in names if name in of_rules}


def judge_of(run: Run) -> Judge:
    """The judge that fills the role in the run's profile; answers of language models are kept beside its
    results."""
    return open_judge(run.model("judge"), cache=run.output_dir / "cache" / "judge", device=run.profile.device)


def scores(run: Run, judge: Judge, references: Sequence[str], candidates: Sequence[str]) -> pd.DataFrame:
    """What a judge's analyses of candidates come to, by :func:`counted`, and the scores of :data:`OTHERS`;
    higher is better."""
    pairs = list(zip(references, candidates, strict=True))
    recorded = recorded_columns(run, pairs) if run.profile.models["judge"] == RULES else None
    if recorded is None:
        refuse([*references, *candidates], "the judge")
        judged = counted(judge.judge(pairs))
    else:
        grave, minor = recorded["rules_significant"], recorded["rules_insignificant"]
        judged = pd.DataFrame(
            {"GREEN": recorded["green_rules"], "error count": -(grave + minor), "significant errors": -grave}
        )
    return judged.assign(**{name: oriented(run, key, references, candidates) for name, key in OTHERS.items()})
