"""What every summarizer is, and what all of them need: sentences, ROUGE-L, and sentence case."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import ModelError
from radeval_lib.stats import tokens

# A piece that ends with the number of an item: "1." of "1. Clear lungs", "FINDINGS: 2)".
_NUMBERED = re.compile(r"(^|\s)\d{1,2}[.)]$")
# Between sentences: the blanks behind a full stop (and a quote or bracket), or an empty line.
_END = re.compile(r"(?<=[.!?;])[\"')\]]*\s+|\s*\n\s*\n\s*")
# A piece that ends with a full stop within a sentence: "seen by Dr.".
_ABBREVIATED = re.compile(r"\b(?:dr|mr|mrs|ms|vs|no|approx|e\.g|i\.e)\.$", re.IGNORECASE)


class Summarizer(Protocol):
    """Writes the impression of each findings section."""

    def summarize(self, findings: Sequence[str]) -> list[str]:
        """Return one impression a text, in order; equal texts get equal impressions.

        Raises
        ------
        ModelError
            If a text is empty, naming its position.
        """
        ...


def checked(findings: Sequence[str], name: str) -> list[str]:
    """Return the texts as a list; a :class:`ModelError`, which names ``name``, where one is empty or is no
    text."""
    if isinstance(findings, str):
        raise ModelError("a text where a list of texts is wanted", name, "Put it in brackets: [text].")
    for position, text in enumerate(findings):
        if not isinstance(text, str) or not text.strip():
            wrong = f"the findings at position {position} are empty, or no text"
            raise ModelError(wrong, name, "Leave reports without findings out.")
    return list(findings)


def sentences(text: str) -> list[str]:
    """Return the sentences of a section, each on one line, in order; at least one where the text is not
    empty.

    An empty line ends a sentence; a line break, the number of a list ("1.") and a few abbreviations do not.
    """
    pieces: list[str] = []
    for piece in map(tokens.one_line, _END.split(text)):
        if not piece:
            continue
        if pieces and (_NUMBERED.search(pieces[-1]) or _ABBREVIATED.search(pieces[-1])):
            pieces[-1] = f"{pieces[-1]} {piece}"
        else:
            pieces.append(piece)
    return pieces


def rouge_l(references: Sequence[str], candidates: Sequence[str]) -> NDArray[np.float64]:
    """Return ROUGE-L F1 of each pair by ``rouge_score`` with stemming, shape (n,), as the metric
    ``rouge_l``."""
    words = tokens.RougeTokenizer().tokenize
    pairs = zip(references, candidates, strict=True)
    return np.array([tokens.rouge_l(words(ref), words(cand)) for ref, cand in pairs], dtype=np.float64)


def mean_rouge_l(records: Sequence[ReportPair], written: Sequence[str]) -> dict[str, float]:
    """Return ``rouge_l``: the mean of :func:`rouge_l` over records and what was written; 0 where none is."""
    found = rouge_l([reveal(record.impression) for record in records], written)
    return {"rouge_l": float(found.mean()) if len(found) else 0.0}


# "intra - abdominal", "and / or": signs within a word.
_INNER = re.compile(r"(?<=\w) ?([-/]) ?(?=\w)")
# "1 . 5": a decimal point.
_DECIMAL = re.compile(r"(?<=\d)\s*\.\s+(?=\d)")
# "clear .": signs that have no blank before them.
_BEFORE = re.compile(r"\s+([.,;:!?%)\]])")
# "( left": signs that have none behind.
_AFTER = re.compile(r"([(\[])\s+")
# The first letter of the text, and of what follows a full stop.
_START = re.compile(r"(^|[.!?]\s+)([a-z])")


def sentence_case(text: str) -> str:
    """Return lower-case words with spaces round every sign as sentences: signs joined, sentences capitalized.

    >>> sentence_case("no acute intra - abdominal process . 1 . 5 cm cyst .")
    'No acute intra-abdominal process. 1.5 cm cyst.'
    """
    joined = _DECIMAL.sub(".", _INNER.sub(r"\1", text))
    joined = _AFTER.sub(r"\1", _BEFORE.sub(r"\1", joined)).strip()
    return _START.sub(lambda found: found.group(1) + found.group(2).upper(), joined)
