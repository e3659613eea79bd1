"""How a class is graded: what its submissions may take, and which of them count."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class SubmissionLimits:
    """What a submission may take: seconds of processor time for a cell or a call, bytes of memory; and how
    many are graded at once, 0: one per core."""

    seconds: int
    memory: int
    jobs: int = 0


@dataclass(frozen=True)
class GradingRules:
    """How a class is graded.

    Parameters
    ----------
    lab : name or number of the lab of submissions that do not tell theirs; empty if all must.
    trusted : let submissions run without isolation.
    accepted : versions of labs, other than today's, whose notebooks are graded all the same.
    deadline : of a student's submissions the latest until then counts; without one, the latest.
    """

    limits: SubmissionLimits
    lab: str = ""
    trusted: bool = False
    accepted: Collection[str] = ()
    deadline: datetime | None = None
