"""The rules judge: how it grades beside radiologists, metrics and generated errors."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pandas as pd

from notebooks.green.ceilings import joint_ceilings, marked, with_marks
from notebooks.green.radpref_scores import oriented, recorded_columns
from radeval_lib.data.radpref import MARKS
from radeval_lib.errors import RadevalError
from radeval_lib.jobs.green.judging import CHEST, seed_of
from radeval_lib.metrics.error_profile import ErrorCounts
from radeval_lib.metrics.error_profile import error_counts as judge_counts
from radeval_lib.rules.generator import SyntheticError, error_pairs, rewrite
from radeval_lib.rules.judge import Judgement, judge_pair
from radeval_lib.stats.agreement import mean_of_others
from radeval_lib.stats.correlations import Resampled, resample
from radeval_lib.stats.inputs import FloatArray
from radeval_lib.study.runs import Run

LEXICAL = {
    "ROUGE-1": "rouge_1",
    "ROUGE-2": "rouge_2",
    "ROUGE-L": "rouge_l",
    "BLEU": "bleu",
    "METEOR": "meteor",
}
OURS, SCORE, OBSERVATIONS = "weighted errors by rules", "GREEN by rules", "fourteen observations"
_PANEL = {OURS: "green_rules_errors", SCORE: "green_rules", **LEXICAL, OBSERVATIONS: "observations"}


def profiles(run: Run, pairs: int = 150) -> pd.DataFrame:
    """Errors by kind and urgent findings found, of two makers of candidates for generated reports of the
    chest: one plants errors, the other says the reference in another style and makes none."""
    seed, found = seed_of(run, "profiles"), ErrorCounts()
    for case, pair in enumerate(error_pairs(pairs, seed=seed, modality_anatomy=CHEST)):
        reference = pair.reference.findings.text
        candidates = {"planted errors": pair.candidate.findings.text}
        with suppress(SyntheticError):  # it has no other wording
            candidates["other words"] = rewrite(pair.reference, "style", seed).findings.text
        for system, candidate in candidates.items():
            judgement = judge_pair(reference, candidate)
            found.add(system, str(case), judge_counts(reference, candidate, judgement))
    return found.profile(resamples=run.profile.resamples, seed=seed)


def example(run: Run) -> tuple[str, str, Judgement, list[str]]:
    """A generated reference, a candidate with planted errors of three categories or more, said in another
    style so that shared wording does not give them away, what the judge says, and the planted categories."""
    seed = seed_of(run, "example")
    for pair in error_pairs(60, seed=seed, modality_anatomy=CHEST):
        if len({error.category for error in pair.errors if error.significant}) < 3:
            continue
        try:
            said = rewrite(pair.candidate, "style", seed)
        except SyntheticError:  # it has no other wording
            continue
        both = pair.reference.findings.text, said.findings.text
        return *both, judge_pair(*both), [error.category for error in pair.errors]
    raise RadevalError("no pair of 60 has errors of three categories", "example", "Give another seed.")


def single_numbers(run: Run, reference: str, candidate: str) -> pd.DataFrame:
    """What metrics that name no error say of a candidate, in one row."""
    names = {**LEXICAL, f"{OBSERVATIONS}, F1": "observations"}
    return pd.DataFrame(
        {name: run.metric(key).score([reference], [candidate]).values for name, key in names.items()}
    )


def against_grades(
    run: Run, candidates: pd.DataFrame, marks: pd.DataFrame
) -> tuple[pd.DataFrame, Resampled, pd.DataFrame]:
    """The rules, lexical metrics and radiologists' own marks against RadPref's grades.

    Returns the graded candidates with their texts and mean marks; the metrics' agreement with the mean grade,
    from drawing cases; and the agreement of both formulas on the radiologists' own marks, by its names:
    ``value``, ``low``, ``high``, from 200 draws of cases.
    """
    frame = marked(candidates, marks)
    rated = with_marks(candidates, frame)
    both = rated["reference"].tolist(), rated["text"].tolist()
    scores = {label: oriented(run, key, *both) for label, key in _PANEL.items()}
    agreement = resample(
        scores,
        rated["grade"],
        groups=rated["case"],
        kind="kendall",
        resamples=run.profile.resamples,
        rng=run.rng("radpref"),
    )
    joint = joint_ceilings(frame, resamples=200, rng=run.rng("ceiling")).intervals()
    names = {"weighted errors": "weighted errors by radiologists", "GREEN": "GREEN by radiologists"}
    ceiling = joint.set_index("metric").loc[list(names), ["value", "low", "high"]].rename(names)
    return rated, agreement, ceiling


def judged(run: Run, rated: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """The number of errors that the rules name in each candidate, and their weighted sum: as recorded, where
    :func:`~notebooks.green.radpref_scores.recorded_columns` has them."""
    pairs = list(zip(rated["reference"], rated["text"], strict=True))
    if (kept := recorded_columns(run, pairs)) is not None:
        number = kept["rules_significant"] + kept["rules_insignificant"]
        return number.set_axis(rated.index), kept["green_rules_errors"].set_axis(rated.index)
    found = [judge_pair(*pair) for pair in pairs]
    number = pd.Series([len(one.errors) for one in found], rated.index)
    return number, pd.Series([one.weighted_errors for one in found], rated.index)


def error_counts(named: pd.Series, marks: pd.DataFrame) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Two counts of errors of the same candidates, by who counted: the rules and the radiologists' mean; and
    each radiologist in turn and the mean of the others, all in one column.

    ``named``: by the rules (:func:`judged`), by number of the candidate. ``marks``: of
    :func:`radpref.marks`.
    """
    columns = ["_".join(mark) for mark in MARKS]
    counts = marks.assign(errors=marks[columns].sum(axis=1)).pivot(
        index="number", columns="rater", values="errors"
    )
    by_rater = counts.loc[named.index].to_numpy(dtype=np.float64)
    return {
        "rules": (named.to_numpy(dtype=np.float64), by_rater.mean(axis=1)),
        "one radiologist": (by_rater.ravel(), mean_of_others(by_rater).ravel()),
    }


def against_marks(run: Run, rated: pd.DataFrame) -> pd.DataFrame:
    """What the rules find in the candidates of :func:`against_grades` beside what radiologists mark."""
    number, weighted = judged(run, rated)
    by_grade = (-rated["grade"]).rank()
    gap, marked_gap = weighted.rank() - by_grade, rated["weighted"].rank() - by_grade
    silent = rated[(number == 0) & (rated["errors"] >= 1)]
    rows = {
        "number of errors, τ_b": f"{rated['errors'].corr(number, 'kendall'):.2f}",
        "weighted errors, τ_b": f"{rated['weighted'].corr(weighted, 'kendall'):.2f}",
        "errors per candidate, by rules": f"{number.mean():.1f}",
        "errors per candidate, marked by a radiologist": f"{rated['errors'].mean():.1f}",
        "difference in rank from the grade, correlation": f"{gap.corr(marked_gap):.2f}",
        "candidates without an error by rules in which one is marked": str(len(silent)),
    }
    if len(silent):
        rows["mean grade of these"] = f"{silent['grade'].mean():.1f}"
    return pd.DataFrame({"": rows})
