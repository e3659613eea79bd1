"""Sentences, words and phrases as the reader sees them: lower case, singular, masks kept apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Generic, NamedTuple, TypeVar

MASK = "xxxx"
"""The word that stands for any mark of de-identification (XXXX, ___, ____)."""

_TOKEN = re.compile(r"\d+(?:\.\d+)?(?=[^\w.]|\.\D|\.?$|mm|cm|x)|[a-z0-9]+|_{2,}|[,:/()\[\]&+;]")
_MASKED = re.compile(r"x{3,}|_{2,}")
# Where a sentence ends. No rule asks whether white space is a blank or a line break, so that a text reads the
# same however its lines are wrapped; an empty line alone is told apart.
_END = re.compile(
    r"(?i:(?<!\bdr)(?<!\bvs)(?<!\be\.g)(?<!\bi\.e)(?<!\bapprox)[.!?]+(?=\s|$|[a-z]{2}))"
    r"|(?<=\d)\.(?=[a-zA-Z])|[;•]|\n\s*\n"
    # before "2)" of a list, and before the heading of the next section
    r"|(?P<number>\s)(?=\d{1,2}\)\s)"
    r"|\s(?=[CEFHIRT])(?<!(?i:clinical)\s)(?=(?i:findings?|impressions?|conclusions?|indications?|technique"
    r"|comparisons?|(?:clinical\s)?(?:history|information)|exam(?:ination)?|recommendations?)\s?:)"
)
# A line that begins with a dash may be wrapped at a dash; two or more are a list.
_ITEM = re.compile(r"^[^\S\n]*[-*–]", re.MULTILINE)
_END_OF_ITEMS = re.compile(rf"{_END.pattern}|\n(?=\s*[-*–])")
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
    """Start and text of every sentence.

    A line break alone ends none, because reports come with their lines wrapped: it takes a full stop, an
    empty line, the mark of an item or the heading of a section.
    """
    listed = "\n" in text and len(_ITEM.findall(text)) > 1
    start = 0
    for end in (_END_OF_ITEMS if listed else _END).finditer(text):
        piece = text[start : end.start()]
        if end["number"] and piece.count("(") > piece.count(")"):  # "(series 4, image 22)" is no list
            continue
        if piece.strip():
            yield start, piece
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


V = TypeVar("V")


class PhraseMatch(NamedTuple, Generic[V]):
    """A phrase found: its first word, the word behind its last one, and what it stands for."""

    first: int
    end: int
    value: V


class Phrases(Generic[V]):
    """A set of phrases with a value each; a phrase added twice keeps the value that it had first."""

    def __init__(self, entries: Iterable[tuple[str, V]] = ()) -> None:
        self._known: dict[tuple[str, ...], V] = {}
        self._lengths: dict[str, list[int]] = {}
        for text, value in entries:
            self.add(text, value)

    def add(self, text: str, value: V) -> V:
        """Add a phrase as the reader would see it in a text; returns the value that it now has."""
        words = tuple(token.word for token in tokens(text))
        if words not in self._known:
            self._known[words] = value
            lengths = self._lengths.setdefault(words[0], [])
            if len(words) not in lengths:
                lengths.append(len(words))
                lengths.sort(reverse=True)
        return self._known[words]

    def get(self, words: Iterable[str]) -> V | None:
        """The value of a phrase given by its words, or None."""
        return self._known.get(tuple(words))

    def find(self, sentence: Sequence[Token], taken: Sequence[bool] | None = None) -> list[PhraseMatch[V]]:
        """The phrases of a sentence from left to right, none overlapping another or a word that is taken."""
        words = [token.word for token in sentence]
        found: list[PhraseMatch[V]] = []
        at, size = 0, len(words)
        while at < size:
            for length in self._lengths.get(words[at], ()):
                key = tuple(words[at : at + length])
                if len(key) == length and key in self._known and not (taken and any(taken[at : at + length])):
                    found.append(PhraseMatch(at, at + length, self._known[key]))
                    at += length
                    break
            else:
                at += 1
        return found
