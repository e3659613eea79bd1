"""Count the marks of RadPref's radiologists for GREEN's formula and its variants.

No weight is fitted: those of significance are CRIMSON's (1, 0.5, 0.25, 0; Baharoon et al. 2026).
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from radeval_lib.data.radpref import MARKS, SIGNIFICANT, SYSTEMS
from radeval_lib.data.recorded import Recording
from radeval_lib.stats.correlations import compare_with_one_rater, resample
from radeval_lib.study.runs import Run

WEIGHTS: Mapping[str, float] = {
    "urgent": 1.0,
    "actionable_not_urgent": 0.5,
    "not_actionable_not_urgent": 0.25,
    "benign_expected": 0.0,
    "significant": 0.5,
    "negligible": 0.0,
}
"""The weight of a marked error by its significance; the last two are for wrong attributes."""
PERSON = "one radiologist's grade"
STORED = {
    "weighted errors by rules": ("green_rules_errors", -1),
    "GREEN by rules": ("green_rules", 1),
    "observations by rules": ("observations", 1),
    "RaTEScore (our NER model)": ("ratescore", 1),
    "RadGraph F1 (our graph model)": ("f1_radgraph", 1),
    "BERTScore (MiniLM)": ("bertscore", 1),
    "METEOR": ("meteor", 1),
    "ROUGE-1": ("rouge_1", 1),
    "ROUGE-2": ("rouge_2", 1),
    "ROUGE-L": ("rouge_l", 1),
    "BLEU": ("bleu", 1),
}
"""Column and sign of RadPref's stored scores, by title, which names substitute models."""
WORDS = ["METEOR", "ROUGE-1", "ROUGE-2", "ROUGE-L", "BLEU"]
LISTED = ["reference_findings", "candidate_findings"]


def radiologist_marks(radpref: Recording) -> pd.DataFrame:
    """Return each radiologist's marks on each candidate, one row per radiologist and candidate.

    Columns: those of :func:`radeval_lib.data.radpref.marks`; ``case``, ``set``, ``system`` and the numbers of
    findings :data:`LISTED`; the sums ``errors``, ``significant`` (errors that require action) and
    ``weighted`` (by :data:`WEIGHTS`); ``nothing``, whether GREEN's ratio is 0/0, since no finding matches and
    no error is significant; ``both_empty``, whether in addition neither text lists a finding.
    """
    candidates = radpref.table.set_index("number")[["case", "set", "system", *LISTED]]
    marks = radpref.parts["ratings"].join(candidates, on="number")
    counts = {mark: marks["_".join(mark)] for mark in MARKS}
    marks["errors"] = sum(counts.values())
    marks["significant"] = sum(count for (_, weight), count in counts.items() if weight in SIGNIFICANT)
    marks["weighted"] = sum(WEIGHTS[weight] * count for (_, weight), count in counts.items())
    marks["nothing"] = (marks["clean"] == 0) & (marks["significant"] == 0)
    marks["both_empty"] = marks["nothing"] & (marks[LISTED] == 0).all(axis=1)
    return marks


def stored_scores(candidates: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of :data:`STORED`, higher is better, one row for each row of the stored table."""
    return pd.DataFrame({title: sign * candidates[column] for title, (column, sign) in STORED.items()})


def three_ways(frame: pd.DataFrame, candidates: pd.DataFrame) -> dict[str, tuple[pd.DataFrame, pd.Series]]:
    """Return columns of RadPref's candidates for all reports, for each system, and within cases.

    ``frame``: any columns, indexed by ``number`` like ``candidates`` (the stored table). Within a case, a
    value is the second system's minus the first's. Each view comes with the cases of its rows.
    """
    of_system = dict(list(candidates.groupby("system")))
    first, second = (frame.loc[rows.index].set_axis(rows["set"]) for rows in of_system.values())
    views = {"all reports": (frame, candidates["case"])}
    views |= {
        SYSTEMS[f"system {system}"]: (frame.loc[rows.index], rows["case"])
        for system, rows in of_system.items()
    }
    gaps = (second - first.loc[second.index]).sort_index()
    return views | {"within a case": (gaps, of_system[2].set_index("set")["case"].loc[gaps.index])}


def beside_radiologist(
    scores: Mapping[int, pd.DataFrame], grades: pd.DataFrame, cases: pd.Series, run: Run, stream: str
) -> pd.DataFrame:
    """Return the agreement (τ_b) of scores, and of one radiologist's grade, with the other two radiologists.

    ``scores``: by the radiologist who is left out of the mean grade; ``grades``: one column per radiologist.
    The agreement is the mean over the three; columns as in
    :func:`radeval_lib.stats.correlations.compare_with_one_rater`.
    """
    left_out = [
        resample(
            {**by_rater, PERSON: grades[rater]},
            grades.drop(columns=rater).mean(axis=1),
            groups=cases,
            kind="kendall",
            resamples=run.profile.resamples,
            rng=run.rng(stream),
        )
        for rater, by_rater in scores.items()
    ]
    return compare_with_one_rater(left_out)
