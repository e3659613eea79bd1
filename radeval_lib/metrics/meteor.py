"""METEOR of each pair by NLTK (Banerjee and Lavie 2005): words matched exactly, then by stem, then by
synonym."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from radeval_lib.metrics.base import Metric, MetricError, register
from radeval_lib.stats.tokens import porter_stemmer

# "t1", "patient's", "x-ray" and "2.5" are one word each; an underscore is none.
_WORD = re.compile(r"[^\W_]+(?:[-'.][^\W_]+)*")
_NO_SYNONYMS = SimpleNamespace(synsets=lambda word: [])  # replaces WordNet if none is given


def _wordnet(folder: str) -> Any:
    """Return NLTK's reader of a WordNet 3.0 dictionary, also of one without ``lexnames``, as Debian packages
    it."""
    import nltk.data
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class Reader(WordNetCorpusReader):
        def open(self, file: str) -> Any:
            if file == "lexnames" and not (Path(folder) / file).is_file():
                # Names of the lexicographers' files, which no synonym depends on.
                return io.StringIO("".join(f"{number:02} {number:02} 0\n" for number in range(45)))
            return super().open(file)

        def map_wn(self, version: str = "wordnet") -> None:
            """Do nothing: no other version is mapped to."""

    # NLTK opens only files below its data folders.
    if folder not in nltk.data.path:
        nltk.data.path.append(folder)
    return Reader(folder, None)


@register
class Meteor(Metric):
    """METEOR with NLTK's constants (alpha 0.9, beta 3, gamma 0.5).

    Parameters
    ----------
    wordnet : folder of the WordNet 3.0 dictionary (``nltk_data/corpora/wordnet``) for the synonym step;
        None skips the step, which the scores' signature then says.
    """

    name = "meteor"
    title = "METEOR"
    citation = "banerjee2005meteor"
    variant = "nltk"
    normalises = ("lowercase", "words")

    wordnet: str | None = None

    def __post_init__(self) -> None:
        self._synonyms: Any = _NO_SYNONYMS
        if self.wordnet is not None:
            if not (Path(self.wordnet) / "data.noun").is_file():
                remedy = "Give the folder that has data.noun, or leave it out."
                raise MetricError("no WordNet dictionary in that folder", "meteor.wordnet", remedy)
            self._synonyms = _wordnet(self.wordnet)

    def settings(self) -> dict[str, Any]:
        return {"synonyms": "wordnet" if self.wordnet else "none"}

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterable[tuple[float, Any]]:
        from nltk.translate.meteor_score import single_meteor_score

        stemmer = porter_stemmer()
        for reference, candidate in pairs:
            ours, theirs = (_WORD.findall(text.lower()) for text in (reference, candidate))
            value = 0.0
            if ours and theirs:
                value = float(single_meteor_score(ours, theirs, stemmer=stemmer, wordnet=self._synonyms))
            yield value, {"reference words": len(ours), "candidate words": len(theirs)}
