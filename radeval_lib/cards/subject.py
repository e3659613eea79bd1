"""The metric that a card is about: who scores, what it is called, and what its author declares of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from radeval_lib.cards.scoring import CommandScorer, FileScorer, FunctionScorer, MetricScorer, Scorer
from radeval_lib.errors import RadevalError, check_choice, plain
from radeval_lib.metrics import base
from radeval_lib.metrics.base import MetricError
from radeval_lib.metrics.choosing import choose

Tuned = Literal["yes", "no", "unknown"]
OWN_TUNING: Mapping[str, Tuned] = {}
"""Metrics of this library that were fitted to RadPref's ratings: none was."""


@dataclass(frozen=True)
class Subject:
    """A metric as a card knows it.

    Attributes
    ----------
    name : what the card calls it.
    scorer : who scores; None where nobody can.
    own : its name in this library; empty for any other.
    note : why nobody can score, or what stands in for the models that it was published with.
    batched : whether it is a function of two lists of texts.
    higher_is_better, value_range, tuned : as declared; of a metric of this library, its own.
    """

    name: str
    scorer: Scorer | None
    own: str
    note: str
    batched: bool
    higher_is_better: bool
    value_range: tuple[float, float] | None
    tuned: Tuned

    @property
    def sign(self) -> int:
        """What scores are multiplied by, so that higher is better."""
        return 1 if self.higher_is_better else -1

    def as_dict(self) -> dict[str, Any]:
        """The part ``metric`` of a card."""
        of_scorer = self.scorer.about if self.scorer else {"kind": "name", "version": None, "sha256": None}
        ends = self.value_range
        return {
            "name": self.name,
            **of_scorer,
            "higher_is_better": self.higher_is_better,
            "range": None if ends is None else [end if math.isfinite(end) else None for end in ends],
            "tuned_on_radpref": self.tuned,
        }

    def not_tried(self) -> dict[str, str]:
        """What cannot be tried whatever the pairs are, and why."""
        reasons = {}
        if self.scorer and self.note:
            reasons["edits by the models that the metric was published with"] = self.note
        if isinstance(self.scorer, CommandScorer | FileScorer):
            reasons["batch size"] = "the pairs were scored outside this program"
        elif not self.batched and not self.own:
            reasons["batch size"] = "the metric takes one pair at a time"
        if isinstance(self.scorer, FileScorer):
            reasons["seconds per pair"] = "a file does not record them"
        return reasons


def subject_of(
    metric: Callable[..., Any] | str | Scorer,
    name: str,
    *,
    batched: bool,
    higher_is_better: bool,
    value_range: tuple[float, float] | None,
    tuned: Tuned,
) -> Subject:
    """The subject of a card, with parameters as for :func:`radeval_lib.metric_card`.

    Raises
    ------
    MetricError
        If it is not a metric, its name does not print, a range is empty, or ``tuned`` is none of the choices.
    """
    check_choice(tuned, Tuned, "tuned", MetricError)
    scorer, own, name, note = _scorer(metric, name, batched)
    if own:
        kind = base.get(own)
        higher_is_better, value_range, tuned = kind.higher_is_better, kind.range, OWN_TUNING.get(own, "no")
    if value_range is not None and not value_range[0] < value_range[1]:
        raise MetricError(
            f"the range {value_range[0]:g} to {value_range[1]:g} is empty",
            "range",
            "Give the lower end first.",
        )
    return Subject(name, scorer, own, note, batched, higher_is_better, value_range, tuned)


def _scorer(
    metric: Callable[..., Any] | str | Scorer, name: str, batched: bool
) -> tuple[Scorer | None, str, str, str]:
    """Who scores; the name in this library; what the card calls it; and why nobody can score, or what
    stands in for its models."""
    if isinstance(metric, str):
        kind = base.get(metric)
        try:
            chosen = choose(metric)
        except RadevalError as error:
            return None, metric, kind.title or metric, str(error)
        note = chosen.stand_ins.get(metric, "")
        return MetricScorer(chosen.metrics[metric]), metric, kind.title or metric, note
    if isinstance(metric, MetricScorer):
        kind = base.get(metric.name)
        return metric, metric.name, kind.title or metric.name, ""
    if isinstance(metric, Scorer):
        shown, scorer = name or "the metric", metric
    elif callable(metric):
        shown, scorer = (
            name or getattr(metric, "__name__", type(metric).__name__),
            FunctionScorer(metric, batched),
        )
    else:
        raise MetricError(f"{type(metric).__name__} is not a metric", "metric", "Give a function or a name.")
    if plain(shown, 60) != shown:
        raise MetricError(f"{shown!r} is not a name for a table", "name", "Give a shorter one that prints.")
    titles = {base.get(key).title or key for key in base.names()}
    return scorer, "", f"{shown} (this card)" if shown in titles else shown, ""
