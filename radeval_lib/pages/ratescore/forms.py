"""The same report in another form, and what RaTEScore makes of it; RaTEScore with one of its models."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from textwrap import fill

import numpy as np
import pandas as pd

from radeval_lib.metrics.base import Metric
from radeval_lib.metrics.choosing import fitting
from radeval_lib.metrics.ratescore import RaTEScore
from radeval_lib.metrics.ratescore.formula import split
from radeval_lib.study.runs import Run

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_ROUNDING = 1e-6  # noise from batch composition is smaller


def parts(text: str) -> list[str]:
    """The sentences of a report, by their full stops."""
    return _SENTENCE_END.split(text)


LAYOUTS: dict[str, Callable[[str], str]] = {
    "wrapped at 40 columns": lambda text: fill(text, 40),
    "wrapped at 60 columns": lambda text: fill(text, 60),
    "wrapped at 80 columns": lambda text: fill(text, 80),
    "wrapped, lines end with CRLF": lambda text: fill(text, 60).replace("\n", "\r\n"),
    "wrapped, lines end with blanks": lambda text: fill(text, 60).replace("\n", "  \n") + " ",
    "a sentence a line": lambda text: "\n".join(parts(text)),
}
"""Forms in which a report comes that change none of its words."""

FORMS = {
    **LAYOUTS,
    "a blank at the end": lambda text: f"{text} ",
    "sentences in reverse": lambda text: " ".join(reversed(parts(text))),
    "upper case": str.upper,
}


def with_model(run: Run, role: str) -> RaTEScore:
    """RaTEScore as a run has it, with one of its two models, which alone is read: for what needs no other."""
    filled = {role: run.model(role)}
    return RaTEScore(**filled, **fitting("ratescore", filled), device=run.profile.device)  # type: ignore[arg-type]


def changed_by_form(metric: Metric, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """How many scores change where the candidate comes in another form.

    Returns
    -------
    DataFrame
        A row a form of :data:`FORMS`; ``changed``: pairs whose score changes; ``recut``: those among them
        whose candidate is cut into other sentences, white space and case apart; ``largest``: the largest
        change.
    """
    references, candidates = (list(side) for side in zip(*pairs, strict=True))
    before = metric.score(references, candidates).values
    rows = {}
    for form, put in FORMS.items():
        formed = [put(text) for text in candidates]
        change = np.abs(metric.score(references, formed).values - before)
        recut = [_cut(one) != _cut(other) for one, other in zip(candidates, formed, strict=True)]
        changed = change > _ROUNDING
        rows[form] = (int(changed.sum()), int((changed & np.array(recut)).sum()), float(change.max()))
    return pd.DataFrame.from_dict(rows, orient="index", columns=["changed", "recut", "largest"])


def _cut(text: str) -> list[str]:
    return sorted(" ".join(sentence.upper().split()) for sentence in split(text))
