"""References as R2Gen prepares them for its scores: ``modules/tokenizers.py`` and ``modules/datasets.py`` of
github.com/zhjohnchan/R2Gen at commit e8cd3cf.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_MOST, _RARE = 59, 3  # words that are kept of a reference; a word of fewer occurrences becomes <unk>
_REPLACED = (
    *[("..", ".")] * 3,
    ("1. ", ""),
    *((f". {number}. ", ". ") for number in range(2, 6)),
    *((f" {number}. ", ". ") for number in range(2, 6)),
)
_SIGNS = re.compile(r"[\"/\\'.,?;*!%^&_+():<=>@\[\]{}]")  # that R2Gen takes out of a sentence
_SPACES = re.compile(r"\s+")


def cleaned(text: str) -> str:
    """A report as ``clean_report_iu_xray`` has it: lower case, without numbering and without signs within
    sentences but for hyphens, full stops apart."""
    for old, new in _REPLACED:
        text = text.replace(old, new)
    sentences = (_SIGNS.sub("", sentence.strip()) for sentence in text.strip().lower().split(". "))
    return _SPACES.sub(" ", " . ".join(sentences) + " .")


def cut(references: Sequence[str]) -> list[str]:
    """Cleaned references as R2Gen decodes them: 59 words, and ``unk`` for a word that is there fewer than
    three times.

    The 60 tokens of R2Gen's ``max_seq_length`` begin with one that marks the start, which is not decoded. It
    counts rare words in its training reports; here they are counted in the references themselves.
    """
    rows = [cleaned(text).split() for text in references]
    counts = Counter(word for row in rows for word in row)
    known = {word for word, count in counts.items() if count >= _RARE}
    return [" ".join(word if word in known else "unk" for word in row[:_MOST]) for row in rows]
