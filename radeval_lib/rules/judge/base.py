"""The interface of every judge, and the prompt for language models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from radeval_lib.categories import GREEN_NAMES, LETTERS
from radeval_lib.errors import RadevalError
from radeval_lib.green_analysis import INSIGNIFICANT, MATCHED, SIGNIFICANT

#: A reference and a candidate.
Pair = tuple[str, str]
#: A function that stores a batch of analyses, a mapping from the position of a pair to its analysis, as soon
#: as they are written, so that a resumed run asks only for pairs without a stored analysis.
Keep = Callable[[Mapping[int, str]], None]

#: The maximum number of words of a report in a prompt, as in the released package.
LONGEST = 300


class JudgeError(RadevalError):
    """A judge that cannot be reached, gives no usable answer, or may not be asked."""


class Judge(Protocol):
    """A judge that compares a candidate report with a reference, and writes an analysis in GREEN's layout.

    ``signature`` names everything on which an analysis depends except the two reports.
    """

    @property
    def signature(self) -> str: ...

    def judge(self, pairs: Sequence[Pair], keep: Keep | None = None) -> list[str]:
        """Return an analysis of each (reference, candidate) pair, in order; pass each batch to ``keep``, if
        given.

        Raises :class:`JudgeError` if the judge gives no usable analysis; some judges raise further errors.
        """
        ...


def store_answers(answers: list[str], keep: Keep | None) -> list[str]:
    """Pass a mapping from position to answer to ``keep``, if given, and return the answers."""
    if keep is not None:
        keep(dict(enumerate(answers)))
    return answers


def write_prompt(reference: str, candidate: str, max_words: int = LONGEST) -> str:
    """Return the prompt for a language model: the task, the kinds of error, both reports, each cut after
    ``max_words`` words, and the layout of the answer.

    The prompt has the same parts as the released one, in other words. A released model is prompted with the
    wording on which it was trained instead (:mod:`radeval_lib.models.language_model_judge`).
    """
    kinds = [f"({letter}) {name}" for letter, name in zip(LETTERS, GREEN_NAMES, strict=True)]
    kind_list, layout = "\n".join(kinds), "\n".join(f"{kind}: <count>. <errors>" for kind in kinds)
    return (
        "Compare a candidate radiology report with a reference report written by a radiologist, and count "
        "its errors and the findings in which both agree.\n\n"
        f"Kinds of error:\n{kind_list}\n\n"
        "An error is clinically significant if it could change what is done for the patient.\n\n"
        f"Reference report:\n{cut_words(reference, max_words)}\n\n"
        f"Candidate report:\n{cut_words(candidate, max_words)}\n\n"
        "Answer in this layout, errors separated by semicolons:\n\n"
        f"[Explanation]:\n<explanation>\n\n[{SIGNIFICANT}]:\n{layout}\n\n[{INSIGNIFICANT}]:\n{layout}\n\n"
        f"[{MATCHED}]:\n<count>. <findings>"
    )


def cut_words(text: str, max_words: int) -> str:
    """Return the first ``max_words`` words of a report, separated by single spaces."""
    return " ".join(text.split()[:max_words])
