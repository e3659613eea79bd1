"""People's judgements of summaries of clinical trials (MSLR) with the scores of lexical metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from radeval_lib.data import mslr
from radeval_lib.data.records import RatedPair
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics.base import Metric
from radeval_lib.stats.base import FloatArray
from radeval_lib.study.runs import Run

WORDS = ("bleu", "rouge_1", "rouge_2", "rouge_l", "meteor", "bertscore")
"""Metrics that know nothing of radiology, for texts of other kinds."""


class Reviews(NamedTuple):
    """Summaries of trials as people judged them: ``summaries``, one row per summary with ``case`` (the
    review), ``system``, ``rating`` (mean of ``ratings`` sums of three facets, 0 to 6) and a column per metric
    by its name; ``preferences``, one row per decided one, with ``choice`` (1 or 2) and ``<metric>_1`` and
    ``<metric>_2``, the scores of both summaries."""

    summaries: pd.DataFrame
    preferences: pd.DataFrame


def load(run: Run, metrics: Mapping[str, Metric]) -> Reviews:
    """Return MSLR's judgements of trial summaries with the scores of lexical metrics: from the texts if the
    data root holds them all, else as stored."""
    files = {name: run.find("mslr", f"{name}.tsv") for name in (*mslr.RATERS, *mslr.JUDGES)}
    paths = {name: path for name, path in files.items() if path is not None}
    if len(paths) < len(files):
        recording = run.recording("mslr")
        return Reviews(recording.table, recording.parts["preferences"])
    return scored(
        [judgement for name in mslr.RATERS for judgement in mslr.load_ratings(paths[name])],
        [judgement for name in mslr.JUDGES for judgement in mslr.load_preferences(paths[name])],
        metrics,
    )


def scored(
    ratings: Sequence[RatedPair], preferences: Sequence[mslr.Preference], metrics: Mapping[str, Metric]
) -> Reviews:
    """Return judgements of summaries with the scores of the metrics that compare words (:data:`WORDS`).

    Preferences for neither summary are left out. Reviews and systems are numbered, ratings first.
    """
    words = {metric.name: metric for metric in metrics.values() if metric.name in WORDS}
    keys = ["id", "review", "system", "reference", "candidate"]
    rows = [
        (r.id, r.id.partition("/")[0], r.group, reveal(r.reference), reveal(r.candidate), r.rating)
        for r in ratings
    ]
    by_text = pd.DataFrame(rows, columns=[*keys, "rating"]).groupby(keys, sort=False)["rating"]
    texts = by_text.agg(rating="mean", ratings="size").reset_index()
    chosen = [preference for preference in preferences if preference.choice != "neither"]
    of_review = [*texts["review"], *(preference.review for preference in chosen)]
    case = dict(zip(of_review, pd.factorize(pd.Series(of_review))[0], strict=True))
    of_system = [*texts["system"], *(each for preference in chosen for each in preference.systems)]
    system = {key: number for number, key in enumerate(dict.fromkeys(of_system), start=1)}
    summaries = pd.DataFrame(
        {
            "number": range(len(texts)),
            "case": texts["review"].map(case),
            "system": texts["system"].map(system),
            "rating": texts["rating"],
            "ratings": texts["ratings"],
            **{f"{side}_words": texts[side].str.split().str.len() for side in ("reference", "candidate")},
        }
    )
    for name, metric in words.items():
        values = metric.score(texts["reference"].tolist(), texts["candidate"].tolist()).values
        summaries[name] = _nine_digits(values)
    pairs = pd.DataFrame(
        {
            "number": range(len(chosen)),
            "case": [case[preference.review] for preference in chosen],
            "rater": [mslr.JUDGES.index(preference.judge) + 1 for preference in chosen],
            "choice": [1 if preference.choice == "A" else 2 for preference in chosen],
            "system_1": [system[preference.systems[0]] for preference in chosen],
            "system_2": [system[preference.systems[1]] for preference in chosen],
        }
    )
    references = [preference.reference for preference in chosen]
    sides = {1: [preference.first for preference in chosen], 2: [preference.second for preference in chosen]}
    for name, metric in words.items():
        for number, side in sides.items():
            pairs[f"{name}_{number}"] = _nine_digits(metric.score(references, side).values)
    return Reviews(summaries, pairs)


def _nine_digits(values: FloatArray) -> list[float]:
    """Return values to nine significant digits: a sum in another order breaks no tie, and the smallest BLEU
    is not tied with 0."""
    return [float(f"{value:.9g}") for value in values]
