"""The page on consultation notes: the ratio against the counts, and its tables."""

from __future__ import annotations

import pandas as pd
import pytest

from notebooks.facts import consultation_notes
from radeval_lib.data.records import NoteError, NoteJudgement
from radeval_lib.study.checks import above

RATIO = "share of errors that are omissions"


def _agreed(ratio: tuple[float, float, float] | None) -> pd.DataFrame:
    rows = {"incorrect statements": (0.4, 0.3, 0.5), "omissions": (0.6, 0.5, 0.7)}
    if ratio:
        rows[RATIO] = ratio
    return pd.DataFrame.from_dict(rows, orient="index", columns=["alpha", "low", "high"])


@pytest.mark.parametrize(
    ("ratio", "decided"),
    [((0.9, 0.8, 0.95), True), ((0.1, 0.0, 0.2), False), ((0.55, 0.4, 0.8), None), (None, None)],
)
def test_ratio_against_both_counts(ratio: tuple[float, float, float] | None, decided: bool | None) -> None:
    found = consultation_notes.ratio_against_counts(_agreed(ratio))
    assert above(found.low, found.high) is decided
    assert consultation_notes.shown(_agreed(ratio), "omissions") == "0.60 [0.50, 0.70]"
    assert ratio or consultation_notes.shown(_agreed(ratio), RATIO).startswith("not defined")


def test_means_by_clinician() -> None:
    lists = consultation_notes.listed([_note("1", "a", 2, 0), _note("2", "a", 0, 1), _note("1", "b", 0, 0)])
    means = consultation_notes.by_clinician(lists)
    assert means.index.tolist() == ["a", "b"]
    assert means["notes with a critical error"].tolist() == [0.5, 0.0]


def _note(case: str, rater: str, incorrect: int, omitted: int, seconds: float | None = 10.0) -> NoteJudgement:
    wrong = tuple(NoteError("w", True) for _ in range(incorrect))
    left = tuple(NoteError("o", False) for _ in range(omitted))
    return NoteJudgement(case, "m", rater, "own note", "a note of five words", "edited", wrong, left, seconds)


def test_note_matrices_by_hand() -> None:
    lists = consultation_notes.listed(
        [_note("1", "x", 2, 0), _note("1", "y", 1, 1), _note("2", "x", 0, 0, None), _note("2", "y", 0, 2)]
    )
    matrices = consultation_notes.note_matrices(lists)
    assert matrices["incorrect statements"].to_numpy().tolist() == [[2, 1], [0, 0]]
    assert matrices["critical errors"].to_numpy().tolist() == [[2, 1], [0, 0]]
    assert matrices["errors by words of the note"].to_numpy().tolist() == [[0.4, 0.4], [0.0, 0.4]]
    assert matrices["share of errors that are omissions"].to_numpy().tolist() == [[0.0, 0.5]]
    assert len(matrices["seconds"]) == 1
    assert matrices["omissions"].index.get_level_values("case").tolist() == ["1", "2"]
