"""METEOR of each pair by NLTK (Banerjee and Lavie 2005): words matched exactly, then by stem."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from radeval_lib.metrics.base import Metric, register
from radeval_lib.stats.tokens import porter_stemmer

# "t1", "patient's", "x-ray" and "2.5" are one word each; an underscore is none.
_WORD = re.compile(r"[^\W_]+(?:[-'.][^\W_]+)*")


class _NoSynonyms:
    """Substitute for WordNet: no word has a synonym."""

    def synsets(self, word: str) -> list[Any]:
        return []


@register
class Meteor(Metric):
    """METEOR with NLTK's constants (alpha 0.9, beta 3, gamma 0.5) and without its step for synonyms, as
    the scores' signature says."""

    name = "meteor"
    title = "METEOR"
    citation = "banerjee2005meteor"
    variant = "nltk"
    normalises = ("lowercase", "words")

    def settings(self) -> dict[str, Any]:
        return {"synonyms": "none"}

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterable[tuple[float, Any]]:
        from nltk.translate.meteor_score import single_meteor_score

        stemmer = porter_stemmer()
        for reference, candidate in pairs:
            ours, theirs = (_WORD.findall(text.lower()) for text in (reference, candidate))
            value = 0.0
            if ours and theirs:
                value = float(single_meteor_score(ours, theirs, stemmer=stemmer, wordnet=_NoSynonyms()))
            yield value, {"reference words": len(ours), "candidate words": len(theirs)}
