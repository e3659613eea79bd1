"""Which checks rest on a sample of cases, so that their result has to name it."""

from __future__ import annotations

import re

from radeval_lib.papers.exhibits import find_level
from radeval_lib.study.checks import Check
from radeval_lib.study.superiority import UNKNOWN, unknown_leads

_INTERVAL = re.compile(r"\[[-+−]?[\d.]+%?, [-+−]?[\d.]+%?\]| ± \d")
_P_VALUE = re.compile(r"\bp [=<] \d")


def rests_on_cases(evidence: str, check: Check) -> bool:
    """Return whether what a check found rests on a sample of cases: an interval of data, a p value, or a lead
    that something printed allows to test. What the rounding of given numbers allows is no such interval."""
    if check.aspect == "lead":
        (unknown,) = unknown_leads([check.printed])
        return UNKNOWN.wording not in check.computed and check.key != unknown.key
    if check.low is not None and check.high is not None:
        return find_level(evidence) == "data" and check.low < check.high
    in_words = find_level(evidence) != "printed" and _INTERVAL.search(check.computed)
    return bool(in_words or _P_VALUE.search(check.computed))
