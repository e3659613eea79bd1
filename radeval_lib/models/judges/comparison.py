"""Judges to compare with: silent, without radiology, learned from another, and one that knows the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from radeval_lib.data import green_analysis
from radeval_lib.data.categories import LETTERS
from radeval_lib.data.green_analysis import INSIGNIFICANT, MATCHED, SIGNIFICANT
from radeval_lib.models.judges.base import JudgeError, Keep, Pair, handed
from radeval_lib.stats.tokens import one_line
from radeval_lib.synthetic import ErrorPair, SyntheticPair, green_answer

ALIKE = 0.5
"""From this share of common words on, two sentences are taken to say the same."""

_END = re.compile(r"(?<=[.!?])\s+")
_WORD = re.compile(r"[a-z]+|\d+(?:\.\d+)?")
_IN_REFERENCE = "bf"  # categories of what the candidate leaves out
_MOST = 4  # of one kind in one sentence


class SilentJudge:
    """Says of every pair that there is no error and nothing that matches."""

    signature = "silence"

    def judge(self, pairs: Sequence[Pair], keep: Keep | None = None) -> list[str]:
        """The same analysis for each pair."""
        nothing = [[] for _ in LETTERS]  # type: list[list[str]]
        return handed([green_analysis.render(nothing, nothing, []) for _ in pairs], keep)


class SentenceJudge:
    """Calls a sentence of the candidate false that no sentence of the reference is like, and a sentence of
    the reference missing that no sentence of the candidate is like; all errors are significant.

    It knows words, but not what they mean: a judge without any training in radiology.
    """

    signature = f"sentences|{ALIKE}"

    def judge(self, pairs: Sequence[Pair], keep: Keep | None = None) -> list[str]:
        """An analysis of each (reference, candidate), in GREEN's layout."""
        return handed([self._one(*pair) for pair in pairs], keep)

    def _one(self, reference: str, candidate: str) -> str:
        found: dict[str, list[str]] = {letter: [] for letter in LETTERS}
        matched = []
        for said, others, letter in ((candidate, reference, "a"), (reference, candidate, "b")):
            for sentence in sentences(said):
                if likeness(sentence, sentences(others))[0] < ALIKE:
                    found[letter].append(_plain(sentence))
                elif letter == "a":
                    matched.append(_plain(sentence))
        return green_analysis.render(list(found.values()), [[] for _ in LETTERS], matched)


class LearnedJudge:
    """Learns from analyses, sentence by sentence, which errors and matches a sentence stands for.

    Each error and match that an analysis names is given to the sentence that shares most words with it. For
    each kind of error a logistic regression learns from a sentence's words and from those that the likest
    sentence of the other report has more or less; how many findings match, a classifier with a class for each
    number. An error is named by its sentence.
    """

    def __init__(self, pairs: Sequence[Pair], analyses: Sequence[str], name: str = "learned") -> None:
        from sklearn.feature_extraction import DictVectorizer
        from sklearn.linear_model import LogisticRegression

        if not pairs or len(pairs) != len(analyses):
            raise JudgeError(f"{len(pairs)} pairs and {len(analyses)} analyses to learn from", name)
        self.signature = f"{name}|{len(pairs)}"
        rows, gold = [], []
        for pair, analysis in zip(pairs, analyses, strict=True):
            own = list(_rows(*pair))
            rows += [features for _, features in own]
            gold += _assigned(pair, analysis)
        self._vectorizer = DictVectorizer()
        matrix = self._vectorizer.fit_transform(rows)
        self._models: dict[str, Any] = {}
        self._always: dict[str, int] = {}
        for kind in _KINDS:
            counts = [min(one.get(kind, 0), _MOST if kind == MATCHED else 1) for one in gold]
            if len(set(counts)) == 1:
                self._always[kind] = counts[0]
            else:
                self._models[kind] = LogisticRegression(C=3.0, max_iter=200).fit(matrix, counts)

    def judge(self, pairs: Sequence[Pair], keep: Keep | None = None) -> list[str]:
        """An analysis of each (reference, candidate), in GREEN's layout."""
        return handed([self._one(pair) for pair in pairs], keep)

    def _one(self, pair: Pair) -> str:
        rows = list(_rows(*pair))
        found: dict[str, list[str]] = {kind: [] for kind in _KINDS}
        if rows:
            matrix = self._vectorizer.transform([features for _, features in rows])
            for kind in _KINDS:
                model = self._models.get(kind)
                counts = model.predict(matrix) if model is not None else [self._always[kind]] * len(rows)
                for (sentence, _), count in zip(rows, counts, strict=True):
                    found[kind] += [_plain(sentence)] * int(count)
        significant, insignificant = (
            [found[f"{section} {letter}"] for letter in LETTERS] for section in (SIGNIFICANT, INSIGNIFICANT)
        )
        return green_analysis.render(significant, insignificant, found[MATCHED])


_KINDS = (*(f"{section} {letter}" for section in (SIGNIFICANT, INSIGNIFICANT) for letter in LETTERS), MATCHED)


def sentences(text: str) -> list[str]:
    """The sentences of a report, by their full stops."""
    return [part.strip() for part in _END.split(text) if part.strip()]


def likeness(sentence: str, others: Sequence[str]) -> tuple[float, str]:
    """Words shared by words in either (Jaccard) with the likest of the others, and that sentence; 0 and an
    empty text where there is none."""
    ours = _words(sentence)
    best, which = 0.0, ""
    for other in others:
        theirs = _words(other)
        share = len(ours & theirs) / max(1, len(ours | theirs))
        if share > best:
            best, which = share, other
    return best, which


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _plain(sentence: str) -> str:
    return one_line(sentence).rstrip(".").replace(";", ",").replace(":", ",")


def _rows(reference: str, candidate: str) -> Iterator[tuple[str, Mapping[str, float]]]:
    """Each sentence of both reports with its features."""
    for side, own, other in (("r", reference, candidate), ("c", candidate, reference)):
        others, all_words = sentences(other), _words(other)
        for sentence in sentences(own):
            share, likest = likeness(sentence, others)
            ours, theirs = _words(sentence), _words(likest)
            features = {f"{side} {word}": 1.0 for word in ours}
            features |= {f"{side} only {word}": 1.0 for word in ours - theirs}
            features |= {f"{side} nowhere {word}": 1.0 for word in ours - all_words}
            features |= {f"{side} lacks {word}": 1.0 for word in theirs - ours}
            features |= {f"{side} like {int(10 * share)}": 1.0, f"{side}": 1.0}
            yield sentence, features


def _assigned(pair: Pair, analysis: str) -> list[dict[str, int]]:
    """Of each sentence, in the order of :func:`_rows`, how many of each kind the analysis names of it."""
    reference, candidate = (sentences(text) for text in pair)
    counts: list[dict[str, int]] = [{} for _ in (*reference, *candidate)]
    for section, letter, said in green_analysis.entries(analysis):
        kind = f"{section} {letter}" if letter else section
        offset, own = (0, reference) if letter and letter in _IN_REFERENCE else (len(reference), candidate)
        if own:
            words = _words(said)
            shared = [len(words & _words(sentence)) for sentence in own]
            place = offset + shared.index(max(shared))
            counts[place][kind] = counts[place].get(kind, 0) + 1
    return counts


class Oracle:
    """Answers for generated pairs alone, as a judge would who makes no mistake.

    Parameters
    ----------
    known : the pairs that it can be asked about; their findings sections are what it recognises.
    """

    signature = "oracle"

    def __init__(self, known: Iterable[ErrorPair | SyntheticPair]) -> None:
        self._answers = {
            (pair.reference.findings.text, pair.candidate.findings.text): green_answer(
                pair.reference, pair.candidate, pair.comparison
            )
            for pair in known
        }

    def judge(self, pairs: Sequence[Pair], keep: Keep | None = None) -> list[str]:
        """The planted errors of each pair, in GREEN's layout.

        Raises
        ------
        JudgeError
            For a pair that was not given to the constructor.
        """
        for place, pair in enumerate(pairs):
            if pair not in self._answers:
                raise JudgeError(
                    f"pair {place} is none that it was told of", "oracle", "Give it to Oracle(...)."
                )
        return handed([self._answers[pair] for pair in pairs], keep)
