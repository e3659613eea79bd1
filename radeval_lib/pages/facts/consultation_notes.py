"""What the page on consultation notes shows: means by clinician, and metrics beside their lists."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from radeval_lib.data.records import NoteJudgement
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics import create
from radeval_lib.stats.correlations import resample
from radeval_lib.stats.estimates import Estimate

_METRICS = {"ROUGE-1": "rouge_1", "ROUGE-L": "rouge_l", "METEOR": "meteor", "BLEU": "bleu"}
RATIO, COUNTS = "share of errors that are omissions", ["incorrect statements", "omissions"]


def by_rater(judgements: Sequence[NoteJudgement]) -> pd.DataFrame:
    """Mean entries a note, share of notes with a critical one, and seconds, one row a clinician."""
    frame = pd.DataFrame(
        {
            "clinician": one.rater,
            "incorrect statements": len(one.incorrect),
            "omissions": len(one.omissions),
            "notes with a critical error": float(
                any(error.critical for error in (*one.incorrect, *one.omissions))
            ),
            "seconds": np.nan if one.seconds is None else one.seconds,
        }
        for one in judgements
    )
    return frame.groupby("clinician").mean()


def shown(agreed: pd.DataFrame, name: str) -> str:
    """An alpha of :func:`~radeval_lib.pages.facts.rater_agreement.alphas` with its interval, as text."""
    if name not in agreed.index:
        return "not defined, as no note has an error by all of them"
    row = agreed.loc[name]
    return f"{row['alpha']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"


def ratio_against_counts(agreed: pd.DataFrame) -> Estimate:
    """Between what bounds the alpha of the ratio lies above, or below, those of both counts."""
    if RATIO not in agreed.index:
        return Estimate(np.nan, -np.inf, np.inf)
    ratio, counts = agreed.loc[RATIO], agreed.loc[COUNTS]
    low, high = ratio["low"] - counts["high"].max(), ratio["high"] - counts["low"].min()
    return Estimate(ratio["alpha"] - counts["alpha"].mean(), low, high)


def metric_correlations(
    judgements: Sequence[NoteJudgement], *, resamples: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Spearman correlation of metrics with the negative mean number of entries a note.

    A note's score is its mean over the clinicians' own notes, each taken as the reference; intervals draw
    whole consultations.

    Columns of :meth:`radeval_lib.stats.correlations.Resampled.intervals`.
    """
    frame = pd.DataFrame(
        {
            "case": one.case,
            "group": one.group,
            "errors": len(one.incorrect) + len(one.omissions),
            "reference": reveal(one.reference),
            "candidate": reveal(one.candidate),
        }
        for one in judgements
    )
    for name, metric in _METRICS.items():
        frame[name] = create(metric).score(frame["reference"].tolist(), frame["candidate"].tolist()).values
    notes = frame.groupby(["case", "group"], sort=False)[["errors", *_METRICS]].mean().reset_index()
    return resample(
        {name: notes[name].to_numpy() for name in _METRICS},
        -notes["errors"].to_numpy(),
        groups=notes["case"].to_numpy(),
        kind="spearman",
        resamples=resamples,
        rng=rng,
    ).intervals()
