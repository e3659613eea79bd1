"""The error profile of a system, by the rule-based judge: errors by kind, and urgent findings found."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from radeval_lib.rules.judge import JudgedError, Judgement
from radeval_lib.rules.judge.alignment import align, by_side
from radeval_lib.rules.judge.items import Item, said
from radeval_lib.rules.lexicon.significance import Context, significance
from radeval_lib.rules.reader.vocabulary import vocabulary

if TYPE_CHECKING:
    import pandas as pd

    from radeval_lib.stats.base import FloatArray

KINDS = (
    "missed finding",
    "made-up finding",
    "device",
    "side",
    "place",
    "degree",
    "size",
    "change",
    "certainty",
)
"""Of a device, an error of any kind; ``place`` is one that is not a side; ``certainty``, which no category of
GREEN's names, is that one text doubts what the other states."""
FOUND = "urgent findings found"
_MISSING = "b"
_OF_CATEGORY = {"a": "made-up finding", _MISSING: "missed finding", "e": "change", "f": "change"}


def error_counts(
    reference: str, candidate: str, judgement: Judgement, context: Context | None = None
) -> tuple[int, ...]:
    """Return errors of each of :data:`KINDS` in a pair, then the reference's urgent findings: those that the
    candidate has, and all."""
    ours, theirs = said(reference), said(candidate)
    ours, theirs = by_side(ours, theirs), by_side(theirs, ours)
    kinds = [kind_of(error) for error in judgement.errors]
    doubts = sum(link.reference.uncertain != link.candidate.uncertain for link in align(ours, theirs))
    urgent = sum(_is_urgent({item.observation, *item.means}, context) for item in ours.stated)
    missed = sum(
        error.category == _MISSING and _is_urgent(_read_as(error, ours.stated), context)
        for error in judgement.errors
    )
    counts = [kinds.count(kind) for kind in KINDS[:-1]]
    return (*counts, doubts, max(0, urgent - missed), urgent)


def kind_of(error: JudgedError) -> str:
    """Return the kind of an error that the rule-based judge names."""
    if error.observation in vocabulary().devices:
        return "device"
    if error.category == "c":
        return "side" if error.rule.startswith("another side") else "place"
    if error.category == "d":
        return "size" if " mm " in f"{error.says} " else "degree"
    return _OF_CATEGORY[error.category]


def _read_as(error: JudgedError, items: list[Item]) -> set[str]:
    """Return the observation of an error, and the diagnoses that the reference reads it as."""
    spans = (item for item in items if (item.start, item.end) == error.reference_span)
    return {error.observation}.union(*(item.means for item in spans))


def _is_urgent(observations: set[str], context: Context | None) -> bool:
    return any(significance(observation, context).name == "urgent" for observation in observations)


class ErrorCounts:
    """What :func:`error_counts` gives for pairs, as they come, by system."""

    def __init__(self) -> None:
        self._systems: dict[str, tuple[array[int], array[int]]] = {}

    def __bool__(self) -> bool:
        return bool(self._systems)

    def add(self, system: str, case: Hashable, counts: Sequence[int]) -> None:
        """Add a pair of a case."""
        cases, table = self._systems.setdefault(system, (array("q"), array("i")))
        cases.append(hash(case))
        table.extend((*counts, 1))

    def profile(self, *, resamples: int, seed: int) -> pd.DataFrame:
        """Return errors per 100 pairs by kind, and the share of urgent findings that were found, with
        intervals.

        Parameters
        ----------
        resamples, seed : of the bootstrap over cases.

        Returns
        -------
        DataFrame
            ``system``, ``kind`` (:data:`KINDS`, then :data:`FOUND`), ``count``, ``value``, ``low`` and
            ``high`` (95 %, percentile; of what did not occur up to 3 per number of cases; Wilson's where the
            share is 0 or 1). The share is NaN where no reference states anything urgent; with a single case,
            every end is.
        """
        import pandas as pd

        rows = []
        for system, (cases, pairs) in self._systems.items():
            _, first, group = np.unique(np.array(cases), return_index=True, return_inverse=True)
            group = np.argsort(np.argsort(first))[group]  # in the order of rows: hashes differ between runs
            counts = np.array(pairs, dtype=np.float64).reshape(len(cases), -1)
            table = np.zeros((int(group.max()) + 1, counts.shape[1]))
            np.add.at(table, group, counts)
            total, values, (low, high) = _with_intervals(table, resamples, seed)
            for at, kind in enumerate((*KINDS, FOUND)):
                rows.append((system, kind, int(total[at]), *map(float, (values[at], low[at], high[at]))))
        return pd.DataFrame(rows, columns=["system", "kind", "count", "value", "low", "high"])


def _with_intervals(
    table: FloatArray, resamples: int, seed: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the sums over cases, the values, and both ends of their intervals."""
    total, cases = table.sum(axis=0), len(table)
    values = _values(total)
    intervals = np.full((2, len(values)), np.nan)
    if cases > 1:
        from radeval_lib.stats.inference import wilson
        from radeval_lib.stats.resampling import ends, sum_draws, widened

        finite = np.isfinite(values)
        drawn = sum_draws(table, _values, resamples=resamples, rng=np.random.default_rng(seed))
        intervals[:, finite] = ends(drawn[:, finite], widened(cases))
        intervals[1, :-1][total[: len(KINDS)] == 0] = 100 * 3 / cases  # the rule of three, for counts
        if values[-1] in (0.0, 1.0):
            intervals[:, -1] = wilson(int(total[-3]), int(total[-2]))
    return total, values, intervals


def _values(sums: FloatArray) -> FloatArray:
    """Return errors per 100 pairs, and the share of urgent findings found; shape (..., statistics) to (...,
    kinds)."""
    urgent, pairs = sums[..., -2:-1], sums[..., -1:]
    share = np.divide(sums[..., -3:-2], urgent, where=urgent > 0, out=np.full_like(urgent, np.nan))
    return np.concatenate([100 * sums[..., :-3] / pairs, share], axis=-1)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a table's rows as JSON has them; what has no number is null."""
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def as_text(table: pd.DataFrame) -> pd.DataFrame:
    """Return the profile as texts, a row for each kind and a column for each system."""

    def cell(row: pd.Series) -> str:
        scale, form = (100, "{:.0f}") if row["kind"] == FOUND else (1, "{:.1f}")
        if not np.isfinite(row["value"]):
            return "–"
        value, low, high = (form.format(scale * row[name]) for name in ("value", "low", "high"))
        unit = "%" if row["kind"] == FOUND else ""
        return f"{value}{unit} [{low}{unit}, {high}{unit}]" if np.isfinite(row["low"]) else f"{value}{unit}"

    wide = table.assign(text=table.apply(cell, axis=1)).pivot(index="kind", columns="system", values="text")
    return wide.reindex(index=[*KINDS, FOUND], columns=list(dict.fromkeys(table["system"])))
