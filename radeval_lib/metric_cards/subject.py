"""The metric that a card is about: who scores, what it is called, and what its author declares of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from radeval_lib.errors import RadevalError, check_choice, plain
from radeval_lib.metric_cards.score_files import CommandScorer, FileScorer
from radeval_lib.metric_cards.scoring import FunctionScorer, MetricScorer, Scorer
from radeval_lib.metrics import by_name
from radeval_lib.metrics.base import MetricError
from radeval_lib.metrics.choosing import choose

Tuned = Literal["yes", "no", "unknown"]


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
    scorer, own, name, note = _identified(metric, name, batched)
    if own:
        kind = by_name.get(own)
        # None of this library's metrics was fitted to RadPref's ratings.
        higher_is_better, value_range, tuned = kind.higher_is_better, kind.range, "no"
    if value_range is not None:
        value_range = _checked_range(value_range)
    return Subject(name, scorer, own, note, batched, higher_is_better, value_range, tuned)


def _checked_range(ends: tuple[float, float]) -> tuple[float, float]:
    try:
        low, high = map(float, ends)
    except (TypeError, ValueError):
        raise MetricError(
            f"{ends!r:.60} is not a range", "range", "Give its lower and its upper end."
        ) from None
    if not low < high:
        raise MetricError(f"the range {low:g} to {high:g} is empty", "range", "Give the lower end first.")
    return low, high


class _Identified(NamedTuple):
    """The fields of a :class:`Subject` that its author does not declare."""

    scorer: Scorer | None
    own: str
    name: str
    note: str


def _identified(metric: Callable[..., Any] | str | Scorer, name: str, batched: bool) -> _Identified:
    if isinstance(metric, str):
        title = _title(metric)
        try:
            chosen = choose(metric)
        except RadevalError as error:
            return _Identified(None, metric, title, str(error))
        scorer = MetricScorer(chosen.metrics[metric])
        return _Identified(scorer, metric, title, chosen.stand_ins.get(metric, ""))
    if isinstance(metric, MetricScorer):
        return _Identified(metric, metric.name, _title(metric.name), "")
    if isinstance(metric, Scorer):
        return _Identified(metric, "", _distinct_name(name or "the metric"), "")
    if not callable(metric):
        raise MetricError(f"{type(metric).__name__} is not a metric", "metric", "Give a function or a name.")
    name = name or getattr(metric, "__name__", type(metric).__name__)
    return _Identified(FunctionScorer(metric, batched), "", _distinct_name(name), "")


def _title(own: str) -> str:
    return by_name.get(own).title or own


def _distinct_name(name: str) -> str:
    """The name, which must print; with an addition where a metric of this library has it."""
    if plain(name, 60) != name or not name.strip():
        raise MetricError(f"{name!r} is not a name for a table", "name", "Give a shorter one that prints.")
    return f"{name} (this card)" if name in map(_title, by_name.names()) else name
