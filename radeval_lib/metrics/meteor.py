"""METEOR of each pair by NLTK (Banerjee and Lavie 2005): words matched exactly, then by stem, then by
synonym."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from radeval_lib.errors import list_names
from radeval_lib.metrics.base import Metric, MetricError, register
from radeval_lib.stats.tokens import porter_stemmer

# "t1", "patient's", "x-ray" and "2.5" are one word each; an underscore is not part of a word.
_WORD = re.compile(r"[^\W_]+(?:[-'.][^\W_]+)*")
_EMPTY_DICTIONARY = SimpleNamespace(synsets=lambda word: [])  # used in place of WordNet if no folder is given
_FORMS = ("data.{}", "index.{}", "{}.exc")
_FILES = [form.format(part) for part in ("noun", "verb", "adj", "adv") for form in _FORMS]


def _open_wordnet(folder: str) -> Any:
    """Return NLTK's reader of the WordNet dictionary in a folder; ``lexnames``, which Debian's package lacks,
    is not needed.

    Raises
    ------
    MetricError
        If a file that the synonyms need is missing.
    """
    if missing := [name for name in _FILES if not (Path(folder) / name).is_file()]:
        problem = f"no file {list_names(missing, 60)} in folder {Path(folder).name!r}"
        raise MetricError(problem, "meteor.wordnet", "Name a complete WordNet folder, or omit the setting.")
    import nltk.data
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class Reader(WordNetCorpusReader):
        def open(self, file: str) -> Any:
            """Return a file of the dictionary opened for reading, or a substitute for a missing
            ``lexnames``."""
            if file == "lexnames" and not (Path(folder) / file).is_file():
                # The file names categories of words, on which no synonym depends.
                return io.StringIO("".join(f"{number:02} {number:02} 0\n" for number in range(45)))
            return super().open(file)

        def map_wn(self, version: str = "wordnet") -> None:
            """Do nothing, because offsets of synsets are not mapped to another version of WordNet."""

    # NLTK opens only files below the folders in this list.
    if folder not in nltk.data.path:
        nltk.data.path.append(folder)
    return Reader(folder, None)


@register
class Meteor(Metric):
    """METEOR with NLTK's constants (alpha 0.9, beta 3, gamma 0.5), from 0 to 1.

    A text without words scores 0. Each score's detail has the keys ``reference words`` and ``candidate
    words``, the number of words in each text.

    Parameters
    ----------
    wordnet : the folder of a WordNet dictionary (``nltk_data/corpora/wordnet``, version 3.0) for the synonym
        step; None skips the step. The signature names the version, or says that synonyms are not used.
    """

    name = "meteor"
    title = "METEOR"
    citation = "banerjee2005meteor"
    variant = "nltk"
    normalises = ("lowercase", "words")

    wordnet: str | None = None

    def __post_init__(self) -> None:
        """Open the dictionary and determine its version if ``wordnet`` names a folder; raise MetricError if a
        file is missing."""
        self._dictionary: Any = _EMPTY_DICTIONARY
        self._synonym_source = "none"
        if self.wordnet is not None:
            self._dictionary = _open_wordnet(self.wordnet)
            self._synonym_source = f"wordnet-{self._dictionary.get_version() or 'unknown'}"

    def settings(self) -> dict[str, Any]:
        """Return the key ``synonyms`` with the dictionary's version, such as ``wordnet-3.0``, or ``none``."""
        return {"synonyms": self._synonym_source}

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterable[tuple[float, Any]]:
        """Yield METEOR and a dictionary with the number of words in each text for each pair."""
        from nltk.translate.meteor_score import single_meteor_score as score

        stemmer = porter_stemmer()
        for reference, candidate in pairs:
            words = [_WORD.findall(text.lower()) for text in (reference, candidate)]
            value = score(*words, stemmer=stemmer, wordnet=self._dictionary) if all(words) else 0.0
            yield float(value), {"reference words": len(words[0]), "candidate words": len(words[1])}
