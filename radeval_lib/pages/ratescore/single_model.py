"""RaTEScore with one of its two models, for pages that need no other."""

from __future__ import annotations

from radeval_lib.metrics.choosing import fitting
from radeval_lib.metrics.ratescore import RaTEScore
from radeval_lib.study.runs import Run


def with_model(run: Run, role: str) -> RaTEScore:
    """RaTEScore as a run has it, with one of its two models, which alone is read: for what needs no other.

    ``role``: ``ner_model`` or ``encoder``. Errors are those of :meth:`~radeval_lib.study.runs.Run.model`.
    """
    filled = {role: run.model(role)}
    return RaTEScore(**filled, **fitting("ratescore", filled), device=run.profile.device)  # type: ignore[arg-type]
