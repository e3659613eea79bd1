"""Find which of a case's two candidates radiologists prefer, and how often a score chooses it.

Source: Ostmeier et al. 2024, Sections 3.4.2 and 4.3.2. In the paper, two radiologists choose one of two
candidates for the same reference, and cases on which they disagree are left out. A score is right if the
preferred candidate has the higher score.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from radeval_lib.data import radpref
from radeval_lib.metrics.green import clean, parse
from radeval_lib.models.judges import open_judge
from radeval_lib.registry import RULES
from radeval_lib.stats.resampling import share_interval
from radeval_lib.study.runs import Run


def find_preferred(gaps: pd.DataFrame) -> pd.DataFrame:
    """Return which of each case's two candidates the radiologists prefer, according to their grades.

    Parameters
    ----------
    gaps : the second candidate's grade minus the first's; one row per case, one column per radiologist.
        Higher grades are better.

    Returns
    -------
    DataFrame
        One row per case, with columns ``preferred`` (1 if at least two radiologists prefer the second
        candidate and none the first, -1 for the reverse, else 0) and ``split`` (whether two radiologists
        prefer different candidates).
    """
    second_votes, first_votes = (gaps > 0).sum(axis=1), (gaps < 0).sum(axis=1)
    split, lead = (first_votes > 0) & (second_votes > 0), second_votes - first_votes
    return pd.DataFrame({"preferred": np.sign(lead).where(~split & (lead.abs() >= 2), 0), "split": split})


def measure_choices(gaps: pd.DataFrame, target: pd.Series, cases: Sequence[object], run: Run) -> pd.DataFrame:
    """Return how often each score chooses the preferred candidate.

    Parameters
    ----------
    gaps : the second candidate's score minus the first's, one row per comparison and one column per score.
    target : 1 if the second candidate is preferred, -1 if the first is.
    cases : the case of each comparison; whole cases are resampled.
    run : the page's run, for the number of resamples and the random stream.

    Returns
    -------
    DataFrame
        One row per score. ``share`` is the share of comparisons in which the score is right (a tie is wrong),
        ``low`` and ``high`` are the bounds of its 95% interval, ``ties`` is the share of ties, and
        ``balanced`` is the mean of two such shares: if the second candidate is preferred, and if the first
        is. ``AUC`` measures how well the gap separates these two kinds of comparisons, with ``p`` from a
        Mann-Whitney test. Three columns compare the score with always choosing the second candidate:
        ``better`` and ``worse`` are the numbers of comparisons in which only the score, or only this rule, is
        right, and ``p v always`` is the p-value of McNemar's exact test.
    """
    rows = {}
    for name, gap in gaps.round(9).items():
        is_right, prefers_second = np.sign(gap) == target, target > 0
        share = share_interval(is_right, cases, resamples=run.profile.resamples, rng=run.rng("choosing"))
        test = stats.mannwhitneyu(gap[prefers_second], gap[~prefers_second])
        better, worse = int((is_right & ~prefers_second).sum()), int((~is_right & prefers_second).sum())
        rows[name] = {
            **dict(zip(("share", "low", "high"), share, strict=True)),
            "ties": (gap == 0).mean(),
            "balanced": (is_right[prefers_second].mean() + is_right[~prefers_second].mean()) / 2,
            "AUC": test.statistic / (prefers_second.sum() * (~prefers_second).sum()),
            "p": test.pvalue,
            "better": better,
            "worse": worse,
            "p v always": stats.binomtest(better, better + worse).pvalue if better + worse else 1.0,
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def score_with_judge(run: Run) -> list[float] | None:
    """Return the GREEN scores of RadPref's candidates by the profile's judge, in the order of the file.

    A score is NaN if the judge's answer contains none. The result is None if the judge is the rules,
    whose scores are stored, or if the data root lacks RadPref's texts.
    """
    path = run.find("radpref", radpref.CASES_FILE)
    if path is None or run.source_of("models", "judge") == RULES:
        return None
    texts = radpref.read_candidates(path)[["reference", "text"]]
    cache = run.output_dir / "cache" / "judge"
    judge = open_judge(run.model("judge"), cache=cache, device=run.profile.device)
    analyses = judge.judge(list(texts.itertuples(index=False, name=None)))
    scores = (parse(clean(analysis)).score for analysis in analyses)
    return [float("nan") if score is None else score for score in scores]
