"""The judge by rules as it was when it last met RadPref's grades.

What is frozen is behaviour: a digest of the judge's analyses and weighted errors on generated pairs, so that
code may be moved and renamed, and a changed word, rule or weight shows.
"""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import Any

from radeval_lib import atomic, own_yaml
from radeval_lib.errors import RadevalError
from radeval_lib.jobs.green.judging import CHEST
from radeval_lib.rules.generator import error_pairs
from radeval_lib.rules.judge import judge_pair

FREEZE = Path(__file__).with_name("freeze.yml")


def freeze() -> dict[str, Any]:
    """When the judge was frozen (``date``), its ``digest`` then, and how often RadPref was ``scored``."""
    return own_yaml.read(FREEZE)


def require_frozen() -> None:
    """Refuse to score RadPref with a judge that was not frozen first.

    Raises
    ------
    RadevalError
        Where the judge's behaviour is not that of ``freeze.yml``.
    """
    if freeze()["digest"] != (now := behaviour()):
        raise RadevalError(
            "the judge is not frozen", FREEZE.name, f"Write its digest there first, with the date: {now}."
        )


def count_use() -> int:
    """Count in ``freeze.yml`` that RadPref was scored once more; how often that is now.

    Raises
    ------
    RadevalError
        Where the file has no line with nothing but the count.
    """
    times = freeze()["scored"] + 1
    text, found = re.subn(r"(?m)^scored: \d+$", f"scored: {times}", FREEZE.read_text(encoding="utf-8"))
    if found != 1:
        raise RadevalError("the count is not on a line of its own", FREEZE.name, "Write `scored: <number>`.")
    atomic.write_text(FREEZE, text)
    return times


def behaviour() -> str:
    """Return SHA-256 over what the judge says of 300 generated pairs, half of them of the chest."""
    digest = sha256()
    for anatomy in (CHEST, None):
        for pair in error_pairs(150, seed=20240917, modality_anatomy=anatomy):
            judgement = judge_pair(pair.reference.findings.text, pair.candidate.findings.text)
            digest.update(f"{judgement.analysis()}\n{judgement.weighted_errors:.9f}\n".encode())
    return digest.hexdigest()
