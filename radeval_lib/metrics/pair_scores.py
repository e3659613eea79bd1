"""Scores of pairs by several metrics, what they rest on, and how much of the texts the rules could read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from radeval_lib.errors import ModelError, RadevalError
from radeval_lib.metrics.base import Metric, MetricError, Score, Scores
from radeval_lib.metrics.cautions import Cautions
from radeval_lib.metrics.choosing import Chosen
from radeval_lib.metrics.reasons import Reason
from radeval_lib.rules.lexicon.significance import Context
from radeval_lib.rules.reader import coverage
from radeval_lib.rules.report_text.words import Span

_Value = TypeVar("_Value")


def scored(metric: Metric, pairs: list[tuple[str, str]], contexts: Sequence[Context | None] | None) -> Scores:
    """The scores of (reference, candidate) pairs; an error of a model names the settings of models."""
    try:
        return metric.score(
            [reference for reference, _ in pairs], [candidate for _, candidate in pairs], contexts
        )
    except ModelError as error:
        where = " and ".join(f"{metric.name}.{role}" for role in metric.needs)
        remedy = f"{error.remedy} The setting is {where}."
        raise MetricError(error.what, f"{metric.name}, {error.where}", remedy) from error


def by_metric(chosen: Chosen, score: Callable[[str], _Value]) -> dict[str, _Value]:
    """What ``score`` gives for the name of each metric; one that fails is left out of ``chosen``, which
    changes, if another scores."""
    columns = dict[str, _Value]()
    failed = dict[str, RadevalError]()
    for name in chosen.metrics:
        try:
            columns[name] = score(name)
        except RadevalError as error:
            failed[name] = error
    leave_out(chosen, failed)
    return columns


def leave_out(chosen: Chosen, failed: Mapping[str, RadevalError], *, tolerant: bool = True) -> None:
    """Leave out of ``chosen``, which changes, the metrics that failed, or raise the first error where none
    would be left or none may fail."""
    new = {name: why for name, why in failed.items() if name in chosen.metrics}
    if new and (not tolerant or len(new) == len(chosen.metrics)):
        raise next(iter(new.values()))
    for name, why in new.items():
        del chosen.metrics[name]
        chosen.stand_ins.pop(name, None)
        chosen.left_out[name] = str(why)


class ScoredPair(NamedTuple):
    """A pair with its scores by metric: the number of its row from 1, and the column of its candidate."""

    row: int
    column: str
    reference: str
    candidate: str
    scores: dict[str, Score]

    def cautions(self) -> list[str]:
        """What a reader should know of the pair; what a metric says begins with its name."""
        of_metrics = {name: score.cautions for name, score in self.scores.items()}
        return Cautions(of_metrics).add("", self.row, (self.reference, self.candidate), of_metrics)

    def explained(self, texts: bool) -> dict[str, Any]:
        """What is reported of the pair: row, column, scores, cautions, and :func:`explanation_record`."""
        reasons = ((name, reason) for name, score in self.scores.items() for reason in score.reasons)
        return {
            "row": self.row,
            "candidate": self.column,
            "scores": {name: score.value for name, score in self.scores.items()},
            "cautions": self.cautions(),
            **explanation_record(reasons, self.reference, self.candidate, texts=texts),
        }


def share_read(*texts: str) -> float | None:
    """Mean share of what the texts say that the rules could read (:func:`radeval_lib.rules.reader.coverage`);
    None where they say nothing."""
    shares = [one.share for one in map(coverage, texts) if one.share is not None]
    return sum(shares) / len(shares) if shares else None


def explanation_record(
    reasons: Iterable[tuple[str, Reason]], reference: str, candidate: str, *, texts: bool
) -> dict[str, Any]:
    """What explains a pair, by reasons of metrics, ready for JSON; without ``texts`` it gives places alone.

    Returns
    -------
    dict
        ``coverage``: see :func:`share_read`. ``unread``: by side, where the statements are that were not
        read. ``in_part``: by side, those of which words of weight were left: ``span``, and the places
        (``unused``) and ``kinds`` of these words.
        ``reasons``: a dictionary each, ``metric`` and the fields of :class:`Reason`; ``reference`` and
        ``candidate`` are None or a dictionary with ``start``, ``end``, the ``words`` there and, of errors,
        the ``sentence`` that holds them.
    """
    sides = {"reference": reference, "candidate": candidate}
    listed = []
    for metric, reason in reasons:
        row: dict[str, Any] = {"metric": metric, **reason._asdict()}
        for side, text in sides.items():
            if (span := getattr(reason, side)) is not None:
                row[side] = _place(span, text if texts else None, reason.kind == "error")
        if not texts:
            del row["quoted"]
        listed.append(row)
    share = share_read(reference, candidate)
    return {
        "coverage": None if share is None else round(share, 4),
        "unread": {side: [list(span) for span in coverage(text).unread] for side, text in sides.items()},
        "in_part": {side: [one._asdict() for one in coverage(text).in_part] for side, text in sides.items()},
        "reasons": listed,
    }


def _place(span: Span, text: str | None, sentence: bool) -> dict[str, Any]:
    place: dict[str, Any] = {"start": span[0], "end": span[1]}
    if text is not None:
        place["words"] = text[slice(*span)]
        if sentence:
            around = next((one for one in coverage(text).statements if one[0] <= span[0] < one[1]), span)
            place["sentence"] = text[slice(*around)]
    return place
