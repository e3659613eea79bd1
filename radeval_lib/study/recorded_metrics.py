"""Metrics and tables with stored scores: of pairs that a recording holds, as texts or as placeholders.

A rule-based implementation that was frozen before it met a test set keeps its stored scores there while it is
developed: they are shown in place of new ones until it is frozen and recorded again. If the source of a role
is a recording (``recorded/radpref``), placeholders replace its texts, and metrics give the stored scores.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from radeval_lib.data import recorded
from radeval_lib.data.errors import DataError
from radeval_lib.data.manifests import sha256
from radeval_lib.metrics.base import Metric, Scores
from radeval_lib.paths import RECORDED
from radeval_lib.placeholders import Placeholder, behind, refuse
from radeval_lib.provenance import RECORDED_SCORES, Reading
from radeval_lib.stats.base import FloatArray
from radeval_lib.study.recordings import is_out_of_date, sets_of, texts

if TYPE_CHECKING:
    from radeval_lib.rules.lexicon.significance import Context


def of_placeholders(metric: Metric, given: Iterable[str] = ()) -> Metric:
    """Return the metric, which gives stored scores to placeholders of recorded texts, and its own to texts.

    ``given``: the settings that a page asks for; those that follow from the models are the recording's.
    """
    settings = tuple(given)

    def stored(pairs: list[tuple[str, str]]) -> dict[int, float]:
        candidates = {row: _candidate(*pair) for row, pair in enumerate(pairs) if any(map(behind, pair))}
        for name in {candidate.set for candidate in candidates.values()}:
            _refuse_other_settings(metric, name, settings)
        texts = [pairs[row][1] for row in candidates]
        scores = recorded.column(texts, metric.name).tolist() if texts else []
        return dict(zip(candidates, scores, strict=True))

    return cast(Metric, _WithStored(metric, stored))


def frozen(metric: Metric, fillers: Iterable[str], root: Path, reading: Reading) -> Metric:
    """Return the metric, which gives stored scores to pairs of those sets among ``fillers`` for which it is
    out of date, as far as the data root holds the files that were scored; their tables are noted as read."""
    scores: dict[tuple[str, str], float] = {}
    for name in sets_of(fillers):
        scored = recorded.load(name).about["files"].items()
        if not all((root / file).is_file() and sha256(root / file) == digest for file, digest in scored):
            continue
        if metric.name in recorded.load(name).table and is_out_of_date(name, metric):
            values = recorded.load(name).table[metric.name].tolist()
            scores |= zip(map(_on_one_line, texts(name, root)), values, strict=True)
            reading.note_file(RECORDED_SCORES, RECORDED / f"{name}.csv")
    if not scores:
        return metric

    def stored(pairs: list[tuple[str, str]]) -> dict[int, float]:
        keys = enumerate(map(_on_one_line, pairs))
        return {row: scores[key] for row, key in keys if key in scores}

    return cast(Metric, _WithStored(metric, stored))


def columns(name: str, root: Path | None, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """Return the recorded rows of pairs of a set, texts or their placeholders, in their order.

    Raises
    ------
    DataError
        If a pair is not recorded, or texts are given without a data root.
    """
    if all(behind(candidate) for _, candidate in pairs):
        numbers = [_candidate(*pair).number for pair in pairs]
        return recorded.load(name).table.iloc[numbers].reset_index(drop=True)
    if root is None:
        raise DataError("its texts are not here", name, "Name a data root.")
    number_of = {_on_one_line(pair): number for number, pair in enumerate(texts(name, root))}
    numbers = [number_of.get(_on_one_line(pair), -1) for pair in pairs]
    if -1 in numbers:
        raise DataError("a pair that is not recorded", name, "Give pairs of the files that were scored.")
    return recorded.load(name).table.iloc[numbers].reset_index(drop=True)


def _on_one_line(pair: tuple[str, str]) -> tuple[str, str]:
    """Return a pair whatever its white space, since metrics may be given texts on one line."""
    reference, candidate = (" ".join(text.split()) for text in pair)
    return reference, candidate


def _candidate(reference: str, candidate: str) -> Placeholder:
    """Return the candidate of two placeholders; a DataError unless they are a candidate and its own
    reference, since only such pairs are recorded."""
    ours, theirs = behind(reference), behind(candidate)
    is_pair = ours and theirs and (ours.set, ours.side, theirs.side) == (theirs.set, "reference", "candidate")
    if ours and theirs and is_pair:
        case = int(recorded.load(theirs.set).table.at[theirs.number, "case"])
        if case == ours.number:
            return theirs
    raise DataError(
        "a pair that is not recorded: a placeholder beside another text than its own reference",
        "stored scores",
        "Score a candidate against its own reference, or the texts themselves.",
    )


class _WithStored:
    """A metric that gives stored scores to some pairs of texts; all else is the metric's own, of texts alone.

    ``stored`` returns the scores of those pairs that are stored, by their place.
    """

    def __init__(self, metric: Metric, stored: Callable[[list[tuple[str, str]]], dict[int, float]]) -> None:
        self._metric, self._stored = metric, stored

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._metric, name)
        if not callable(attribute):
            return attribute

        def of_texts(*arguments: Any, **settings: Any) -> Any:
            for argument in (*arguments, *settings.values()):
                texts = [argument] if isinstance(argument, str) else _flat(argument)
                refuse(texts, f"{self._metric.name}.{name}")
            return attribute(*arguments, **settings)

        return of_texts

    def values(self, references: Sequence[str], candidates: Sequence[str]) -> FloatArray:
        """Return as :meth:`Metric.values`."""
        return self.score(references, candidates).values

    def score(
        self,
        references: Sequence[str],
        candidates: Sequence[str],
        contexts: Sequence[Context | None] | None = None,
    ) -> Scores:
        """Return as :meth:`Metric.score`; a stored score has no detail.

        Raises
        ------
        DataError
            If a pair of placeholders is not recorded, or was recorded with other settings.
        """
        pairs = list(zip(references, candidates, strict=True))
        stored = self._stored(pairs)
        fresh = [row for row in range(len(pairs)) if row not in stored]
        references, candidates = ([pairs[row][side] for row in fresh] for side in (0, 1))
        fresh_scores = self._metric.score(
            references, candidates, contexts and [contexts[row] for row in fresh]
        )
        values, details = np.zeros(len(pairs)), dict(zip(fresh, fresh_scores.details, strict=True))
        values[[*stored, *fresh]] = [*stored.values(), *fresh_scores.values]
        every = [details.get(row) for row in range(len(pairs))]
        return replace(fresh_scores, values=values, details=every)


def _refuse_other_settings(metric: Metric, name: str, given: Collection[str]) -> None:
    columns = recorded.load(name).about["columns"]
    if metric.name not in columns:
        raise DataError(f"no {metric.name} is recorded", name, f"`radbook record {name}` scores it.")
    kept = columns[metric.name]["settings"]
    asked = {key: value for key, value in settings_of(metric).items() if key in given}
    if any(value != kept.get(key) for key, value in asked.items()):
        stated = ", ".join(f"{key} {value}" for key, value in kept.items())
        words = f"{metric.name} is recorded with other settings"
        raise DataError(words, name, f"These are recorded: {stated or 'none'}.")


def settings_of(metric: Metric) -> dict[str, str]:
    """Return a metric's settings beside its models, as a recording states them."""
    return {key: str(value) for key, value in metric.settings().items() if key not in metric.models()}


def _flat(argument: Any) -> list[Any]:
    """Return the items of a sequence, and those of pairs in it; nothing for anything else."""
    if not isinstance(argument, (list, tuple)):
        return []
    return [part for item in argument for part in (item if isinstance(item, (list, tuple)) else [item])]
