"""Opening the judge that fills the role."""

from __future__ import annotations

from pathlib import Path

from radeval_lib.models.judges.base import Judge
from radeval_lib.models.judges.cached import CachedJudge
from radeval_lib.models.loading import ADDRESSES, RULES


def open_judge(name: str, *, cache: str | Path | None = None, device: str = "auto", model: str = "") -> Judge:
    """The judge of that name."""
    if name == RULES:
        from radeval_lib.models.judges.rules import RulesJudge

        return RulesJudge()
    judge: Judge
    if name.startswith(ADDRESSES):
        from radeval_lib.models.judges.endpoint import EndpointJudge

        address, _, there = name.partition("#")
        judge = EndpointJudge(address, model or there)
    else:
        from radeval_lib.models.judges.causal_lm import CausalJudge

        judge = CausalJudge(name, device=device)
    return CachedJudge(judge, cache) if cache is not None else judge
