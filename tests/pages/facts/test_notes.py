"""What clinicians list in notes, and ratios of it."""

from __future__ import annotations

from notebooks.facts import rater_agreement
from radeval_lib.data.records import NoteError, NoteJudgement


def _note(case: str, rater: str, incorrect: int, omitted: int, seconds: float | None = 10.0) -> NoteJudgement:
    wrong = tuple(NoteError("w", True) for _ in range(incorrect))
    left = tuple(NoteError("o", False) for _ in range(omitted))
    return NoteJudgement(case, "m", rater, "own note", "a note of five words", wrong, left, seconds)


def test_note_matrices_by_hand() -> None:
    lists = rater_agreement.tabulate_note_errors(
        [_note("1", "x", 2, 0), _note("1", "y", 1, 1), _note("2", "x", 0, 0, None), _note("2", "y", 0, 2)]
    )
    matrices = rater_agreement.make_note_matrices(lists)
    assert matrices["incorrect statements"].to_numpy().tolist() == [[2, 1], [0, 0]]
    assert matrices["critical errors"].to_numpy().tolist() == [[2, 1], [0, 0]]
    assert matrices["errors by words of the note"].to_numpy().tolist() == [[0.4, 0.4], [0.0, 0.4]]
    assert matrices["share of errors that are omissions"].to_numpy().tolist() == [[0.0, 0.5]]
    assert len(matrices["seconds"]) == 1
    assert matrices["omissions"].index.get_level_values("case").tolist() == ["1", "2"]
