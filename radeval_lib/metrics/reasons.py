"""The reasons behind the score of a pair, one at a time, and where both texts say it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from radeval_lib.rules.report_text.words import Span

Kind = Literal["error", "matched", "unmatched"]

HALF = 0.5
"""An entity that keeps at least this share of its weight is reported as matched by a metric of degrees."""


class Reason(NamedTuple):
    """One thing that moves a score.

    Attributes
    ----------
    kind : ``error``: named by a judge; ``matched``: both texts say it; ``unmatched``: one of them says it.
    category : of errors, one of GREEN's six (:data:`~radeval_lib.categories.CATEGORIES`) if it has one; of
        entities, the type.
    finding, says : what it is about, and what is wrong with it, in our words; empty if only the text has
        words for it.
    quoted : what may be words of the texts: what a language model says, the target of a relation.
    rule : why it counts, and how much it matters.
    significant : of errors, whether clinically so.
    weight : of errors by rules, what it adds to the sum of weighted errors.
    credit : of entities, the share of their weight that they keep, mostly from 0 to 1.
    reference, candidate : characters of either text, end exclusive; None if a text lacks it, or the metric
        does not know where.
    """

    kind: Kind
    category: str
    finding: str = ""
    says: str = ""
    quoted: str = ""
    rule: str = ""
    significant: bool | None = None
    weight: float | None = None
    credit: float | None = None
    reference: Span | None = None
    candidate: Span | None = None


def places(text: str) -> list[int]:
    """Return the positions of a text's characters that are not white space."""
    return [at for at, sign in enumerate(text) if not sign.isspace()]


class Finder:
    """Finds words in a text one after another, ignoring white space and capitals."""

    def __init__(self, text: str) -> None:
        self._text, self._end = text, 0

    def __call__(self, words: str) -> Span | None:
        """Return the position of the words after the previous match, else anywhere; None if they do not
        occur."""
        if not (signs := "".join(words.split())):
            return None
        pattern = r"\s*".join(map(re.escape, signs))
        before = r"(?<![^\W_])" if signs[0].isalnum() else ""  # not within a word
        behind = r"(?![^\W_])" if signs[-1].isalnum() else ""
        search = re.compile(f"{before}{pattern}{behind}", re.IGNORECASE).search
        if match := search(self._text, self._end) or search(self._text):
            self._end = match.end()
        return match and match.span()
