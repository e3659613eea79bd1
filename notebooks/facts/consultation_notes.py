"""What the page on consultation notes shows: what clinicians listed, and whether they agree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from radeval_lib.data.errors import DataError
from radeval_lib.data.records import NoteJudgement
from radeval_lib.data.restricted import reveal
from radeval_lib.stats.base import Estimate
from radeval_lib.text_format import with_interval

RATIO, COUNTS = "share of errors that are omissions", ["incorrect statements", "omissions"]


def listed(judgements: Sequence[NoteJudgement]) -> pd.DataFrame:
    """Return what each clinician listed in each note.

    Index ``case``, ``group``, ``clinician``; ``candidate`` (str; restricted texts are laid open, so this must
    not be shown); :data:`COUNTS`, ``critical errors``, ``seconds`` (NaN where not known).
    """
    if not judgements:
        raise DataError("no judged notes")
    return pd.DataFrame(
        {
            "case": judged.case,
            "group": judged.group,
            "clinician": judged.rater,
            "candidate": reveal(judged.candidate),
            "incorrect statements": len(judged.incorrect),
            "omissions": len(judged.omissions),
            "critical errors": sum(error.critical for error in (*judged.incorrect, *judged.omissions)),
            "seconds": np.nan if judged.seconds is None else judged.seconds,
        }
        for judged in judgements
    ).set_index(["case", "group", "clinician"])


def by_clinician(lists: pd.DataFrame) -> pd.DataFrame:
    """Mean entries a note, share of notes with a critical one, and seconds; ``lists``: of :func:`listed`."""
    noted = lists.assign(**{"notes with a critical error": (lists["critical errors"] > 0).astype(float)})
    return noted[[*COUNTS, "notes with a critical error", "seconds"]].groupby("clinician").mean()


def note_matrices(lists: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return what :func:`listed` has and ratios of it, for :func:`~notebooks.facts.rater_agreement.alphas`:
    one row per note, one column per clinician; only notes of which all clinicians have a value."""
    errors = lists[COUNTS].sum(axis=1)
    words = lists["candidate"].str.split().str.len().clip(lower=1)
    values = {name: lists[name] for name in (*COUNTS, "critical errors", "seconds")} | {
        "errors by words of the note": errors / words,
        RATIO: lists["omissions"] / errors.where(errors > 0),
    }
    matrices = {name: column.unstack("clinician").dropna() for name, column in values.items()}
    return {name: matrix for name, matrix in matrices.items() if len(matrix)}


def shown(agreed: pd.DataFrame, name: str) -> str:
    """Return an alpha of :func:`~notebooks.facts.rater_agreement.alphas` with its interval, as text."""
    if name not in agreed.index:
        return "not defined, as no note has an error by all of them"
    alpha, low, high = agreed.loc[name, ["alpha", "low", "high"]]
    return with_interval(alpha, low, high, ".2f")


def ratio_against_counts(agreed: pd.DataFrame) -> Estimate:
    """Between what bounds the alpha of the ratio lies above, or below, those of both counts."""
    if RATIO not in agreed.index:
        return Estimate(np.nan, -np.inf, np.inf)
    ratio, counts = agreed.loc[RATIO], agreed.loc[COUNTS]
    low, high = ratio["low"] - counts["high"].max(), ratio["high"] - counts["low"].min()
    return Estimate(ratio["alpha"] - counts["alpha"].mean(), low, high)
