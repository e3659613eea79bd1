"""Ratings of summaries of clinical trials (the data set MSLR), with scores by metrics for any text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from radeval_lib.data import mslr
from radeval_lib.data.records import RatedPair
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics.base import Metric
from radeval_lib.study.runs import Run

WORDS = ("bleu", "rouge_1", "rouge_2", "rouge_l", "meteor", "bertscore")
"""Names of the metrics that are not specific to radiology."""


def load_summaries(run: Run, metrics: Mapping[str, Metric]) -> pd.DataFrame:
    """Return the table of :func:`score_summaries` for MSLR's rated summaries.

    The summaries are scored by ``metrics`` if the data root has the files of both raters; otherwise, the
    stored table is returned.
    """
    paths = [run.find("mslr", f"{name}.tsv") for name in mslr.RATERS]
    if None in paths:
        return run.recording("mslr").table
    return score_summaries([rating for path in paths if path for rating in mslr.load(path)], metrics)


def score_summaries(ratings: Sequence[RatedPair], metrics: Mapping[str, Metric]) -> pd.DataFrame:
    """Return rated summaries with the scores of those ``metrics`` that are in :data:`WORDS`.

    Returns
    -------
    DataFrame
        One row per summary: ``number`` (from 0), ``case`` (number of the review, from 0), ``system``
        (number, from 1), ``rating`` (the sum of three facets, 0 to 6, averaged over raters), ``ratings``
        (number of raters), ``reference_words`` and ``candidate_words`` (word counts), and one column of
        scores per metric.
    """
    word_metrics = {metric.name: metric for metric in metrics.values() if metric.name in WORDS}
    keys = ["id", "review", "system", "reference", "candidate"]
    rows = [
        (r.id, r.id.partition("/")[0], r.group, reveal(r.reference), reveal(r.candidate), r.rating)
        for r in ratings
    ]
    by_summary = pd.DataFrame(rows, columns=[*keys, "rating"]).groupby(keys, sort=False)["rating"]
    texts = by_summary.agg(rating="mean", ratings="size").reset_index()
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
        # Nine digits keep ties that a different order of summation would break, and do not round the smallest
        # BLEU to 0.
        summaries[name] = [float(f"{value:.9g}") for value in values]
    return summaries
