"""The judge that knows the answer: it looks the generator's planted errors up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from radeval_lib.models.judges.base import JudgeError, Keep, Pair
from radeval_lib.synthetic import ErrorPair, SyntheticPair, green_answer


class Oracle:
    """Answers for generated pairs alone, as a judge would who makes no mistake.

    Parameters
    ----------
    known : the pairs that it can be asked about; their findings sections are what it recognises.
    """

    signature = "oracle"

    def __init__(self, known: Iterable[ErrorPair | SyntheticPair]) -> None:
        self._answers = {
            (pair.reference.findings.text, pair.candidate.findings.text): green_answer(
                pair.reference, pair.candidate, pair.comparison
            )
            for pair in known
        }

    def judge(self, pairs: Sequence[Pair], keep: Keep | None = None) -> list[str]:
        """The planted errors of each pair, in GREEN's layout.

        Raises
        ------
        JudgeError
            For a pair that was not given to the constructor.
        """
        answers = []
        for place, pair in enumerate(pairs):
            if pair not in self._answers:
                raise JudgeError(
                    f"pair {place} is none that it was told of", "oracle", "Give it to Oracle(...)."
                )
            answers.append(self._answers[pair])
            if keep is not None:
                keep(place, answers[-1])
        return answers
