"""Compare two or more systems on the same references: what ``radeval_lib.compare`` and ``radbook compare`` do."""

from __future__ import annotations

import math
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from radeval_lib import origin
from radeval_lib.errors import listed, plain
from radeval_lib.metrics.base import Metric, MetricError, Scores, checked_pairs
from radeval_lib.metrics.choosing import Chosen, Wanted, choose, settings_by_name
from radeval_lib.metrics.files import described_models
from radeval_lib.metrics.pair_files import CANDIDATE, REFERENCE, score_column, table
from radeval_lib.metrics.pair_scores import by_metric, scored
from radeval_lib.paths import BOOK
from radeval_lib.stats.resampling import FloatArray, OfSums, is_enumerated, mean_of_sums
from radeval_lib.stats.systems import LEVEL, compare_systems

if TYPE_CHECKING:
    import pandas as pd

RESAMPLES = 10_000
_SOURCES = ("riezler2005pitfalls", "holm1979", "hesterberg2015bootstrap")
_NUMERIC = ("value", "difference", "low", "high", "p", "p_holm", "standardised")


@dataclass(frozen=True)
class Comparison:
    """How systems compare.

    Attributes
    ----------
    systems, pairs : as :func:`radeval_lib.stats.systems.compare_systems` returns them.
    metrics : by name: ``signature``, ``source`` (BibTeX key), ``value`` (``mean``, or ``corpus`` where the value
        of the corpus is no mean), ``models``, and ``note``, what stands in for a published model; of scores that
        were given only ``value`` and ``signature``.
    left_out : of metrics that could not score, why.
    resamples, seed : of the intervals and tests.
    """

    systems: pd.DataFrame
    pairs: pd.DataFrame
    metrics: dict[str, dict[str, Any]]
    left_out: dict[str, str]
    resamples: int
    seed: int

    def tables(self) -> str:
        """Both tables, for a terminal."""
        import pandas as pd

        systems, pairs = self.systems.copy(), self.pairs.copy()
        for frame in (systems, pairs):
            frame["metric"] = [
                f"{name} ({self.metrics[name]['value']})" for name in frame["metric"]
            ]  # a corpus value is no mean
            for name in frame.columns.intersection(_NUMERIC):
                frame[name] = frame[name].map(lambda value: "–" if math.isnan(value) else f"{value:.4g}")
            frame["95 % interval"] = frame.pop("low") + " to " + frame.pop("high")
        more = pairs.pop("more_cases")
        pairs["more cases for 80 % power"] = ["–" if pd.isna(one) else f"{one:,}" for one in more]
        pairs = pairs.rename(columns={"p_holm": "p (Holm)"})
        order = ["metric", "first", "second", "difference", "95 % interval", "p", "p (Holm)"]
        pairs = pairs[[*order, *pairs.columns.difference(order, sort=False)]]
        return f"{systems.to_string(index=False)}\n\n{pairs.to_string(index=False)}"

    def methods(self) -> str:
        """A paragraph for the methods section of a paper; sources as ``[@key]``, see :meth:`references`."""
        names, cases = list(dict.fromkeys(self.systems["system"])), int(self.systems["cases"].iloc[0])
        measured = "; ".join(self._measured(name) for name in self.metrics)
        tests = (
            f"over all {2**cases:,} ways of exchanging their outputs (exact)"
            if is_enumerated(cases, self.resamples)
            else f"with {self.resamples:,} random exchanges of their outputs, p = (b + 1)/(n + 1)"
        )
        count = len(self.pairs)
        holm = f"p values were corrected over all {count} comparisons [@holm1979]" if count > 1 else ""
        level = f"{LEVEL}/{count}" if count > 1 else str(LEVEL)
        corpus = any(one["value"] == "corpus" for one in self.metrics.values())
        packages = origin.package_versions()
        used = [
            name for name in ("radeval-lib", "numpy", "scipy", *_packages(self.metrics)) if name in packages
        ]
        software = ", ".join(f"{name} {packages[name]}" for name in used)
        return " ".join(
            [
                f"{len(names)} systems ({', '.join(names)}) were scored on the same {cases:,} references: "
                f"{measured}.",
                f"Values have 95 % percentile bootstrap intervals over cases ({self.resamples:,} resamples, seed "
                f"{self.seed}), widened for small samples [@hesterberg2015bootstrap].",
                f"Pairs of systems were compared by two-sided paired randomization {tests} "
                f"[@riezler2005pitfalls]{'; ' + holm if holm else ''}.",
                "Standardised differences are the mean of the paired differences over their standard deviation"
                + (
                    " (of jackknife pseudo-values where the value of the corpus is no mean)."
                    if corpus
                    else "."
                ),
                "The number of further cases for 80 % power is that of a two-sided paired t test at the level "
                f"{level}, if the true difference is the one observed.",
                f"Cases were taken as independent; systems' training seeds were not varied. Software: Python "
                f"{platform.python_version()}, {software}.",
            ]
        )

    def _measured(self, name: str) -> str:
        about = self.metrics[name]
        told = [f"signature `{about['signature']}`" if "source" in about else "scores as given"]
        told += ["value of the corpus from summed counts"] if about["value"] == "corpus" else []
        told += [f"{role} {model}" for role, model in about.get("models", {}).items()]
        told += [about["note"]] if about.get("note") else []
        source = f" [@{about['source']}]" if about.get("source") else ""
        return f"{name}{source} ({'; '.join(told)})"

    def references(self) -> str:
        """The BibTeX entries that :meth:`methods` cites, as far as the book's bibliography is at hand."""
        path = BOOK / "references.bib"
        entries = re.split(r"\n(?=@)", path.read_text(encoding="utf-8")) if path.exists() else []
        wanted = [*(one.get("source", "") for one in self.metrics.values()), *_SOURCES]
        found = [entry.strip() for entry in entries if re.split(r"[{,]", entry, maxsplit=2)[1] in wanted]
        return "\n\n".join(found)

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON has it; what has no number is null."""
        return {
            "systems": _records(self.systems),
            "pairs": _records(self.pairs),
            "metrics": self.metrics,
            "left out": self.left_out,
            "resamples": self.resamples,
            "seed": self.seed,
            "methods": self.methods(),
            "references": self.references(),
            **origin.environment(),
        }


def compare(
    references: Sequence[str] | pd.DataFrame,
    systems: Mapping[str, Sequence[str]] | Mapping[str, str] | None = None,
    *,
    metrics: Wanted = (),
    scores: Mapping[str, Mapping[str, ArrayLike]] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Compare systems on the same references: values with intervals, differences, tests.

    Every text is scored once. Rows are taken as independent cases.

    Parameters
    ----------
    references : texts; or a pandas table with a column ``reference``.
    systems : by the name of each system, its candidates, one a reference; of a table, the name of a column of
        candidates. Default, for a table: every column ``candidate:<system>``.
    metrics : a name, names, or settings by name, as for :func:`radeval_lib.score`. A table that has a column
        ``<metric>:<system>`` for every system is not scored anew: these scores count, and their mean.
    scores : by metric and system, scores that there are already, shape (n,). With these, ``systems`` may be
        left out.
    resamples : of the bootstrap, and of the randomization test unless that can enumerate.
    seed : of both.

    Returns
    -------
    Comparison

    Raises
    ------
    MetricError
        If there are fewer than two systems or cases, numbers of cases differ, a score is not a finite number,
        a column is not there, a metric or setting is unknown, or no metric can score.

    Example
    -------
    >>> references = ["Small left effusion.", "No pneumothorax.", "Heart size is normal."]
    >>> systems = {"a": references, "b": ["Small right effusion.", "No pneumothorax.", "Cardiomegaly."]}
    >>> compare(references, systems, metrics="rouge_l").pairs[["first", "second", "p"]].values.tolist()
    [['a', 'b', 0.5]]
    """
    settings = settings_by_name(metrics)
    if hasattr(references, "columns"):
        references, texts, ready = _of_table(references, systems, settings)
    else:
        texts, ready = dict(systems or {}), {}
    ready |= scores or {}
    names = list(texts) or list(dict.fromkeys(name for by_system in ready.values() for name in by_system))
    if len(names) < 2:
        remedy = f"Give at least two; found: {listed(names)}."
        raise MetricError(f"{len(names)} systems to compare", "systems", remedy)
    measured = {metric: _ready(metric, by_system, names) for metric, by_system in ready.items()}
    chosen = Chosen({}, {}, {})
    if wanted := {name: of for name, of in settings.items() if name not in ready}:
        pairs = [pair for name in names for pair in _pairs(references, texts.get(name), name)]
        chosen = choose(wanted)
        found = by_metric(chosen, lambda name: scored(chosen.metrics[name], pairs), tolerant=True)
        measured |= {name: _measured(chosen, name, found[name], names) for name in found}
    if not measured:
        raise MetricError("nothing to compare by", "metrics", "Name a metric, or give scores.")
    _check_cases(
        {(name, system): table for name, one in measured.items() for system, table in one.tables.items()}
    )
    of_systems, of_pairs = compare_systems(
        {name: one.tables for name, one in measured.items()},
        {name: one.values for name, one in measured.items()},
        resamples=resamples,
        seed=seed,
    )
    about = {name: one.about for name, one in measured.items()}
    return Comparison(of_systems, of_pairs, about, chosen.left_out, resamples, seed)


class _Measured(NamedTuple):
    """Statistics of the cases by system, the value from their sums, and how they were made."""

    tables: dict[str, FloatArray]
    values: OfSums
    about: dict[str, Any]


def _measured(chosen: Chosen, name: str, scores: Scores, systems: list[str]) -> _Measured:
    """What a metric found for the pairs of one system after another."""
    metric = chosen.metrics[name]
    table, values = metric.corpus(scores)
    about = {
        "signature": metric.signature(),
        "value": "mean" if type(metric).corpus is Metric.corpus else "corpus",
        "source": metric.citation,
        "models": described_models(metric),
        "note": chosen.stand_ins.get(name, ""),
    }
    return _Measured(dict(zip(systems, np.split(table, len(systems)), strict=True)), values, about)


def _ready(metric: str, by_system: Mapping[str, ArrayLike], systems: list[str]) -> _Measured:
    """Scores that are there already, of every system."""
    if set(by_system) != set(systems):
        remedy = f"Give those of {listed(systems)}."
        raise MetricError(f"there are scores of {listed(by_system)} alone", metric, remedy)
    tables = {}
    for system in systems:
        where = score_column(metric, f"{CANDIDATE}:{system}")
        array = _numbers(by_system[system], where)
        tables[system] = np.column_stack([array, np.ones(len(array))])
    return _Measured(tables, mean_of_sums, {"value": "mean"})


def _numbers(given: ArrayLike, where: str) -> FloatArray:
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.array([_number(value) for value in np.asarray(given, dtype=object).ravel()])
    if array.ndim != 1:
        raise MetricError(f"shape {array.shape}", where, "Give one score a case.")
    if (bad := np.flatnonzero(~np.isfinite(array))).size:
        remedy = "Give a finite number for every case, or leave the case out for all systems."
        raise MetricError("the score is missing, or no finite number", f"{where}, row {bad[0] + 1}", remedy)
    return array


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def _pairs(references: Sequence[str] | None, texts: Sequence[str] | None, name: str) -> list[tuple[str, str]]:
    for what, one in ((REFERENCE, references), (f"{CANDIDATE}:{name}", texts)):
        if one is None:
            raise MetricError(f"no column {plain(what, 40)!r}", "systems", "Give the texts, or scores.")
    try:
        return checked_pairs(references, texts)
    except MetricError as error:
        raise MetricError(error.what, f"system {name!r}: {error.where}".rstrip(": "), error.remedy) from None


def _of_table(
    frame: pd.DataFrame, systems: Mapping[str, Any] | None, metrics: Iterable[str]
) -> tuple[list[str] | None, dict[str, list[str]], dict[str, dict[str, Any]]]:
    """References, candidates by system, and scores that are there, of a table."""
    head = f"{CANDIDATE}:"
    columns = systems or {name.removeprefix(head): name for name in frame.columns if name.startswith(head)}
    for column in columns.values():
        if column not in frame:
            remedy = f"Columns: {listed(frame.columns)}."
            raise MetricError(f"no column {plain(str(column), 40)!r}", "systems", remedy)
    ready = {}
    for metric in metrics:
        scored_as = {
            name.removeprefix(f"{metric}:"): name for name in frame.columns if name.startswith(f"{metric}:")
        }
        kept = {
            name: list(frame[column]) for name, column in scored_as.items() if name in (columns or scored_as)
        }
        if kept:
            ready[metric] = kept
    texts = {name: list(frame[column]) for name, column in columns.items()}
    return list(frame[REFERENCE]) if REFERENCE in frame else None, texts, ready


def _check_cases(tables: Mapping[tuple[str, str], FloatArray]) -> None:
    """Whether all have the same cases, and more than one."""
    (first, expected), *rest = ((of, len(table)) for of, table in tables.items())
    for (metric, system), cases in rest:
        if cases != expected:
            what = f"{cases} scores of {system!r}, but {expected} of {first[1]!r}"
            raise MetricError(what, metric, "Give one a case, in the same order.")
    if expected < 2:
        raise MetricError(f"{expected} case(s)", "references", "Give at least two; more tell more.")


def _packages(metrics: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The packages beside numpy and scipy that the numbers of metrics depend on."""
    found = ["rouge-score"] if any(name.startswith("rouge") for name in metrics) else []
    return found + (["torch", "transformers"] if any(one.get("models") for one in metrics.values()) else [])


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {
            str(name): None if missing else value
            for (name, value), missing in zip(row.items(), gaps, strict=True)
        }
        for row, gaps in zip(frame.to_dict("records"), frame.isna().to_numpy(), strict=True)
    ]


def compare_files(
    path: str | Path,
    systems: Mapping[str, str] | None = None,
    *,
    candidates: Mapping[str, str | Path] | None = None,
    metrics: Wanted = (),
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Compare systems whose candidates stand in a file, or in one for each system.

    Parameters
    ----------
    path : CSV, TSV, JSON lines or Parquet, with a column ``reference``.
    systems : by the name of each system, its column of candidates or, where candidates come from a file of
        their own, nothing; default: every column ``candidate:<system>``.
    candidates : by the name of a system, a file with as many rows in the same order and a column ``candidate``,
        or columns ``<metric>`` as ``radbook score`` writes them. Where both files have a column ``id`` or
        ``reference``, it must be the same.
    metrics, resamples, seed : as for :func:`compare`.

    Raises
    ------
    MetricError
        As :func:`compare`, and where a file is missing or not of its format, or its rows are not those of
        ``path``.
    """
    import pandas as pd

    frame = pd.DataFrame(table(Path(path)))
    for name, other in (candidates or {}).items():
        theirs, where = pd.DataFrame(table(Path(other))), Path(other).name
        if len(theirs) != len(frame):
            remedy = "Rows are matched by position, so there must be as many."
            raise MetricError(f"{len(theirs)} rows, but {Path(path).name} has {len(frame)}", where, remedy)
        for key in ("id", REFERENCE):
            if key in frame and key in theirs and (odd := np.flatnonzero(frame[key] != theirs[key])).size:
                what = f"{key!r} is not that of {Path(path).name}"
                raise MetricError(what, f"{where}, row {odd[0] + 1}", "Put the rows in the same order.")
        kept = {CANDIDATE: f"{CANDIDATE}:{name}"}
        kept |= {metric: f"{metric}:{name}" for metric in settings_by_name(metrics)}
        found = {new: theirs[column] for column, new in kept.items() if column in theirs}
        if not found:
            raise MetricError(f"no column {CANDIDATE!r}", where, f"Columns: {listed(theirs.columns)}.")
        if doubled := [new for new in found if new in frame]:
            remedy = "Give the system another name."
            raise MetricError(f"there is already a column {doubled[0]!r}", Path(path).name, remedy)
        frame = frame.assign(**found)
        if systems is not None and CANDIDATE in theirs:
            systems = {**systems, name: f"{CANDIDATE}:{name}"}
    return compare(frame, systems, metrics=metrics, resamples=resamples, seed=seed)
