"""The rules judge as it was when RadPref was first scored with it, and whether it is the same today.

What is frozen is behaviour: a digest of the judge's analyses and weighted errors on generated pairs, so that
code may be moved and renamed, and a changed word, rule or weight shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import yaml

from radeval_lib.models.judges.rules import judge_pair
from radeval_lib.synthetic import error_pairs

_FILE = Path(__file__).with_name("freeze.yml")
_PAIRS, _SEED = 300, 20240917


@dataclass(frozen=True)
class Freeze:
    """When the judge was frozen, its digest then, and how often RadPref was scored with it since."""

    date: str
    digest: str
    scored: int
    note: str

    @property
    def holds(self) -> bool:
        """Whether the judge behaves today as it did then."""
        return self.digest == behaviour()


@lru_cache(maxsize=1)
def behaviour() -> str:
    """SHA-256 over what the judge says of 300 generated pairs, half of them of the chest."""
    digest = sha256()
    for anatomy in (("X-Ray", "CHEST"), None):
        for pair in error_pairs(_PAIRS // 2, seed=_SEED, modality_anatomy=anatomy):
            judgement = judge_pair(pair.reference.findings.text, pair.candidate.findings.text)
            digest.update(f"{judgement.analysis()}\n{judgement.weighted_errors:.9f}\n".encode())
    return digest.hexdigest()


def freeze() -> Freeze:
    """The record of the freeze, from ``freeze.yml``."""
    return Freeze(**yaml.safe_load(_FILE.read_text(encoding="utf-8")))
