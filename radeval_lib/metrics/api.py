"""Scores and explanations of lists and of pandas tables: the public API."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from radeval_lib.errors import listed, plain
from radeval_lib.metrics.base import MetricError, Score, checked_pairs
from radeval_lib.metrics.cautions import Cautions
from radeval_lib.metrics.choosing import Wanted, choose
from radeval_lib.metrics.context import contexts_of
from radeval_lib.metrics.pair_scores import ScoredPair, by_metric, scored
from radeval_lib.metrics.table_files import CANDIDATE, REFERENCE, candidates_of, score_column, system_of
from radeval_lib.rules.lexicon.significance import Context

if TYPE_CHECKING:
    import pandas as pd

DEFAULT = "green_rules_errors"
"""The metric where none is named: it needs no model and explains itself."""
Contexts = Sequence[Context | None] | None


@overload
def score(
    references: Sequence[str],
    candidates: Sequence[str],
    *,
    metrics: Wanted = DEFAULT,
    contexts: Contexts = None,
) -> dict[str, NDArray[np.float64]]: ...
@overload
def score(references: pd.DataFrame, *, metrics: Wanted = DEFAULT) -> pd.DataFrame: ...
def score(
    references: Sequence[str] | pd.DataFrame,
    candidates: Sequence[str] | None = None,
    *,
    metrics: Wanted = DEFAULT,
    contexts: Contexts = None,
) -> dict[str, NDArray[np.float64]] | pd.DataFrame:
    """Score candidates against the references of the same positions.

    Parameters
    ----------
    references, candidates : equally many texts; or a pandas table alone, with a column ``reference`` and
        ``candidate`` or, for each system, ``candidate:<system>``.
    metrics : a name, names, or settings by name; ``all`` stands for all that can score on this machine. See
        :func:`~radeval_lib.metrics.choosing.choose`. Cautions, with their rows, what stands in for a
        published model, and what could not score are warnings.
    contexts : what is known of each patient (:class:`radeval_lib.Context`), one per pair, which changes how
        much errors weigh for the judge by rules; of a table, its columns ``age`` and ``indication``.

    Returns
    -------
    dict or DataFrame
        Of lists, float64 of shape (n,) by metric. Of a table, the table with a column ``<metric>``, or
        ``<metric>:<system>``, for each.

    Raises
    ------
    MetricError
        If the texts or columns are malformed, a metric or setting is unknown, or no metric can score.

    Example
    -------
    >>> score(["Small left effusion."], ["Small right effusion."])
    {'green_rules_errors': array([0.25])}
    """
    if candidates is not None:
        scores = _scored(
            (CANDIDATE,), checked_pairs(references, candidates), metrics, contexts, explained=False
        )
        return {name: _values(column) for name, column in scores.items()}
    _none_beside_a_table(contexts)
    frame = _frame(references)
    columns, pairs = _pairs_of(frame)
    scores, size = _scored(columns, pairs, metrics, contexts_of(frame), explained=False), len(frame)
    found = {
        score_column(name, column): _values(of_pairs[at * size : (at + 1) * size])
        for at, column in enumerate(columns)
        for name, of_pairs in scores.items()
    }
    if doubled := [name for name in found if name in frame]:
        raise MetricError(f"there is already a column {doubled[0]!r}", "references", "Rename it.")
    return frame.assign(**found)


@overload
def explain(
    references: Sequence[str],
    candidates: Sequence[str],
    *,
    metrics: Wanted = DEFAULT,
    texts: bool = True,
    contexts: Contexts = None,
) -> list[dict[str, Any]]: ...
@overload
def explain(references: pd.DataFrame, *, metrics: Wanted = DEFAULT, texts: bool = True) -> pd.DataFrame: ...
def explain(
    references: Sequence[str] | pd.DataFrame,
    candidates: Sequence[str] | None = None,
    *,
    metrics: Wanted = DEFAULT,
    texts: bool = True,
    contexts: Contexts = None,
) -> list[dict[str, Any]] | pd.DataFrame:
    """Say what scores rest on: errors with their places, and entities that match or do not.

    Parameters
    ----------
    references, candidates, metrics : as for :func:`score`.
    texts : whether words of the texts may be quoted.
    contexts : as for :func:`score`.

    Returns
    -------
    list or DataFrame
        Of lists, one dictionary per pair: ``row`` from 1, ``scores``, and what
        :func:`~radeval_lib.metrics.pair_scores.explanation_record` says. Of a table, a row for each reason
        under the index of its pair; a pair without any has no row.

    Raises
    ------
    MetricError
        As :func:`score`.

    Example
    -------
    >>> (pair,) = explain(["Small left effusion."], ["Small right effusion."])
    >>> [reason["says"] for reason in pair["reasons"]]
    ['pleural effusion in right instead of left']
    """
    if candidates is not None:
        pairs = checked_pairs(references, candidates)
        return [pair.explained(texts) for pair in _explained((CANDIDATE,), pairs, metrics, contexts)]
    import pandas as pd

    _none_beside_a_table(contexts)
    frame = _frame(references)
    columns, pairs = _pairs_of(frame)
    labels, rows = [], []
    for pair in _explained(columns, pairs, metrics, contexts_of(frame)):
        explanation = pair.explained(texts)
        for reason in explanation["reasons"]:
            labels.append(frame.index[pair.row - 1])
            row = {"column": pair.column, "score": explanation["scores"][reason["metric"]]}
            row |= {"coverage": explanation["coverage"], **reason}
            for side in (REFERENCE, CANDIDATE):
                place = row.pop(side) or {"start": None, "end": None}
                row |= {f"{side}_{key}": value for key, value in place.items()}
            rows.append(row)
    found = pd.DataFrame(rows, index=pd.Index(labels, name=frame.index.name))
    return found.astype({name: "Int64" for name in found if name.endswith(("_start", "_end"))})


def _frame(table: Any) -> pd.DataFrame:
    if not hasattr(table, "columns"):
        raise MetricError("no candidates", "candidates", "Give texts for both, or a pandas table alone.")
    frame: pd.DataFrame = table
    return frame


def _pairs_of(frame: pd.DataFrame) -> tuple[tuple[str, ...], list[tuple[str, str]]]:
    """The columns of candidates, and the pairs of one after another."""
    columns = candidates_of(map(str, frame.columns))
    for name in (REFERENCE, *columns):
        if name not in frame:
            remedy = f"Columns: {listed(frame.columns)}."
            raise MetricError(f"no column {plain(name, 30)!r}", "references", remedy)
    references = list(frame[REFERENCE])
    return columns, [pair for name in columns for pair in checked_pairs(references, list(frame[name]))]


def _cautions(
    columns: tuple[str, ...], pairs: list[tuple[str, str]], scores: dict[str, list[Score]]
) -> Cautions:
    """The cautions of the pairs of one column after another."""
    found, rows = Cautions(scores), max(1, len(pairs) // len(columns))
    for at, pair in enumerate(pairs):
        found.add(
            system_of(columns[at // rows]),
            at % rows + 1,
            pair,
            {name: of[at].cautions for name, of in scores.items()},
        )
    return found


def _none_beside_a_table(contexts: Contexts) -> None:
    if contexts is not None:
        raise MetricError(
            "contexts given beside a table would not be read",
            "contexts",
            "Put them into its columns `age` and `indication`.",
        )


def _scored(
    columns: tuple[str, ...],
    pairs: list[tuple[str, str]],
    metrics: Wanted,
    contexts: Contexts,
    *,
    explained: bool,
    caller: int = 3,
) -> dict[str, list[Score]]:
    of_pairs = None if contexts is None else [*contexts] * len(columns)
    chosen = choose(metrics)
    scores = by_metric(
        chosen,
        lambda name: scored(chosen.metrics[name], pairs, of_pairs).each(pairs, explained=explained),
    )
    for line in _cautions(columns, pairs, scores).lines():
        warnings.warn(line, stacklevel=caller)
    for name, what in chosen.stand_ins.items():
        warnings.warn(f"{name}: {what}", stacklevel=caller)
    for name, why in chosen.left_out.items():
        warnings.warn(f"{name} was left out: {why}", stacklevel=caller)
    return scores


def _explained(
    columns: tuple[str, ...], pairs: list[tuple[str, str]], metrics: Wanted, contexts: Contexts
) -> list[ScoredPair]:
    scores = _scored(columns, pairs, metrics, contexts, explained=True, caller=4)
    size = len(pairs) // len(columns)
    return [
        ScoredPair(
            at % size + 1,
            columns[at // size],
            *pair,
            {name: of_pairs[at] for name, of_pairs in scores.items()},
        )
        for at, pair in enumerate(pairs)
    ]


def _values(column: list[Score]) -> NDArray[np.float64]:
    return np.array([one.value for one in column], dtype=np.float64)
