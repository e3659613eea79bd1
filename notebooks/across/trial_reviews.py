"""People's judgements of summaries of clinical trials (MSLR) with the scores of lexical metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from radeval_lib.data import mslr
from radeval_lib.data.records import RatedPair
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics.base import Metric
from radeval_lib.study.runs import Run

WORDS = ("bleu", "rouge_1", "rouge_2", "rouge_l", "meteor", "bertscore")
"""Metrics that know nothing of radiology, for texts of other kinds."""


def load(run: Run, metrics: Mapping[str, Metric]) -> pd.DataFrame:
    """Return MSLR's rated summaries in the form of :func:`score_summaries`, scored here if the data root
    holds all texts, else as stored."""
    paths = [run.find("mslr", f"{name}.tsv") for name in mslr.RATERS]
    if None in paths:
        return run.recording("mslr").table
    return score_summaries([rating for path in paths if path for rating in mslr.load(path)], metrics)


def score_summaries(ratings: Sequence[RatedPair], metrics: Mapping[str, Metric]) -> pd.DataFrame:
    """Return rated summaries with the scores of the metrics in :data:`WORDS`.

    Returns
    -------
    DataFrame
        One row per summary: ``number``, ``case`` (the review), ``system``, ``rating`` (mean of its raters'
        sums of three facets, 0 to 6), ``ratings`` (their number), ``reference_words``,
        ``candidate_words``, and a column per metric.
    """
    word_metrics = {metric.name: metric for metric in metrics.values() if metric.name in WORDS}
    keys = ["id", "review", "system", "reference", "candidate"]
    rows = [
        (r.id, r.id.partition("/")[0], r.group, reveal(r.reference), reveal(r.candidate), r.rating)
        for r in ratings
    ]
    by_text = pd.DataFrame(rows, columns=[*keys, "rating"]).groupby(keys, sort=False)["rating"]
    texts = by_text.agg(rating="mean", ratings="size").reset_index()
    summaries = pd.DataFrame(
        {
            "number": range(len(texts)),
            "case": pd.factorize(texts["review"])[0],
            "system": pd.factorize(texts["system"])[0] + 1,
            "rating": texts["rating"],
            "ratings": texts["ratings"],
            **{f"{side}_words": texts[side].str.split().str.len() for side in ("reference", "candidate")},
        }
    )
    for name, metric in word_metrics.items():
        values = metric.score(texts["reference"].tolist(), texts["candidate"].tolist()).values
        # Nine digits: a sum in another order breaks no tie, and the smallest BLEU is not tied with 0.
        summaries[name] = [float(f"{value:.9g}") for value in values]
    return summaries
