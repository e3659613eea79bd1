"""Comparison of systems that were scored on the same references, for ``radeval_lib.compare`` and ``radbook
compare``: values with confidence intervals, paired tests, and clusters of systems that do not differ
significantly."""

from __future__ import annotations

import math
import platform
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib import provenance
from radeval_lib.errors import list_names, to_line
from radeval_lib.metrics import scoring
from radeval_lib.metrics.base import Metric, MetricError, check_pairs
from radeval_lib.metrics.by_name import ChosenMetrics, Selection, choose, get, resolve_settings
from radeval_lib.metrics.cautions import Cautions
from radeval_lib.metrics.file_scoring import read_table
from radeval_lib.metrics.scoring import CANDIDATE, CONTEXT, DEFAULT, ID, REFERENCE
from radeval_lib.paths import BIBLIOGRAPHY
from radeval_lib.stats.base import FloatArray, Formula, number_groups
from radeval_lib.stats.inference import rule_of_three, wilson_interval
from radeval_lib.stats.resampling import ratio_of_sums
from radeval_lib.stats.system_comparison import LEVEL, compare_systems, significance_clusters

RESAMPLES = 10_000  # the default number of bootstrap resamples and of random exchanges
#: Two trivial systems, scored on request: the candidate of every row is the most frequent reference, or the
#: reference of the next row.
FLOOR = ("floor: one text", "floor: shuffled")
_NUMERIC = ("value", "difference", "low", "high", "p", "p_holm", "standardised")


@dataclass(frozen=True)
class Comparison:
    """A comparison of systems, which prints as a table and a sentence for each metric.

    Attributes
    ----------
    systems, pairs : the tables of :func:`radeval_lib.stats.system_comparison.compare_systems`; ``systems``
        also has a column ``cluster`` (Int64), which is 1 for the best systems and missing for a system that
        is not ranked.
    metrics : a mapping from each metric's name to a dictionary with the keys ``value`` (``corpus`` for a
        corpus score that is not a mean, else ``mean``); if this library has the metric, ``better``
        (``higher`` or ``lower``) and ``range`` (the lowest and highest score, None for no bound); and, unless
        the table already had the scores, ``signature``, ``source`` (BibTeX key), ``models``, ``note``
        (substitute models) and ``remark``.
    left_out : a mapping from each metric that could not score to the reason.
    cautions : cautions about texts, with their rows, and about intervals; :func:`compare_files` adds notes on
        files that are joined by position.
    verdicts : a mapping from metric to a sentence on the tests (:func:`rank_systems`). If more than one in
        twenty of a system's pairs have a caution, a sentence that calls the system better names the caution;
        if most of the candidates state nothing that can be judged, the system is not ranked.
    rows : the number of references; ``systems`` has the number of cases, each of which may have several rows.
    resamples, seed : the number of resamples, and the seed, of the intervals and tests.
    """

    systems: pd.DataFrame
    pairs: pd.DataFrame
    metrics: dict[str, dict[str, Any]]
    left_out: dict[str, str]
    cautions: list[str]
    verdicts: dict[str, str]
    rows: int
    resamples: int
    seed: int

    def __str__(self) -> str:
        """Return the comparison as plain text, without the table of all pairs."""
        return self.text()

    def _repr_html_(self) -> str:
        """Return the table of systems, followed by the verdicts, notes and cautions, as HTML."""
        notes = pd.DataFrame({"": [*self.verdicts.values(), *self._notes()]})
        with pd.option_context("display.max_colwidth", None):
            return self.table().to_html(index=False) + notes.to_html(index=False, header=False)

    def text(self, *, every: bool = False) -> str:
        """Return the table of systems, the verdicts, the notes and the cautions as plain text; with
        ``every``, also the table of all pairs."""
        paragraphs = [self.table().to_string(index=False), "\n".join(self.verdicts.values())]
        if every and len(self.pairs):
            paragraphs.append(self.all_pairs().to_string(index=False))
        return "\n\n".join(filter(None, [*paragraphs, "\n".join(self._notes())]))

    def _notes(self) -> list[str]:
        """Return one line for each note on a metric, each caution, and each metric left out, with the
        reason."""
        named_notes = [
            (name, entry.get(key)) for key in ("note", "remark") for name, entry in self.metrics.items()
        ]
        return [
            *(f"Note: {name}: {note}." for name, note in named_notes if note),
            *(f"Caution: {caution}." for caution in self.cautions),
            *(f"Left out: {name}: {why}" for name, why in self.left_out.items()),
        ]

    def table(self) -> pd.DataFrame:
        """Return a table for printing with a row for each metric and system, the best system first.

        The columns are metric, cluster (a dash if the system is not ranked), system, value, 95 % interval and
        cases. Values and intervals are strings.
        """
        sorted_systems = [
            part.sort_values("value", ascending=_is_lower_better(self.metrics[str(name)]), kind="stable")
            for name, part in self.systems.groupby("metric", sort=False)
        ]
        frame = self._format_numbers(pd.concat(sorted_systems))
        frame["cluster"] = frame["cluster"].astype(object).where(frame["cluster"].notna(), "–")
        return frame[["metric", "cluster", "system", "value", "95 % interval", "cases"]]

    def all_pairs(self) -> pd.DataFrame:
        """Return a table for printing with a row for each metric and pair of systems; numbers are strings."""
        frame = self._format_numbers(self.pairs).rename(columns={"p_holm": "p (Holm)"})
        more_cases = ["–" if pd.isna(number) else f"{number:,}" for number in frame.pop("more_cases")]
        names = ["metric", "first", "second", "difference", "95 % interval", "p", "p (Holm)", "standardised"]
        return frame[names].assign(**{"more cases for 80 % power": more_cases})

    def _format_numbers(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a table with numbers as strings of four significant digits (a dash for NaN), and with
        ``low`` and ``high`` combined in the column ``95 % interval``."""
        frame = frame.assign(metric=frame["metric"].map(self._make_label))
        for name in frame.columns.intersection(_NUMERIC):
            frame[name] = frame[name].map(lambda value: "–" if math.isnan(value) else f"{value:.4g}")
        frame["95 % interval"] = frame.pop("low") + " to " + frame.pop("high")
        return frame

    def _make_label(self, name: str) -> str:
        """Return a metric's name, the kind of its value and, if lower is better, a note that says so."""
        direction = ", lower is better" if _is_lower_better(self.metrics[name]) else ""
        return f"{name} ({self.metrics[name]['value']}{direction})"

    def methods(self) -> str:
        """Return a paragraph for the methods section of a paper; it cites the entries of :meth:`references`
        as ``[@key]``."""
        from radeval_lib.stats.inference import is_enumerated

        names = [name for name in dict.fromkeys(self.systems["system"]) if name not in FLOOR]
        cases, comparisons = int(self.systems["cases"].iloc[0]), len(self.pairs)
        grouping = f" of {cases:,} cases, whose rows were kept together" if cases < self.rows else ""
        text = (
            f"{len(names)} system{'s' * (len(names) > 1)} ({', '.join(names)}) "
            f"{'were' if len(names) > 1 else 'was'} scored on the same {self.rows:,} references{grouping}: "
            f"{'; '.join(map(self._describe_method, self.metrics))}. Values have 95 % percentile bootstrap "
            f"intervals over cases ({self.resamples:,} resamples, seed {self.seed}), widened for small "
            "samples [@hesterberg2015bootstrap]; a mean of exactly 0 or 1 has Wilson's. "
        )
        if comparisons:
            is_exact = is_enumerated(cases, self.resamples)
            listing = f"over all {2**cases:,} ways of exchanging their outputs (exact)" if is_exact else ""
            sampling = f"with {self.resamples:,} random exchanges of their outputs, p = (b + 1)/(n + 1)"
            correction = f"; p values were corrected over all {comparisons} comparisons [@holm1979]"
            text += (
                f"Pairs of systems were compared by two-sided paired randomization {listing or sampling} "
                f"[@riezler2005pitfalls]{correction * (comparisons > 1)}. "
            )
        text += "Cases were taken as independent; systems' training seeds were not varied. "
        uses_models = any({*entry.get("models", {})} - {"rules"} for entry in self.metrics.values())
        uses_rouge = any(name.startswith("rouge") for name in self.metrics)
        packages_used = ["radeval-lib", "numpy", "scipy"]
        packages_used += ["rouge-score"] * uses_rouge + ["torch", "transformers"] * uses_models
        packages = provenance.package_versions()
        software = [f"{name} {packages[name]}" for name in packages_used if name in packages]
        return f"{text}Software: Python {platform.python_version()}, {', '.join(software)}."

    def _describe_method(self, name: str) -> str:
        """Return a metric's name, source, signature and note, for :meth:`methods`."""
        entry = self.metrics[name]
        details = [f"signature `{entry['signature']}`" if "signature" in entry else "scores as given"]
        details += ["lower is better"] if _is_lower_better(entry) else []
        details += ["value of the corpus from summed counts"] if entry["value"] == "corpus" else []
        details += [entry["note"]] if entry.get("note") else []
        source = f" [@{entry['source']}]" if entry.get("source") else ""
        return f"{name}{source} ({'; '.join(details)})"

    def references(self) -> str:
        """Return the BibTeX entries that :meth:`methods` cites."""
        return select_bibtex(re.findall(r"\[@(\w+)\]", self.methods()))

    def as_dict(self) -> dict[str, Any]:
        """Return all attributes, the methods text, the references and the package versions as a JSON-ready
        dictionary; missing numbers are None, and the key of an attribute has blanks for underscores."""
        content = {
            name.replace("_", " "): (
                value.astype(object).where(value.notna(), None).to_dict("records")
                if isinstance(value, pd.DataFrame)
                else value
            )
            for name, value in vars(self).items()
        }
        texts = {"methods": self.methods(), "references": self.references()}
        return {**content, **texts, **provenance.environment()}


def _is_lower_better(description: Mapping[str, Any]) -> bool:
    """Return whether a metric's description, as in ``Comparison.metrics``, says that lower is better."""
    return description.get("better") == "lower"


def select_bibtex(keys: Iterable[str]) -> str:
    """Return the BibTeX entries of ``references.bib`` with these keys, in the file's order; unknown keys are
    ignored."""
    entries, unique_keys = re.split(r"\n(?=@)", BIBLIOGRAPHY.read_text(encoding="utf-8")), set(keys)
    cited = [entry.strip() for entry in entries if re.split(r"[{,]", entry, maxsplit=2)[1] in unique_keys]
    return "\n\n".join(cited)


def compare(
    references: Sequence[str] | pd.DataFrame,
    systems: Mapping[str, Sequence[str]] | Mapping[str, str] | None = None,
    *,
    metrics: Selection = (),
    resamples: int = RESAMPLES,
    seed: int = 0,
    floor: bool = False,
) -> Comparison:
    """Return each system's values with confidence intervals, and the tested differences between systems.

    Rows are taken as independent, unless a column ``case`` or ``patient`` says which belong together: then
    whole cases are resampled. A single system gets values with intervals, but no tests.

    Parameters
    ----------
    references : texts, or a DataFrame with a column ``reference``. If the DataFrame has a column
        ``<metric>:<system>`` for every system, the means of these scores are compared, and the metric is not
        computed. The rule-based judge uses the columns ``age`` and ``indication``.
    systems : a mapping from each system's name to its candidates, one per reference; for a DataFrame, to the
        name of the system's column of candidates. By default, every system is compared for which a DataFrame
        has a column ``candidate:<system>`` or ``<metric>:<system>`` or, if there is none, the column
        ``candidate``.
    metrics : a name, names, or a mapping from name to settings, as for :func:`radeval_lib.score`; by default,
        the weighted errors of the rule-based judge.
    resamples : the number of bootstrap resamples, and of random exchanges in the randomization test unless
        all exchanges can be enumerated; at least 100.
    seed : the seed of the resamples and exchanges; 0 or more.
    floor : whether to also score the trivial systems of :data:`FLOOR`, which are not tested; only possible
        for metrics that are computed from texts.

    Returns
    -------
    Comparison

    Raises
    ------
    MetricError
        If there is no system or fewer than two cases, a score is not a finite number, a column is missing or
        occurs twice, a text, case, age or system's name is malformed, a metric or setting is unknown, or
        ``resamples`` or ``seed`` is too small.
    RadevalError
        If no metric can score: the error of the first one.

    Example
    -------
    >>> references = ["Small left effusion.", "No pneumothorax.", "Heart size is normal."]
    >>> systems = {"a": references, "b": ["Small right effusion.", "No pneumothorax.", "Cardiomegaly."]}
    >>> compare(references, systems, metrics="rouge_l").pairs[["first", "second", "p"]].values.tolist()
    [['a', 'b', 0.5]]
    """
    for name, value, least in (("resamples", resamples, 100), ("seed", seed, 0)):
        if not isinstance(value, int | np.integer) or value < least:
            raise MetricError(f"{value!r} is not an integer >= {least}", name, f"Set it to {least} or more.")
    settings = resolve_settings(metrics or DEFAULT)
    frame, columns = _build_table(references, systems, settings)
    cases = number_groups("cases", scoring.list_cases(frame, "references"), len(frame))
    if len(np.unique(cases)) < 2:
        raise MetricError(f"fewer than two cases (rows: {len(frame)})", "references", "Add more cases.")
    cautions = Cautions()
    results, left_out = _score_systems(frame, columns, settings, cautions, floor=floor)
    tables = {name: scores.sum_by_case(cases) for name, scores in results.items()}
    descriptions = {name: scores.description for name, scores in results.items()}
    formulas = {name: scores.formula for name, scores in results.items()}
    systems_table, pairs_table = compare_systems(tables, formulas, resamples=resamples, seed=seed)
    tested_tables = {
        name: {system: table for system, table in system_tables.items() if system not in FLOOR}
        for name, system_tables in tables.items()
    }
    if floor:
        _, pairs_table = compare_systems(tested_tables, formulas, resamples=resamples, seed=seed)
    lines = cautions.lines()
    for name, system_tables in tested_tables.items():
        lines += _find_interval_cautions(name, system_tables, is_mean=descriptions[name]["value"] == "mean")
    clusters, verdicts = rank_systems(systems_table, pairs_table, descriptions, cautions)
    for index, row in systems_table.iterrows():
        description, count = descriptions[row["metric"]], int(row["cases"])
        is_share = description["value"] == "mean" and description.get("range") == [0.0, 1.0]
        if is_share and row["value"] in (0.0, 1.0):  # A bootstrap interval would have no width.
            systems_table.loc[index, ["low", "high"]] = wilson_interval(int(row["value"] * count), count)
    return Comparison(
        systems=systems_table.assign(cluster=clusters),
        pairs=pairs_table,
        metrics=descriptions,
        left_out=left_out,
        cautions=lines,
        verdicts=verdicts,
        rows=len(frame),
        resamples=resamples,
        seed=seed,
    )


def compare_files(
    path: str | Path,
    systems: Mapping[str, str] | None = None,
    *,
    candidates: Mapping[str, str | Path] | None = None,
    metrics: Selection = (),
    floor: bool = False,
) -> Comparison:
    """Return the comparison of systems whose candidates are in one CSV, TSV or JSON Lines file, or in one
    file per system.

    Parameters
    ----------
    path : the main file, with a column ``reference`` or columns of scores.
    systems : a mapping from each system's name to its column of candidates in the main file; by default, the
        columns that :func:`compare` chooses.
    candidates : a mapping from the name of each further system to its file, which has a column ``candidate``,
        or columns ``<metric>`` as ``radbook score`` writes them. If the main file has a column ``id``, rows
        are joined on it and on the system file's ``id`` or, without one, on a column that only the system's
        file has and that has the same ids; otherwise, rows are joined by position. Any other column that both
        files have, except ``candidate``, must have equal values in every row.
    metrics, floor : as for :func:`compare`.

    Raises
    ------
    MetricError
        In the same cases as :func:`compare`, or if a file is missing or malformed, the system of the
        main file's column ``candidate`` has no name, a system's file has no column to compare, two systems
        have the same name, or rows cannot be joined.
    """
    frame, columns, notes = read_table(Path(path)), dict(systems or {}), list[str]()
    main_file = Path(path).name
    if candidates and not columns and CANDIDATE in frame:
        remedy = f"Name it: --system NAME={CANDIDATE}, or in Python systems={{NAME: {CANDIDATE!r}}}."
        raise MetricError(f"the system of column {CANDIDATE!r} has no name", main_file, remedy)
    for name, file in (candidates or {}).items():
        if name in columns or f"{CANDIDATE}:{name}" in frame:
            raise MetricError(f"two systems are called {name!r}", "candidates", "Rename one.")
        rows = read_table(Path(file))
        key = ID if ID in frame else ""
        if key and ID not in rows:
            ids = set(frame[ID].map(str))
            same_ids = (column for column in rows if column not in frame and {*rows[column].map(str)} == ids)
            key = next(same_ids, "")
        if not key and ID in {*frame, *rows}:
            file_without_ids = Path(file).name if ID in frame else main_file
            reason = f"because {file_without_ids} has no column {ID!r}"
            notes.append(f"{name} is joined to {main_file} by position, {reason}")
        rows = _join_rows(frame, rows, key, main_file, Path(file).name)
        names = [column for column in (CANDIDATE, *resolve_settings(metrics or DEFAULT)) if column in rows]
        if not names:
            remedy = f"{scoring.list_columns(rows.columns)} Rename the column of candidates to {CANDIDATE!r}."
            problem = f"no column {CANDIDATE!r}, and none named after a requested metric"
            raise MetricError(problem, Path(file).name, remedy)
        frame = frame.assign(**{f"{column}:{name}": rows[column].tolist() for column in names})
        if columns:
            columns[name] = f"{CANDIDATE}:{name}"
    compared = compare(frame, columns or None, metrics=metrics, floor=floor)
    return replace(compared, cautions=[*notes, *compared.cautions])


def _join_rows(frame: pd.DataFrame, rows: pd.DataFrame, key: str, main_file: str, where: str) -> pd.DataFrame:
    """Return the rows of a system's file in the order of the main file's rows.

    Parameters
    ----------
    frame : the rows of the main file.
    rows : the rows of the system's file.
    key : the column of ``rows`` that has the main file's ids; empty to keep the order.
    main_file, where : the names of the two files, for errors.

    Raises
    ------
    MetricError
        If the files differ in the number of rows, in the ids or in a column that both have, or if an id
        occurs twice in a file.
    """
    if len(rows) != len(frame):
        problem = f"{len(rows)} rows, but {main_file} has {len(frame)}"
        raise MetricError(problem, where, f"Give both files one row per reference of {main_file}.")
    if key:  # Ids are compared as strings, because a number in JSON Lines is a string in CSV.
        ids, row_ids = frame[ID].map(str), rows[key].map(str)
        if ids.duplicated().any() or set(ids) != set(row_ids):
            problem = "an id occurs twice" if row_ids.duplicated().any() else f"ids differ from {main_file}'s"
            problem = f"an id occurs twice in {main_file}" if ids.duplicated().any() else problem
            remedy = "Give each row a unique id, the same in both files."
            raise MetricError(problem, f"{where}, column {key!r}", remedy)
        rows = rows.set_axis(row_ids).loc[ids].reset_index(drop=True)
    for name in frame.columns.intersection(rows.columns).difference([CANDIDATE, ID]):
        differs = (frame[name].map(str) != rows[name].map(str)).to_numpy()
        if differs.any():
            problem = f"column {to_line(str(name), 30)!r} differs from that of {main_file}"
            remedy = (
                "Give equal values in the same order, join the files on a column `id`, or rename the column."
            )
            raise MetricError(problem, f"{where}, for row {int(differs.argmax()) + 1} of {main_file}", remedy)
    return rows


def _build_table(
    references: Sequence[str] | pd.DataFrame, systems: Mapping[str, Any] | None, metrics: Iterable[str]
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return a table of references and candidates, and a mapping from system to its column of candidates.

    Raises
    ------
    MetricError
        If no system is named, a system's name is not allowed, two columns have the same name, or texts are
        malformed or differ in number.
    """
    if not isinstance(references, pd.DataFrame):
        if not isinstance(systems, Mapping):
            problem = f"expected a mapping, got {type(systems).__name__}"
            raise MetricError(problem, "systems", "Pass a dict {system name: candidates}.")
        for name, texts in systems.items():
            try:
                check_pairs(references, texts)
            except MetricError as error:
                raise MetricError(error.what, f"{error.where}, system {name!r}", error.remedy) from None
        columns_of_texts = {f"{CANDIDATE}:{name}": list(texts) for name, texts in systems.items()}
        references = pd.DataFrame({REFERENCE: list(references), **columns_of_texts}, dtype=object)
        systems = None
    frame, names = references, [str(name) for name in references.columns]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise MetricError(f"column {to_line(repeated[0], 30)!r} is not unique", "references", "Rename one.")
    prefixes = (f"{CANDIDATE}:", *(f"{metric}:" for metric in metrics))
    named_systems = dict.fromkeys(name.partition(":")[2] for name in names if name.startswith(prefixes))
    single_column = {CANDIDATE: CANDIDATE} if CANDIDATE in names else {}
    columns = dict(systems or {name: f"{CANDIDATE}:{name}" for name in named_systems} or single_column)
    if not columns:
        remedy = "Name each system's column: --system NAME=COLUMN, or in Python systems={NAME: COLUMN}."
        remedy = f"{scoring.list_columns(names)} {remedy}"
        raise MetricError("no column of candidates is named", "systems", remedy)
    for name, column in columns.items():
        if not isinstance(column, str):
            problem = f"the column of system {name!r} has type {type(column).__name__}, expected str"
            raise MetricError(problem, "systems", "For a DataFrame, pass {system name: column}.")
        if not isinstance(name, str) or to_line(name, 80) != name or name in FLOOR:
            problem = f"system name {name!r} is reserved or not a printable string of at most 80 characters"
            raise MetricError(problem, "systems", "Use a different printable name of at most 80 characters.")
    return frame.reset_index(drop=True), columns


def _select_texts(frame: pd.DataFrame, columns: Mapping[str, str], floor: bool) -> pd.DataFrame | None:
    """Return a table of texts with a column ``candidate:<system>`` for each system and, with ``floor``, for
    each trivial system of :data:`FLOOR`; None if a column of texts is missing from ``frame``.

    The columns ``id``, ``age`` and ``indication`` are kept. ``columns`` maps each system to its column.
    """
    if REFERENCE not in frame or not set(columns.values()) <= set(frame.columns):
        return None
    extra_columns = [name for name in (ID, *CONTEXT) if name in frame]
    texts = frame[[REFERENCE, *extra_columns]].assign(
        **{f"{CANDIDATE}:{system}": frame[column] for system, column in columns.items()}
    )
    if floor:
        references = list(frame[REFERENCE])
        texts[f"{CANDIDATE}:{FLOOR[0]}"] = Counter(references).most_common(1)[0][0]
        texts[f"{CANDIDATE}:{FLOOR[1]}"] = references[1:] + references[:1]
    return texts


class _MetricScores(NamedTuple):
    """One metric's results for several systems.

    Attributes
    ----------
    tables : a mapping from system to the statistics of its rows, shape (rows, k).
    formula : the function from sums of rows to the metric's value.
    description : the description of the metric, as in ``Comparison.metrics``.
    """

    tables: dict[str, FloatArray]
    formula: Formula
    description: dict[str, Any]

    def sum_by_case(self, cases: NDArray[np.intp]) -> dict[str, FloatArray]:
        """Return a mapping from system to its statistics summed over the rows of each case, shape (cases, k).

        ``cases`` has the number of each row's case, counted from 0.
        """
        sums = {}
        for system, statistics in self.tables.items():
            sums[system] = np.zeros((int(cases.max()) + 1, statistics.shape[1]))
            np.add.at(sums[system], cases, statistics)
        return sums


def _score_systems(
    frame: pd.DataFrame,
    columns: Mapping[str, str],
    settings: Mapping[str, Mapping[str, Any]],
    cautions: Cautions,
    *,
    floor: bool,
) -> tuple[dict[str, _MetricScores], dict[str, str]]:
    """Return a mapping from metric to its results for every system, read from the table or computed, and a
    mapping from each metric left out to the reason.

    The cautions about the pairs are counted in ``cautions``.

    Raises
    ------
    MetricError
        If a metric must be computed and a column of texts is missing; or if texts, ages or scores are
        malformed.
    RadevalError
        If no metric can score: the error of the first one.
    """
    scores_by_metric = {
        name: _read_scores(name, frame, columns)
        for name in settings
        if any(f"{name}:{system}" in frame for system in columns)
    }
    new_settings = {name: settings[name] for name in settings if name not in scores_by_metric}
    texts = _select_texts(frame, columns, floor)
    if texts is None:
        if new_settings:
            missing_column = next(name for name in (REFERENCE, *columns.values()) if name not in frame)
            remedy = f"Add the column of texts, or scores of {list_names(new_settings)} for every system."
            raise MetricError(f"no column {to_line(missing_column, 40)!r}", "references", remedy)
        return scores_by_metric, {}
    chosen = choose(new_settings) if new_settings else ChosenMetrics({}, {}, {})
    evaluation = scoring.evaluate(texts, chosen.metrics, "references")
    chosen.leave_out(evaluation.failed)
    systems = [scoring.get_system(column) or CANDIDATE for column in evaluation.columns]
    scores_by_metric |= {name: _collect_scores(chosen, name, evaluation, systems) for name in chosen.metrics}
    cautions.metrics = list(scores_by_metric)
    evaluation.add_cautions(cautions, texts.get(ID, ()), exempt_systems=FLOOR)
    return scores_by_metric, chosen.left_out


def _collect_scores(
    chosen: ChosenMetrics, name: str, evaluation: scoring.Evaluation, systems: list[str]
) -> _MetricScores:
    """Return a computed metric's results, split by system."""
    metric, scores = chosen.metrics[name], evaluation.scored[name].scores
    assert scores is not None
    statistics, formula = metric.corpus(scores)
    of_corpus = bool(metric.corpus_variant)
    description = {
        "value": "corpus" if of_corpus else "mean",
        "signature": metric.signature(in_context=evaluation.contexts is not None, of_corpus=of_corpus),
        "source": metric.citation,
        **_describe_direction(metric),
        "models": metric.list_model_ids(),
        "note": chosen.substitutes.get(name, ""),
        "remark": metric.remark,
    }
    tables = {system: statistics[index :: len(systems)] for index, system in enumerate(systems)}
    return _MetricScores(tables, formula, description)


def _describe_direction(metric: Metric | type[Metric]) -> dict[str, Any]:
    """Return a dictionary of ``better`` (``higher`` or ``lower``) and ``range`` (None for no bound)."""
    bounds = [bound if math.isfinite(bound) else None for bound in metric.range]
    return {"better": "higher" if metric.higher_is_better else "lower", "range": bounds}


def _read_scores(metric: str, frame: pd.DataFrame, columns: Mapping[str, str]) -> _MetricScores:
    """Return every system's results by a metric whose scores the table already has.

    Raises
    ------
    MetricError
        If a system's column of scores is missing, or a score is not a finite number.
    """
    tables = {}
    for system in columns:
        column = scoring.name_column(metric, f"{CANDIDATE}:{system}")
        if column not in frame:
            problem = f"no column {to_line(column, 60)!r}"
            raise MetricError(problem, "references", f"Add {metric}'s scores for every system or none.")
        numbers = pd.to_numeric(frame[column], errors="coerce").to_numpy(np.float64)
        if (is_missing := ~np.isfinite(numbers)).any():
            where = f"column {to_line(column, 60)!r}, row {int(is_missing.argmax()) + 1}"
            remedy = "Write a finite number in the cell, or remove the row."
            raise MetricError("the score is missing or not a finite number", where, remedy)
        tables[system] = np.column_stack([numbers, np.ones(len(numbers))])
    description: dict[str, Any] = {"value": "mean"}
    with suppress(MetricError):  # The user may have named a metric that this library does not have.
        description |= _describe_direction(get(metric))
    return _MetricScores(tables, ratio_of_sums, description)


def _find_interval_cautions(metric: str, tables: Mapping[str, FloatArray], *, is_mean: bool) -> Iterator[str]:
    """Yield a caution for each system in which fewer than ten cases, and fewer than have the most frequent
    score, have another score.

    Ten is a rule of thumb. If all cases have the same score, the caution gives the bound of the rule of three
    (Hanley and Lippman-Hand 1983).

    Parameters
    ----------
    metric : the name of the metric, with which each caution begins.
    tables : a mapping from system to the statistics of its cases, shape (cases, k).
    is_mean : whether the statistics of a case are the sum and the number of its scores, so that their ratio
        is compared.
    """
    for system, statistics in tables.items():
        count = len(statistics)
        scores = statistics[:, :1] / statistics[:, 1:] if is_mean else statistics
        mode_count = int(np.unique(scores, axis=0, return_counts=True)[1].max())
        if mode_count == count:
            bound = f"at most {rule_of_three(count):.2g} of all cases score otherwise (95 %, 3/{count:,})"
            yield f"{metric}: all {count:,} cases of {system} have the same score: {bound}"
        elif count - mode_count < min(10, mode_count):
            cases = f"{mode_count:,} of {count:,} cases"
            yield f"{metric}: {cases} of {system} have the same score; the interval may be too narrow"


def rank_systems(
    systems: pd.DataFrame, pairs: pd.DataFrame, metrics: Mapping[str, Mapping[str, Any]], cautions: Cautions
) -> tuple[pd.api.extensions.ExtensionArray, dict[str, str]]:
    """Return the cluster of each row of ``systems``, and for each metric a sentence that sums up the tests.

    Parameters
    ----------
    systems, pairs : the tables of :func:`radeval_lib.stats.system_comparison.compare_systems`.
    metrics : a mapping from metric to its description, as in ``Comparison.metrics``.
    cautions : the cautions about the scored pairs, which the sentences repeat. A system for which
        :meth:`~radeval_lib.metrics.cautions.Cautions.is_silent` is True is not ranked.

    Returns
    -------
    clusters : Int64, 1 for the best systems; missing for a system that is not ranked.
    sentences : a mapping from metric to a sentence that names the differences between neighbouring systems of
        different clusters or, if all systems are in one cluster, the significant difference with the smallest
        p value, or says that there is none; and the systems that are not ranked. A metric with one system,
        which is ranked, has no sentence.
    """
    clusters, sentences = dict[tuple[str, str], int](), dict[str, str]()
    for metric, part in systems.groupby("metric", sort=False):
        name, values = str(metric), part.set_index("system")["value"].drop([*FLOOR], errors="ignore")
        metric_pairs = pairs[pairs["metric"] == name].itertuples()
        tests = {names: test for test in metric_pairs for names in permutations((test.first, test.second))}
        best_first = values.sort_values(ascending=_is_lower_better(metrics[name]), kind="stable").index
        ranked = [system for system in best_first if not cautions.is_silent(system, name)]
        significant = [pair for pair in combinations(ranked, 2) if tests[pair].p_holm < LEVEL]
        numbers = significance_clusters(ranked, lambda *pair: pair in significant)  # noqa: B023
        clusters |= {(name, system): number for system, number in zip(ranked, numbers, strict=True)}
        steps = zip(pairwise(ranked), pairwise(numbers), strict=True)
        leads = [pair for pair, (above, below) in steps if below > above]
        if significant and not leads:
            order_of = {pair: (tests[pair].p, -abs(tests[pair].difference)) for pair in significant}
            leads = [min(significant, key=order_of.__getitem__)]
        clauses = [_phrase_lead(name, metrics[name], tests[pair], pair, values, cautions) for pair in leads]
        if len(ranked) > 1 and not significant:
            clauses.append("no difference between systems is established after correction")
        doubts = ((system, cautions.summarize(system, name)) for system in best_first if system not in ranked)
        clauses += [f"{system} is not ranked, because {doubt}" for system, doubt in doubts]
        if clauses:
            sentences[name] = f"{name}: {'; '.join(clauses)}."
    row_clusters = [clusters.get(key) for key in zip(systems["metric"], systems["system"], strict=True)]
    return pd.array(row_clusters, dtype="Int64"), sentences


def _phrase_lead(
    metric: str,
    description: Mapping[str, Any],
    test: Any,
    pair: tuple[str, str],
    values: pd.Series[float],
    cautions: Cautions,
) -> str:
    """Return a clause that calls the first of a pair of systems better (or higher-scoring, if ``description``
    does not say what is better), with both values, the difference, its interval and p value, and the cautions
    about both systems."""
    first, second = pair
    verb = "is better than" if "better" in description else "scores higher than"
    low, high = sorted((test.low, test.high)) if test.difference >= 0 else sorted((-test.high, -test.low))
    numbers = f"{values[first]:.3g} against {values[second]:.3g}"
    numbers += f", a difference of {abs(test.difference):.3g} [{low:.3g}, {high:.3g}]"
    caution_texts = [f"for {name}, {text}" for name in pair if (text := cautions.summarize(name, metric))]
    caution_clause = f", but {'; '.join(caution_texts)}" if caution_texts else ""
    return f"{first} {verb} {second} ({numbers}, p = {test.p_holm:.2g}){caution_clause}"
