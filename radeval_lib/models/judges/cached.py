"""Answers kept under what they answer: an interrupted run loses nothing and pays for nothing twice."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from radeval_lib.models.cache import BlobCache
from radeval_lib.models.judges.base import Judge, Keep, Pair


class CachedJudge:
    """A judge whose answers are kept in a folder, each as soon as it is there.

    An answer is found by the hash of both reports and of the judge's signature, and is stored such that only
    who has the two reports can read it.
    """

    def __init__(self, judge: Judge, folder: str | Path) -> None:
        self._judge = judge
        self._cache = BlobCache(folder, f"judge|{judge.signature}")

    @property
    def signature(self) -> str:
        """That of the judge."""
        return self._judge.signature

    def judge(self, pairs: Sequence[Pair], keep: Keep | None = None) -> list[str]:
        """An analysis of each pair; each distinct pair is asked once ever."""
        texts = [_joined(pair) for pair in pairs]
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        found = self._cache.get(set(keys))
        wanted = {key: place for place, key in enumerate(keys) if key not in found}
        places = sorted(wanted.values())

        def store(position: int, analysis: str) -> None:
            place = places[position]
            value = analysis.encode("utf-8", "surrogatepass")
            self._cache.put({keys[place]: value})
            found[keys[place]] = value

        if places:
            self._judge.judge([pairs[place] for place in places], store)
        answers = [found[key].decode("utf-8", "surrogatepass") for key in keys]
        if keep is not None:
            for place, answer in enumerate(answers):
                keep(place, answer)
        return answers


def _joined(pair: Pair) -> str:
    reference, candidate = pair
    return f"{len(reference)}:{reference}{candidate}"
