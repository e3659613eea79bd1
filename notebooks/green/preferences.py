"""Find which of two reports of a case radiologists prefer, and how often a score agrees.

Source: Ostmeier et al. 2024, Sections 3.4.2 and 4.3.2. Two radiologists choose one of two candidates for the
same reference; cases on which they split are left out. A score is right if the preferred candidate scores
higher.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

import numpy as np
import pandas as pd
from scipy import stats

from radeval_lib.data import radpref
from radeval_lib.metrics.green import clean, parse
from radeval_lib.models.judges import open_judge
from radeval_lib.registry import RULES
from radeval_lib.stats.resampling import share_interval
from radeval_lib.study.runs import Run


def preferred_candidates(gaps: pd.DataFrame) -> pd.DataFrame:
    """Return which of two candidates radiologists prefer, from the differences between their grades.

    ``gaps``: grade of the second candidate minus grade of the first, one column per radiologist, one row per
    case; higher grades are better. Columns returned: ``preferred``, 1 if at least two prefer the second and
    none the first, -1 if the reverse, else 0; ``split``, whether two prefer different candidates.
    """
    for_second, for_first = (gaps > 0).sum(axis=1), (gaps < 0).sum(axis=1)
    split, lead = (for_first > 0) & (for_second > 0), for_second - for_first
    return pd.DataFrame({"preferred": np.sign(lead).where(~split & (lead.abs() >= 2), 0), "split": split})


def choice_accuracy(gaps: pd.DataFrame, wanted: pd.Series, cases: Sequence[object], run: Run) -> pd.DataFrame:
    """Return how often scores choose the preferred candidate, one row per score.

    ``gaps``: the second candidate's score minus the first's, one column per score. ``wanted``: 1 if the
    second candidate is preferred, -1 if the first is. ``cases``: the units of the bootstrap.

    Columns: ``share`` of cases chosen right (a tie is wrong), with its 95% interval ``low`` and ``high``;
    share of ``ties``; ``balanced``, the mean of the shares for either preference; ``AUC`` of the gap, and its
    ``p`` (Mann and Whitney); ``better``, the number of cases in which the score is right and always taking
    the second candidate is wrong, ``worse``, the reverse, and McNemar's exact ``p v always``.
    """
    rows = {}
    for name, gap in gaps.round(9).items():
        right, second = np.sign(gap) == wanted, wanted > 0
        share = share_interval(right, cases, resamples=run.profile.resamples, rng=run.rng("choosing"))
        test = stats.mannwhitneyu(gap[second], gap[~second])
        better, worse = int((right & ~second).sum()), int((~right & second).sum())
        rows[name] = {
            **dict(zip(("share", "low", "high"), share, strict=True)),
            "ties": (gap == 0).mean(),
            "balanced": (right[second].mean() + right[~second].mean()) / 2,
            "AUC": test.statistic / (second.sum() * (~second).sum()),
            "p": test.pvalue,
            "better": better,
            "worse": worse,
            "p v always": stats.binomtest(better, better + worse).pvalue if better + worse else 1.0,
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def by_judge(run: Run) -> list[float] | None:
    """Return the GREEN scores that the profile's judge gives RadPref's candidates, in order.

    None if this judge is our rules, whose scores are stored, or if the data root lacks the texts.
    """
    path = run.find("radpref", radpref.CASES_FILE)
    if path is None or run.source_of("models", "judge") == RULES:
        return None
    texts = radpref.candidates(path)[["reference", "text"]]
    cache = run.output_dir / "cache" / "judge"
    judge = open_judge(run.model("judge"), cache=cache, device=run.profile.device)
    analyses = judge.judge(list(texts.itertuples(index=False, name=None)))
    scores = (parse(clean(analysis)).score for analysis in analyses)
    return [nan if score is None else score for score in scores]
