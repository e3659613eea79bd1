"""Count the error marks of RadPref's radiologists, and compare scores with the radiologists' grades.

No weight is fitted; the weights of errors are those of CRIMSON (1, 0.5, 0.25, 0; Baharoon et al. 2026).
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
"""A mapping from the significance of a marked error to its weight; the last two are for wrong attributes."""
RADIOLOGIST = "one radiologist's grade"  # Row of the radiologist who is left out.
STORED_SCORES = {
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
"""A mapping from the title of each stored score of RadPref to its column, and 1 if higher is better, else -1.

The title names in parentheses the substitute model, if the score needs one.
"""
LEXICAL = ["METEOR", "ROUGE-1", "ROUGE-2", "ROUGE-L", "BLEU"]
FINDING_COUNTS = ["reference_findings", "candidate_findings"]


def count_marks(radpref: Recording) -> pd.DataFrame:
    """Count the errors that each radiologist marked in each candidate of RadPref.

    The returned table has one row per radiologist and candidate. Columns are those of
    :func:`radeval_lib.data.radpref.read_marks` except ``user``; ``case``, ``set``, ``system`` and the numbers
    of findings in :data:`FINDING_COUNTS`; the sums ``errors`` (all errors), ``significant`` (errors that
    require action) and ``weighted`` (by :data:`WEIGHTS`); ``undefined``, whether the GREEN score is 0/0,
    since no finding matches and no error is significant; and ``both_empty``, whether, in addition, neither
    text lists a finding.
    """
    candidates = radpref.table.set_index("number")[["case", "set", "system", *FINDING_COUNTS]]
    marks = radpref.parts["ratings"].join(candidates, on="number")
    counts = {mark: marks["_".join(mark)] for mark in MARKS}
    marks["errors"] = sum(counts.values())
    marks["significant"] = sum(count for (_, level), count in counts.items() if level in SIGNIFICANT)
    marks["weighted"] = sum(WEIGHTS[level] * count for (_, level), count in counts.items())
    marks["undefined"] = (marks["clean"] == 0) & (marks["significant"] == 0)
    marks["both_empty"] = marks["undefined"] & (marks[FINDING_COUNTS] == 0).all(axis=1)
    return marks


def orient_scores(candidates: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of :data:`STORED_SCORES`, negated if lower values are better.

    ``candidates`` is the stored table of RadPref's candidates. The returned table has one row per candidate
    and one column per score, named by its title.
    """
    return pd.DataFrame({title: sign * candidates[column] for title, (column, sign) in STORED_SCORES.items()})


def split_views(frame: pd.DataFrame, candidates: pd.DataFrame) -> dict[str, tuple[pd.DataFrame, pd.Series]]:
    """Return views of a table: all candidates of RadPref, those of each system, and differences within cases.

    Parameters
    ----------
    frame : the table, with any numeric columns and one row per candidate, indexed by ``number``.
    candidates : the stored table of RadPref's candidates, with the same index.

    Returns
    -------
    dict
        A mapping from the name of a view to its table and the case of each row. The view ``within a case``
        has one row per case, indexed by ``set``: the second system's values minus the first system's.
    """
    by_system = dict(list(candidates.groupby("system")))
    first, second = (frame.loc[rows.index].set_axis(rows["set"]) for rows in by_system.values())
    views = {"all reports": (frame, candidates["case"])}
    views |= {
        SYSTEMS[f"system {system}"]: (frame.loc[rows.index], rows["case"])
        for system, rows in by_system.items()
    }
    gaps = (second - first.loc[second.index]).sort_index()
    return views | {"within a case": (gaps, by_system[2].set_index("set")["case"].loc[gaps.index])}


def compare_with_radiologist(
    scores: Mapping[int, pd.DataFrame], grades: pd.DataFrame, cases: pd.Series, run: Run, stream: str
) -> pd.DataFrame:
    """Return Kendall's τ_b between scores, or one radiologist's grade, and the mean grade of the others.

    Each of the three radiologists is left out of the mean grade in turn, and the three values of τ_b are
    averaged.

    Parameters
    ----------
    scores : a mapping from each radiologist who is left out to a table with one row per candidate and one
        column per score.
    grades : one row per candidate, one column per radiologist.
    cases : the case of each candidate; whole cases are resampled.
    run : the page's run, for the number of resamples.
    stream : name of the random stream.

    Returns
    -------
    DataFrame
        One row per score, and the row :data:`RADIOLOGIST`; columns as in
        :func:`radeval_lib.stats.correlations.compare_with_one_rater`.
    """
    resampled = [
        resample(
            {**table, RADIOLOGIST: grades[rater]},
            grades.drop(columns=rater).mean(axis=1),
            groups=cases,
            kind="kendall",
            resamples=run.profile.resamples,
            rng=run.rng(stream),
        )
        for rater, table in scores.items()
    ]
    return compare_with_one_rater(resampled)
