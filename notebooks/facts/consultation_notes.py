"""What the page on consultation notes shows: what clinicians listed, and whether they agree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from radeval_lib.data.records import NoteJudgement
from radeval_lib.data.restricted import reveal

RATIO, COUNTS = "share of errors that are omissions", ["incorrect statements", "omissions"]


def listed(judgements: Sequence[NoteJudgement]) -> pd.DataFrame:
    """Return what each clinician listed in each note.

    Index ``case``, ``group``, ``clinician``; ``candidate`` (str; restricted texts are laid open, so this must
    not be shown); :data:`COUNTS`, ``critical errors``, ``seconds`` (NaN if not known).
    """
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
