"""From the pieces that a model writes back to text as a report has it."""

from __future__ import annotations

import re

_INNER = re.compile(r"(?<=\w) ?([-/]) ?(?=\w)")
_DECIMAL = re.compile(r"(?<=\d)\s*\.\s+(?=\d)")
_BEFORE = re.compile(r"\s+([.,;:!?%)\]])")
_AFTER = re.compile(r"([(\[])\s+")
_START = re.compile(r"(^|[.!?]\s+)([a-z])")


def sentence_case(text: str) -> str:
    """Lower-case words with spaces round every sign as sentences: signs joined, sentences capitalized.

    >>> sentence_case("no acute intra - abdominal process . 1 . 5 cm cyst .")
    'No acute intra-abdominal process. 1.5 cm cyst.'
    """
    joined = _DECIMAL.sub(".", _INNER.sub(r"\1", text))
    joined = _AFTER.sub(r"\1", _BEFORE.sub(r"\1", joined)).strip()
    return _START.sub(lambda found: found.group(1) + found.group(2).upper(), joined)
