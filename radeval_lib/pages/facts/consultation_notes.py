"""What the page on consultation notes shows: means by clinician, and metrics beside their lists."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from radeval_lib.data.records import NoteJudgement
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics import create
from radeval_lib.stats.correlations import resample
from radeval_lib.wording import joined

_METRICS = {"ROUGE-1": "rouge_1", "ROUGE-L": "rouge_l", "METEOR": "meteor", "BLEU": "bleu"}
_RATIO, _COUNTS = "share of errors that are omissions", ("incorrect statements", "omissions")

told = {
    "synthetic": "The clinicians are simulated: they notice different shares of the errors, and those who "
    "list coarsely join several into one entry. What they agree on is our generator's doing.",
    "open": "The clinicians are people. What they list depends on what they take for one statement, and on "
    "what they take for worth listing.",
}
"""What the agreement rests on, by level of evidence."""


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


def conclusion(agreed: pd.DataFrame, source: str) -> str:
    """The page's first paragraph: counts against the ratio made of them.

    Parameters
    ----------
    agreed : of :func:`radeval_lib.pages.facts.rater_agreement.alphas` on the matrices of
        :func:`~radeval_lib.pages.facts.rater_agreement.note_matrices`.
    """
    counts = joined([f"{_shown(agreed.loc[name])} on {name}" for name in _COUNTS])
    first = f"On notes from {source} the clinicians agree at an alpha of {counts}."
    if _RATIO not in agreed.index:
        return f"{first} No note has an error by all of them, so that no share of errors can be compared."
    ratio = agreed.loc[_RATIO]
    best = agreed.loc[list(_COUNTS)]
    word = (
        "better than on either count"
        if ratio["low"] > best["high"].max()
        else "worse than on either count"
        if ratio["high"] < best["low"].min()
        else "neither clearly better nor clearly worse than on the counts"
    )
    return f"{first} On the share of errors that are omissions they agree at {_shown(ratio)}, {word}."


def _shown(row: pd.Series) -> str:
    return f"{row['alpha']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"


def metric_correlations(
    judgements: Sequence[NoteJudgement], *, resamples: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Spearman correlation of metrics with the negative mean number of entries a note.

    A note's score is its mean over the clinicians' own notes, each taken as the reference; intervals draw
    whole consultations.

    Returns
    -------
    DataFrame
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
