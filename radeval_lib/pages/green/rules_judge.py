"""The rules judge: whether it is as it was when it last met RadPref's grades, how it reads and how it grades.

What is frozen is behaviour: a digest of the judge's analyses and weighted errors on generated pairs, so that
code may be moved and renamed, and a changed word, rule or weight shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

import radeval_lib.findings as findings
from radeval_lib import atomic, own_yaml, plots
from radeval_lib.data import openi
from radeval_lib.data.radpref import MARKS
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import RadevalError
from radeval_lib.findings import read
from radeval_lib.metrics.error_profile import ErrorCounts
from radeval_lib.metrics.error_profile import error_counts as judge_counts
from radeval_lib.models.judges.rules import Judgement, judge_pair
from radeval_lib.pages.green.ceilings import joint_ceilings, marked, with_marks
from radeval_lib.pages.green.judging import CHEST, oriented, seed_of
from radeval_lib.pages.green.metamorphic import violations_on as violations_on
from radeval_lib.placeholders import behind
from radeval_lib.stats.agreement import mean_of_others
from radeval_lib.stats.correlations import Resampled, resample
from radeval_lib.stats.inputs import FloatArray
from radeval_lib.stats.measures import f1
from radeval_lib.stats.proportions import wilson
from radeval_lib.stats.resampling import sum_estimates
from radeval_lib.study import recordings
from radeval_lib.study.runs import Run
from radeval_lib.synthetic import SyntheticError, error_pairs, rewrite

FREEZE = Path(__file__).with_name("freeze.yml")
_LABELS = Path(findings.__file__).parent / "labels" / "openi_sentences.csv"


def freeze() -> dict[str, Any]:
    """When the judge was frozen (``date``), its ``digest`` then, and how often RadPref was ``scored``."""
    return own_yaml.read(FREEZE)


def require_frozen() -> None:
    """Refuse to score RadPref with a judge that was not frozen first.

    Raises
    ------
    RadevalError
        Where the judge's behaviour is not that of ``freeze.yml``.
    """
    if freeze()["digest"] != (now := behaviour()):
        raise RadevalError(
            "the judge is not frozen", FREEZE.name, f"Write its digest there first, with the date: {now}."
        )


def count_use() -> int:
    """Count in ``freeze.yml`` that RadPref was scored once more; how often that is now."""
    times = freeze()["scored"] + 1
    text = re.sub(r"(?m)^scored: \d+$", f"scored: {times}", FREEZE.read_text(encoding="utf-8"))
    atomic.write_text(FREEZE, text)
    return times


def behaviour() -> str:
    """SHA-256 over what the judge says of 300 generated pairs, half of them of the chest."""
    digest = sha256()
    for anatomy in (CHEST, None):
        for pair in error_pairs(150, seed=20240917, modality_anatomy=anatomy):
            judgement = judge_pair(pair.reference.findings.text, pair.candidate.findings.text)
            digest.update(f"{judgement.analysis()}\n{judgement.weighted_errors:.9f}\n".encode())
    return digest.hexdigest()


def labels() -> pd.DataFrame:
    """The labels, with columns report, section, start, end, draw, presence, key and locations.

    One row per finding or normal statement; a sentence without any has one row with an empty key.
    """
    return pd.read_csv(_LABELS, dtype={"report": str}, keep_default_na=False)


def hand_checks() -> pd.DataFrame:
    """What was decided by hand before the rules met it: ``drawn`` from where with which ``seed``, and of how
    many (``number``) the rules were ``right`` at that first meeting, with Wilson's 95% interval of the share.

    Of pairs the letters of significant errors count, of sentences presence, side, degree and change of every
    finding. The rules were corrected after each row, so that the next one is a first meeting again.
    """
    checks = pd.read_csv(_LABELS.with_name("hand_checks.csv"), dtype={"seed": "Int64"})
    ends = [wilson(right, number) for right, number in zip(checks["right"], checks["number"], strict=True)]
    return checks.assign(
        share=checks["right"] / checks["number"], low=[a for a, _ in ends], high=[b for _, b in ends]
    )


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


def _open_i(path: Path) -> Callable[[str, str, int, int], str]:
    """What gives the words of Open-i's file by report, section, start and end."""
    by_id = {report.id: report for report in openi.load(path)}

    def words(report: str, section: str, start: int, end: int) -> str:
        if report not in by_id:
            raise RadevalError(
                f"report {report} has labels and is not there", "Open-i", "Fetch the set again."
            )
        return reveal(getattr(by_id[report], section))[start:end]

    return words


def counts(path: Path) -> pd.DataFrame:
    """What the reader finds in each labelled sentence of Open-i.

    One row per sentence and measure (``presence``, ``location``): ``sentence``, ``draw``, ``measure``,
    ``hit``, ``gold``, ``found``.
    """
    words, keys = _open_i(path), ["report", "section", "start", "end", "draw"]
    rows = []
    for number, ((*where, draw), part) in enumerate(labels().groupby(keys, sort=False)):
        for measure, (gold, found) in _sets(words(*where), part).items():
            rows.append((number, draw, measure, len(gold & found), len(gold), len(found)))
    return pd.DataFrame(rows, columns=["sentence", "draw", "measure", "hit", "gold", "found"])


def pair_answers(path: Path) -> pd.DataFrame:
    """Whether the judge says of pairs of Open-i's sentences what was said of them by hand.

    A pair is a sentence of a report's findings, the reference, and one of its impression. One row per pair:
    ``draw``, and 1 or 0 for whether both agree that there is a ``false`` and a ``missing`` finding.
    """
    words, pairs = _open_i(path), pd.read_csv(_LABELS.with_name("openi_pairs.csv"), dtype={"report": str})
    rows = []
    for row in pairs.itertuples():
        reference = words(row.report, "findings", row.findings_start, row.findings_end)
        candidate = words(row.report, "impression", row.impression_start, row.impression_end)
        named = {error.category for error in judge_pair(reference, candidate).errors}
        same = ("a" in named) == bool(row.false), ("b" in named) == bool(row.missing)
        rows.append((row.draw, *map(int, same)))
    return pd.DataFrame(rows, columns=["draw", "false", "missing"])


def answers(run: Run) -> tuple[pd.DataFrame, pd.DataFrame]:
    """:func:`counts` and :func:`pair_answers`: of Open-i's file, or as they are recorded."""
    if (path := run.find("openi")) is not None:
        return counts(path), pair_answers(path)
    parts = run.recording("openi").parts
    return parts["sentences"], parts["pairs"]


def _sets(text: str, part: pd.DataFrame) -> Mapping[str, tuple[set[tuple[str, str]], set[tuple[str, str]]]]:
    """By measure, what the labels of a sentence say and what the reader finds."""
    found = read(text).findings
    stated = part[(part["key"] != "") & (part["presence"] != "normal")]
    places = [
        (
            one.observation,
            f"{where.side or ''} {_place(where.place)}".strip(),
        )
        for one in found
        for where in one.locations
    ]
    return {
        "presence": (
            set(zip(stated["key"], stated["presence"], strict=True)),
            {(one.observation, one.presence) for one in found},
        ),
        "location": (
            {
                (row.key, place.removesuffix(" lung"))
                for row in stated.itertuples()
                for place in row.locations.split(";")
                if place
            },
            {(observation, place) for observation, place in places if place},
        ),
    }


def _place(key: str | None) -> str:
    """A place as the labels have it, which number no ribs and name no lung."""
    return "ribs" if key is not None and key.startswith("rib_") else "" if key in (None, "lung") else str(key)


def reading(run: Run, found: pd.DataFrame) -> pd.DataFrame:
    """Micro-F1 of presence and location by draw of labelled sentences, of which ``found`` are the
    :func:`counts`.

    Columns ``draw``, ``measure`` and ``first``, when the reader first met the draw; ``sentences``, ``value``
    as the reader is, and ``low`` and ``high``, its 95% interval from drawing sentences.
    """
    scores = pd.read_csv(_LABELS.with_name("first_scores.csv"))
    right = 2 * scores.pop("hit")
    scores["first"] = right / (right + scores.pop("missed") + scores.pop("added"))
    rows = []
    for (draw, measure), part in found.groupby(["draw", "measure"], sort=False):
        values = part[["hit", "found", "gold"]].to_numpy(float)
        rng, n = run.rng(f"reading {draw} {measure}"), run.profile.resamples
        (found_f1,) = sum_estimates(values, lambda sums: f1(sums)[..., None], resamples=n, rng=rng)
        rows.append({"draw": draw, "measure": measure, "sentences": len(part), **vars(found_f1)})
    return scores.merge(pd.DataFrame(rows), on=["draw", "measure"])


def draw_reading(axis: Axes, scores: pd.DataFrame) -> None:
    """:func:`reading`: hollow when first met, filled with its interval as the reader is."""
    draws = list(scores["draw"].unique())
    for number, (measure, part) in enumerate(scores.groupby("measure", sort=False)):
        places = np.array([draws.index(draw) for draw in part["draw"]]) + (-0.13, 0.13)[number]
        marker, colour = plots.MARKERS[number], plots.PALETTE[number]
        axis.scatter(part["first"], places, marker=marker, facecolors="none", edgecolors=colour, s=55)
        plots.series(axis, part, places, number, str(measure))
    plots.lines(axis, draws)
    axis.set(xlabel="Micro-F1", ylabel="Draw of sentences")
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)


LEXICAL = {
    "ROUGE-1": "rouge_1",
    "ROUGE-2": "rouge_2",
    "ROUGE-L": "rouge_l",
    "BLEU": "bleu",
    "METEOR": "meteor",
}
OURS, SCORE, OBSERVATIONS = "weighted errors by rules", "GREEN by rules", "fourteen observations"
_PANEL = {OURS: "green_rules_errors", SCORE: "green_rules", **LEXICAL, OBSERVATIONS: "observations"}


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
    ``value``, ``low``, ``high``.
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
    the texts are placeholders, or when these were frozen, if they read otherwise now."""
    pairs = list(zip(rated["reference"], rated["text"], strict=True))
    recorded = bool(behind(pairs[0][1]))
    if recorded or recordings.is_out_of_date("radpref", run.metric("green_rules_errors")):
        kept = recordings.columns("radpref", run.data_root, pairs)
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
