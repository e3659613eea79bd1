"""Systems on the same references: what ``radeval_lib.compare`` and ``radbook compare`` do."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radeval_lib.errors import listed
from radeval_lib.metrics.api import DEFAULT
from radeval_lib.metrics.base import Metric, MetricError, Score
from radeval_lib.metrics.by_name import get
from radeval_lib.metrics.cautions import Cautions
from radeval_lib.metrics.choosing import Chosen, Wanted, choose, settings_by_name
from radeval_lib.metrics.comparison import Comparison
from radeval_lib.metrics.comparison_inputs import (
    Inputs,
    case_numbers,
    inputs_of,
    numbers_of,
    rows_of,
    table_of_files,
)
from radeval_lib.metrics.error_profile import ErrorCounts
from radeval_lib.metrics.pair_scores import by_metric, scored
from radeval_lib.metrics.table_files import CANDIDATE, score_column
from radeval_lib.metrics.verdicts import cautions_on_intervals, ranked, with_wilson

if TYPE_CHECKING:
    import pandas as pd

    from radeval_lib.rules.lexicon.significance import Context
    from radeval_lib.stats.inputs import FloatArray, OfSums

RESAMPLES = 10_000  # of the bootstrap, and of randomization tests
_LITTLE_DIVERSITY = 10  # as many times the sets of findings in the references are reported


def compare(
    references: Sequence[str] | pd.DataFrame,
    systems: Mapping[str, Sequence[str]] | Mapping[str, str] | None = None,
    *,
    metrics: Wanted = (),
    scores: Mapping[str, Mapping[str, ArrayLike]] | None = None,
    cases: Sequence[Hashable] | None = None,
    contexts: Sequence[Context | None] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Compare systems on the same references: values with intervals, differences, tests.

    Every distinct pair of texts is scored once. Rows are taken as independent, unless ``cases`` or a column
    ``case`` or ``patient`` says which belong together: then cases are resampled, with all their rows.

    Parameters
    ----------
    references : texts, of which there may be none where ``scores`` are given; or a pandas table with a column
        ``reference``.
    systems : by the name of each system, its candidates, one per reference; of a table, the name of a column
        of candidates. Default, for a table: every column ``candidate:<system>``.
    metrics : a name, names, or settings by name, as for :func:`radeval_lib.score`; default, unless ``scores``
        are given: the errors that the judge by rules finds. A table that has a column ``<metric>:<system>``
        for every system is not scored again: these scores count, and their mean.
    scores : by metric and system, scores that there are already, shape (n,). With these, ``systems`` may be
        left out.
    cases : the case or patient of each row; of a table, default: its column ``case`` or ``patient``.
    contexts : what is known of the patient of each row, for the judge by rules; of a table, default: what its
        columns ``age`` and ``indication`` say.
    resamples : of the bootstrap, and of the randomization test unless that can enumerate; at least 100.
    seed : of both; 0 or more.

    Returns
    -------
    Comparison

    Raises
    ------
    MetricError
        If there are fewer than two systems or cases, numbers of rows differ, a score is not a finite number,
        a column is not there, a metric or setting is unknown, no metric can score, or ``resamples`` or
        ``seed`` is too small.

    Example
    -------
    >>> references = ["Small left effusion.", "No pneumothorax.", "Heart size is normal."]
    >>> systems = {"a": references, "b": ["Small right effusion.", "No pneumothorax.", "Cardiomegaly."]}
    >>> compare(references, systems, metrics="rouge_l").pairs[["first", "second", "p"]].values.tolist()
    [['a', 'b', 0.5]]
    """
    from radeval_lib.stats.system_comparison import compare_systems

    for name, value, least in (("resamples", resamples, 100), ("seed", seed, 0)):
        if not isinstance(value, Integral) or value < least:
            raise MetricError(f"{name} is {value}", name, f"Give a whole number, {least} or more.")
    settings = settings_by_name(metrics or (() if scores else DEFAULT))
    given = inputs_of(references, systems, scores or {}, cases, contexts, settings)
    measured, pairs, left_out = _measure(given, settings)
    rows = rows_of({name: one.tables for name, one in measured.items()}, given.references)
    numbers = case_numbers(given.cases, rows)
    if given.cases is not None:
        measured = {name: one.by_case(numbers) for name, one in measured.items()}
    tables = {name: one.tables for name, one in measured.items()}
    values = {name: one.values for name, one in measured.items()}
    of_systems, of_pairs = compare_systems(tables, values, resamples=resamples, seed=seed)
    about = {name: one.about for name, one in measured.items()}
    of_texts = _cautions(measured, pairs, given.systems, rows)
    of_systems, verdicts = ranked(with_wilson(of_systems, about, tables), of_pairs, about, of_texts)
    diversity, of_findings = _diversity(pairs, given.systems, rows)
    cautions = [*of_texts.lines(), *of_findings]
    for name, by_system in tables.items():
        cautions += cautions_on_intervals(name, by_system, mean=about[name]["value"] == "mean")
    profile = _errors(measured, given.systems, numbers).profile(resamples=resamples, seed=seed)
    return Comparison(
        of_systems, of_pairs, about, left_out, cautions, verdicts, profile, diversity, rows, resamples, seed
    )


def _measure(
    given: Inputs, settings: Mapping[str, Any]
) -> tuple[dict[str, _Measured], list[tuple[str, str]], dict[str, str]]:
    """Statistics by metric, those of scores that there are already first; the pairs of texts, where there are
    any; and why a metric is left out."""
    measured = {
        metric: _ready(metric, by_system, given.systems) for metric, by_system in given.scores.items()
    }
    pairs, left_out = list[tuple[str, str]](), dict[str, str]()
    if wanted := {name: own for name, own in settings.items() if name not in given.scores}:
        pairs, chosen = given.pairs(), choose(wanted)
        of_pairs = None if given.contexts is None else [*given.contexts] * len(given.systems)
        measured |= by_metric(chosen, lambda name: _measured(chosen, name, pairs, given.systems, of_pairs))
        left_out = chosen.left_out
    elif given.references is not None and set(given.candidates) == set(given.systems):
        pairs = given.pairs()
    if not measured:
        raise MetricError("nothing to compare by", "metrics", "Name a metric, or give scores.")
    return measured, pairs, left_out


def _cautions(
    measured: Mapping[str, _Measured], pairs: list[tuple[str, str]], systems: list[str], rows: int
) -> Cautions:
    """What a reader should know of the texts."""
    cautions = Cautions(measured)
    for at, pair in enumerate(pairs):
        noted = {name: one.pairs[at].cautions for name, one in measured.items() if one.pairs}
        cautions.add(systems[at // rows], at % rows + 1, pair, noted)
    return cautions


def _errors(measured: Mapping[str, _Measured], systems: list[str], numbers: NDArray[np.intp]) -> ErrorCounts:
    """The errors that the first metric which names errors finds, by the number of each row's case; none where
    no metric does."""
    errors = ErrorCounts()
    counted = [one.pairs for one in measured.values() if one.pairs and one.pairs[0].errors]
    for at, score in enumerate(counted[0] if counted else ()):
        system, row = divmod(at, len(numbers))
        errors.add(systems[system], int(numbers[row]), score.errors)
    return errors


def _diversity(pairs: list[tuple[str, str]], names: list[str], rows: int) -> tuple[pd.DataFrame, list[str]]:
    """How many texts and sets of findings differ, and a caution for each system that states no finding, or
    hardly a tenth of the references' sets."""
    import pandas as pd

    from radeval_lib.rules.reader.observations import NO_FINDING, label, positive

    if not pairs:
        return pd.DataFrame(columns=["system", "texts", "finding_sets"]), []
    texts = {"references": [reference for reference, _ in pairs[:rows]]}
    texts |= {
        name: [candidate for _, candidate in pairs[place * rows : (place + 1) * rows]]
        for place, name in enumerate(names)
    }
    stated = {text: positive(label(text)) - {NO_FINDING} for text in set(chain.from_iterable(texts.values()))}
    findings = {name: [stated[text] for text in own] for name, own in texts.items()}
    table = pd.DataFrame(
        [(name, len(set(own)), len(set(findings[name]))) for name, own in texts.items()],
        columns=["system", "texts", "finding_sets"],
    )
    known, most = sum(map(bool, findings["references"])), len(set(findings["references"]))
    notes = []
    for name in names if known else ():
        sets = len(set(findings[name]))
        if not any(findings[name]):
            notes.append(f"{name} states no finding of the chest, where {known:,} of {rows:,} references do")
        elif sets * _LITTLE_DIVERSITY <= most:
            notes.append(f"{name} states {sets} different sets of findings, the references {most}")
    return table, notes


class _Measured(NamedTuple):
    """Statistics of the cases by system, the value from their sums, and how they were made."""

    tables: dict[str, FloatArray]
    values: OfSums
    about: dict[str, Any]
    pairs: list[Score]

    def by_case(self, place: NDArray[np.intp]) -> _Measured:
        """With the statistics of each case summed, given the number of each row's case."""
        tables = {}
        for system, statistics in self.tables.items():
            tables[system] = np.zeros((int(place.max()) + 1, statistics.shape[1]))
            np.add.at(tables[system], place, statistics)
        return self._replace(tables=tables)


def _measured(
    chosen: Chosen,
    name: str,
    pairs: list[tuple[str, str]],
    systems: list[str],
    contexts: list[Context | None] | None,
) -> _Measured:
    """What a metric finds for the pairs of one system after another."""
    metric = chosen.metrics[name]
    scores = scored(metric, pairs, contexts)
    statistics, values = metric.corpus(scores)
    about = {
        "value": "mean" if type(metric).corpus is Metric.corpus else "corpus",
        "signature": str(scores.signature),
        "source": metric.citation,
        "better": "higher" if metric.higher_is_better else "lower",
        "range": _range(metric),
        "models": dict(metric.signature().models),
        "note": chosen.stand_ins.get(name, ""),
    }
    tables = dict(zip(systems, np.split(statistics, len(systems)), strict=True))
    return _Measured(tables, values, about, scores.each(pairs, counted=True))


def _range(metric: Metric | type[Metric]) -> list[float | None]:
    """The ends of a metric's scale as JSON has them."""
    return [end if math.isfinite(end) else None for end in metric.range]


def _ready(metric: str, by_system: Mapping[str, ArrayLike], systems: list[str]) -> _Measured:
    """Scores that are there already, of every system."""
    from radeval_lib.stats.resampling import mean_of_sums

    if set(by_system) != set(systems):
        remedy = f"Give those of {listed(systems)}."
        raise MetricError(f"there are scores of {listed(by_system)} alone", metric, remedy)
    tables = {}
    for system in systems:
        scores = numbers_of(by_system[system], score_column(metric, f"{CANDIDATE}:{system}"))
        tables[system] = np.column_stack([scores, np.ones(len(scores))])
    about: dict[str, Any] = {"value": "mean"}
    with suppress(MetricError):  # a name of the user's own
        known = get(metric)
        about |= {"better": "higher" if known.higher_is_better else "lower", "range": _range(known)}
    return _Measured(tables, mean_of_sums, about, [])


def compare_files(
    path: str | Path,
    systems: Mapping[str, str] | None = None,
    *,
    candidates: Mapping[str, str | Path] | None = None,
    metrics: Wanted = (),
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Compare systems whose candidates stand in a file, CSV, TSV, JSON lines or Parquet, or in one for each
    system.

    Parameters
    ----------
    systems : by the name of each system, its column of candidates or, where candidates come from a file of
        their own, nothing; default: every column ``candidate:<system>``.
    candidates : by the name of a system, a file with as many rows in the same order and a column
        ``candidate``, or columns ``<metric>`` as ``radbook score`` writes them. Where both files have a
        column ``id`` or ``reference``, it must be the same.
    metrics, resamples, seed : as for :func:`compare`.
    """
    frame, systems = table_of_files(path, systems, candidates or {}, settings_by_name(metrics))
    return compare(frame, systems, metrics=metrics, resamples=resamples, seed=seed)
