"""Sentences and words as the reader sees them: lower case, singular, spelling mended, masks kept apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

MASK = "xxxx"
"""The word that stands for any mark of de-identification (XXXX, ___, ____)."""

_TOKEN = re.compile(r"\d+(?:\.\d+)?(?=[^\w.]|\.\D|\.?$|mm|cm|x)|[a-z0-9]+|_{2,}|[,:/()\[\]&+;]")
_MASKED = re.compile(r"x{3,}|_{2,}")
# A period ends a sentence before white space and a capital, or at the end; so do line breaks and semicolons.
_END = re.compile(
    r"(?<!\bdr)(?<!\bvs)(?<!\be\.g)(?<!\bi\.e)(?<!\bapprox)[.!?]+(?=\s|$|[A-Z][a-z])"
    r"|(?<=\d)\.(?=[a-zA-Z])|\n\s*\n|\n(?=\s*(?:[-*\d•]|[A-Z]))|;",
    re.IGNORECASE,
)
_IRREGULAR = {
    "apices": "apex", "hila": "hilum", "axillae": "axilla", "bullae": "bulla", "foci": "focus",
    "pneumothoraces": "pneumothorax", "metastases": "metastasis", "diagnoses": "diagnosis",
    "thrombi": "thrombus", "emboli": "embolus", "vertebrae": "vertebra", "sulci": "sulcus",
    "bronchi": "bronchus", "diverticula": "diverticulum", "atelectases": "atelectasis", "xray": "radiograph",
    "pleurae": "pleura", "chf": "chf", "oedema": "edema", "tumour": "tumor", "oesophagus": "esophagus",
    "haemorrhage": "hemorrhage", "grey": "gray",
}  # fmt: skip


class Token(NamedTuple):
    """A word in its reading form, and where it stands in the text."""

    word: str
    start: int
    end: int


@lru_cache(maxsize=65536)
def singular(word: str) -> str:
    """The form under which the vocabulary knows a word; the same function reads the vocabulary itself."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1]


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Start and text of every sentence."""
    start = 0
    for end in _END.finditer(text):
        if text[start : end.start()].strip():
            yield start, text[start : end.start()]
        start = end.end()
    if text[start:].strip():
        yield start, text[start:]


def tokens(sentence: str) -> list[Token]:
    """The words and separators of a sentence; hyphens and apostrophes part words and are dropped."""
    found = []
    for match in _TOKEN.finditer(sentence.lower()):
        word = match.group()
        word = MASK if _MASKED.fullmatch(word) else singular(word)
        found.append(Token(word, match.start(), match.end()))
    return found
