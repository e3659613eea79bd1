"""Measurements in a sentence: "8 mm", "2.3 x 1.8 cm"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from radeval_lib.rules.reader.phrases import PhraseMatch
from radeval_lib.rules.report_text import Token

_SIZE = re.compile(r"\d+(?:\.\d+)?")
_UNITS = {
    "mm": 1.0, "millimeter": 1.0, "millimetre": 1.0, "cm": 10.0, "centimeter": 10.0, "centimetre": 10.0
}  # fmt: skip
_WITHIN = frozenset(["x", "by", *_UNITS])  # what may stand between the numbers of a measurement


def sizes(words: Sequence[Token]) -> list[PhraseMatch[tuple[float, ...]]]:
    """Measurements in millimetres: "8 mm", "2.3 x 1.8 cm", "8 mm by 1.2 cm"; a number without a unit has that
    of the next one."""
    found: list[PhraseMatch[tuple[float, ...]]] = []
    for at, token in enumerate(words):
        if token.word not in _UNITS:
            continue
        numbers, unit, place = [], _UNITS[token.word], at - 1
        while place >= 0 and (words[place].word in _WITHIN or _SIZE.fullmatch(words[place].word)):
            unit = _UNITS.get(words[place].word, unit)
            if _SIZE.fullmatch(words[place].word):
                numbers.append(float(words[place].word) * unit)
            place -= 1
        if numbers:
            found.append(PhraseMatch(place + 1, at + 1, tuple(reversed(numbers))))
    return found
