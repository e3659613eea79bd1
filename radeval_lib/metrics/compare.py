"""Comparison of systems that were scored on the same references, for ``radeval_lib.compare`` and ``radbook
compare``: values with intervals, paired tests, and clusters of systems that do not differ significantly."""

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
from radeval_lib.metrics.by_name import Chosen, Wanted, choose, get, resolve_settings
from radeval_lib.metrics.cautions import Cautions
from radeval_lib.metrics.file_scoring import read_table
from radeval_lib.metrics.scoring import CANDIDATE, CONTEXT, DEFAULT, ID, REFERENCE
from radeval_lib.paths import REFERENCES
from radeval_lib.stats.base import FloatArray, Formula, number_groups
from radeval_lib.stats.inference import rule_of_three, wilson_interval
from radeval_lib.stats.resampling import ratio_of_sums
from radeval_lib.stats.system_comparison import LEVEL, compare_systems, significance_clusters

RESAMPLES = 10_000  # the default number of bootstrap resamples and of random exchanges
#: Two trivial systems that are scored on request: the most frequent reference as candidate of every row, and
#: the reference of the next row.
FLOOR = ("floor: one text", "floor: shuffled")
_NUMERIC = ("value", "difference", "low", "high", "p", "p_holm", "standardised")


@dataclass(frozen=True)
class Comparison:
    """The results of comparing systems; it prints as a table and a sentence for each metric.

    Attributes
    ----------
    systems, pairs : the tables of :func:`radeval_lib.stats.system_comparison.compare_systems`; ``systems``
        also has a column ``cluster`` (Int64), 1 for the best systems; missing for a system that is not
        ranked.
    metrics : by name, a dictionary: ``value`` (``mean``, or ``corpus`` if the value of the corpus is not a
        mean) and, unless the table already had the scores, ``signature``, ``source`` (BibTeX key), ``better``
        (``higher`` or ``lower``), ``range``, ``models``, ``note`` (substitute models) and ``remark``.
    left_out : by metric that could not score, the reason.
    cautions : cautions about texts, with their rows, and about intervals.
    verdicts : by metric, a sentence on the tests. If more than one in twenty of a system's pairs has a
        caution, a sentence that calls the system better names the caution; if most of its candidates state
        nothing that can be judged, the system is not ranked.
    rows : the number of references; ``systems`` has the number of cases, which may have several rows.
    resamples, seed : the number of resamples and the seed of the intervals and tests.
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
        """Return the text of :meth:`text`, without the table of all pairs."""
        return self.text()

    def _repr_html_(self) -> str:
        """Return the table of systems, and below it the verdicts, notes and cautions, as HTML."""
        notes = pd.DataFrame({"": [*self.verdicts.values(), *self._notes()]})
        with pd.option_context("display.max_colwidth", None):
            return self.table().to_html(index=False) + notes.to_html(index=False, header=False)

    def text(self, *, every: bool = False) -> str:
        """Return the table of systems, the verdicts, with ``every`` the table of all pairs, and the notes and
        cautions, as plain text."""
        paragraphs = [self.table().to_string(index=False), "\n".join(self.verdicts.values())]
        if every and len(self.pairs):
            paragraphs.append(self.all_pairs().to_string(index=False))
        return "\n\n".join(filter(None, [*paragraphs, "\n".join(self._notes())]))

    def _notes(self) -> list[str]:
        """Return the notes on metrics, the cautions, and the metrics left out with the reason, a line
        each."""
        texts_by_metric = [
            (name, about.get(kind)) for kind in ("note", "remark") for name, about in self.metrics.items()
        ]
        return [
            *(f"Note: {name}: {text}." for name, text in texts_by_metric if text),
            *(f"Caution: {caution}." for caution in self.cautions),
            *(f"Left out: {name}: {why}" for name, why in self.left_out.items()),
        ]

    def table(self) -> pd.DataFrame:
        """Return a table for print with a row for each metric and system, the best system first.

        Columns: metric, cluster (a dash if the system is not ranked), system, value, 95 % interval, cases.
        Values and intervals are texts.
        """
        sorted_systems = [
            part.sort_values("value", ascending=_is_lower_better(self.metrics[str(name)]), kind="stable")
            for name, part in self.systems.groupby("metric", sort=False)
        ]
        frame = self._format_numbers(pd.concat(sorted_systems))
        frame["cluster"] = frame["cluster"].astype(object).where(frame["cluster"].notna(), "–")
        return frame[["metric", "cluster", "system", "value", "95 % interval", "cases"]]

    def all_pairs(self) -> pd.DataFrame:
        """Return a table for print with a row for each metric and pair of systems; numbers are texts."""
        frame = self._format_numbers(self.pairs).rename(columns={"p_holm": "p (Holm)"})
        needed = ["–" if pd.isna(number) else f"{number:,}" for number in frame.pop("more_cases")]
        shown = ["metric", "first", "second", "difference", "95 % interval", "p", "p (Holm)", "standardised"]
        return frame[shown].assign(**{"more cases for 80 % power": needed})

    def _format_numbers(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a table with numbers as texts of four significant digits (a dash for NaN), and with ``low``
        and ``high`` in one column."""
        frame = frame.assign(metric=frame["metric"].map(self._make_label))
        for name in frame.columns.intersection(_NUMERIC):
            frame[name] = frame[name].map(lambda value: "–" if math.isnan(value) else f"{value:.4g}")
        frame["95 % interval"] = frame.pop("low") + " to " + frame.pop("high")
        return frame

    def _make_label(self, name: str) -> str:
        """Return a metric's name with the kind of its value and, if lower is better, its direction."""
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
            corrected = f"; p values were corrected over all {comparisons} comparisons [@holm1979]"
            text += (
                f"Pairs of systems were compared by two-sided paired randomization {listing or sampling} "
                f"[@riezler2005pitfalls]{corrected * (comparisons > 1)}. "
            )
        text += "Cases were taken as independent; systems' training seeds were not varied. "
        uses_models = any(set(about.get("models", {})) - {"rules"} for about in self.metrics.values())
        uses_rouge = any(name.startswith("rouge") for name in self.metrics)
        packages_used = ["radeval-lib", "numpy", "scipy"]
        packages_used += ["rouge-score"] * uses_rouge + ["torch", "transformers"] * uses_models
        packages = provenance.package_versions()
        software = [f"{name} {packages[name]}" for name in packages_used if name in packages]
        return f"{text}Software: Python {platform.python_version()}, {', '.join(software)}."

    def _describe_method(self, name: str) -> str:
        """Return a metric's name with its source, signature and note, for :meth:`methods`."""
        about = self.metrics[name]
        details = [f"signature `{about['signature']}`" if "signature" in about else "scores as given"]
        details += ["lower is better"] if _is_lower_better(about) else []
        details += ["value of the corpus from summed counts"] if about["value"] == "corpus" else []
        details += [about["note"]] if about.get("note") else []
        source = f" [@{about['source']}]" if about.get("source") else ""
        return f"{name}{source} ({'; '.join(details)})"

    def references(self) -> str:
        """Return the BibTeX entries that :meth:`methods` cites."""
        return select_bibtex(re.findall(r"\[@(\w+)\]", self.methods()))

    def as_dict(self) -> dict[str, Any]:
        """Return all attributes, methods text, references and package versions as a dictionary for JSON; a
        missing number is None."""
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


def _is_lower_better(about: Mapping[str, Any]) -> bool:
    """Return whether the description of a metric says that lower scores are better."""
    return about.get("better") == "lower"


def select_bibtex(keys: Iterable[str]) -> str:
    """Return the BibTeX entries of ``references.bib`` with these keys, in the file's order; unknown keys are
    ignored."""
    entries, cited = re.split(r"\n(?=@)", REFERENCES.read_text(encoding="utf-8")), set(keys)
    kept = [entry.strip() for entry in entries if re.split(r"[{,]", entry, maxsplit=2)[1] in cited]
    return "\n\n".join(kept)


def compare(
    references: Sequence[str] | pd.DataFrame,
    systems: Mapping[str, Sequence[str]] | Mapping[str, str] | None = None,
    *,
    metrics: Wanted = (),
    resamples: int = RESAMPLES,
    seed: int = 0,
    floor: bool = False,
) -> Comparison:
    """Return each system's values with intervals, and the differences between systems with tests.

    Rows are taken as independent, unless a column ``case`` or ``patient`` says which belong together: then
    cases are resampled, with all their rows. A single system gets its values with intervals.

    Parameters
    ----------
    references : texts; or a pandas table with a column ``reference``. If the table has a column
        ``<metric>:<system>`` for every system, these scores are compared by their mean, and nothing is scored
        again. The rule-based judge uses the columns ``age`` and ``indication``.
    systems : by the name of each system, its candidates, one per reference; for a table, the name of its
        column of candidates. Default for a table: every column ``candidate:<system>``, or ``candidate``
        alone.
    metrics : a name, names, or settings by name, as for :func:`radeval_lib.score`; default: the weighted
        errors of the rule-based judge.
    resamples : the number of resamples of the bootstrap, and of random exchanges in the randomization test
        unless all can be enumerated; at least 100.
    seed : the seed of both; 0 or more.
    floor : whether to score the trivial systems of :data:`FLOOR` too, which are not tested. This needs texts;
        metrics whose scores the table already has get no floor.

    Returns
    -------
    Comparison

    Raises
    ------
    MetricError
        If there is no system or fewer than two cases, a score is not a finite number, a column is missing, a
        metric or setting is unknown, no metric can score, or ``resamples`` or ``seed`` is too small.

    Example
    -------
    >>> references = ["Small left effusion.", "No pneumothorax.", "Heart size is normal."]
    >>> systems = {"a": references, "b": ["Small right effusion.", "No pneumothorax.", "Cardiomegaly."]}
    >>> compare(references, systems, metrics="rouge_l").pairs[["first", "second", "p"]].values.tolist()
    [['a', 'b', 0.5]]
    """
    for name, value, least in (("resamples", resamples, 100), ("seed", seed, 0)):
        if not isinstance(value, int | np.integer) or value < least:
            raise MetricError(f"{name} is {value}", name, f"Give a whole number, {least} or more.")
    settings = resolve_settings(metrics or DEFAULT)
    frame, columns = _build_table(references, systems, settings)
    cases = number_groups("cases", scoring.cases_of(frame, "references"), len(frame))
    if len(np.unique(cases)) < 2:
        raise MetricError("fewer than two cases", "references", "Give rows of at least two cases.")
    cautions = Cautions(settings)
    measured, left_out = _score_systems(frame, columns, settings, cautions, floor=floor)
    tables = {name: part.by_case(cases) for name, part in measured.items()}
    about = {name: part.about for name, part in measured.items()}
    values = {name: part.value for name, part in measured.items()}
    systems_table, pairs_table = compare_systems(tables, values, resamples=resamples, seed=seed)
    tested_tables = {
        name: {system: part for system, part in by_system.items() if system not in FLOOR}
        for name, by_system in tables.items()
    }
    if floor:
        _, pairs_table = compare_systems(tested_tables, values, resamples=resamples, seed=seed)
    caution_lines = cautions.lines()
    for name, by_system in tested_tables.items():
        caution_lines += _find_interval_cautions(name, by_system, mean=about[name]["value"] == "mean")
    clusters, verdicts = rank_systems(systems_table, pairs_table, about, cautions)
    for index, row in systems_table.iterrows():
        about_metric, count = about[row["metric"]], int(row["cases"])
        is_share = about_metric["value"] == "mean" and about_metric.get("range") == [0.0, 1.0]
        if is_share and row["value"] in (0.0, 1.0):  # The bootstrap's interval would have no width.
            systems_table.loc[index, ["low", "high"]] = wilson_interval(int(row["value"] * count), count)
    return Comparison(
        systems=systems_table.assign(cluster=clusters),
        pairs=pairs_table,
        metrics=about,
        left_out=left_out,
        cautions=caution_lines,
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
    metrics: Wanted = (),
    floor: bool = False,
) -> Comparison:
    """Return the comparison of systems whose candidates are in one CSV, TSV or JSON Lines file, or in a file
    for each system.

    Parameters
    ----------
    path : the main file, with a column ``reference`` or columns of scores.
    systems : by the name of each system, its column of candidates in the main file; default: every column
        ``candidate:<system>``.
    candidates : by the name of a further system, its file with a column ``candidate``, or with columns
        ``<metric>`` as ``radbook score`` writes them. If the main file has a column ``id``, rows are joined
        by it and by the column ``id`` of the system's file, or a column there with the same values; else by
        position. Any other column that both files have must have equal values in every row.
    metrics, floor : as for :func:`compare`.

    Raises
    ------
    MetricError
        As :func:`compare`, or if a file is malformed, two systems have one name, or rows cannot be joined.
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
            without_ids = Path(file).name if ID in frame else main_file
            how = f"by position, because {without_ids} has no column {ID!r}"
            notes.append(f"{name} is joined to {main_file} {how}")
        rows = _join_rows(frame, rows, key, main_file, Path(file).name)
        wanted = [column for column in (CANDIDATE, *resolve_settings(metrics or DEFAULT)) if column in rows]
        if not wanted:
            remedy = f"{scoring.list_columns(rows.columns)} Rename the column of candidates to {CANDIDATE!r}."
            problem = f"no column {CANDIDATE!r}, and none called after a requested metric"
            raise MetricError(problem, Path(file).name, remedy)
        frame = frame.assign(**{f"{column}:{name}": rows[column].tolist() for column in wanted})
        if columns:
            columns[name] = f"{CANDIDATE}:{name}"
    compared = compare(frame, columns or None, metrics=metrics, floor=floor)
    return replace(compared, cautions=[*notes, *compared.cautions])


def _join_rows(frame: pd.DataFrame, rows: pd.DataFrame, key: str, main_file: str, where: str) -> pd.DataFrame:
    """Return the rows of a system's file in the order of the main file's rows.

    Parameters
    ----------
    frame : the rows of the main file, whose name is ``main_file``.
    rows : the rows of the system's file, whose name is ``where``.
    key : the column of ``rows`` that has the main file's ids; empty to keep the order.

    Raises
    ------
    MetricError
        If the numbers of rows differ, ids are not unique or differ, or a column of both files differs.
    """
    if len(rows) != len(frame):
        problem = f"{len(rows)} rows, but {main_file} has {len(frame)}"
        raise MetricError(problem, where, f"Give both files one row per reference of {main_file}.")
    if key:  # Ids are compared as texts, because numbers of JSON lines are texts in CSV.
        ids, row_ids = frame[ID].map(str), rows[key].map(str)
        if ids.duplicated().any() or set(ids) != set(row_ids):
            is_repeated = ids.duplicated().any() or row_ids.duplicated().any()
            problem = "an id occurs twice" if is_repeated else f"the ids differ from {main_file}'s"
            remedy = "Give each row a unique id, the same in both files."
            raise MetricError(problem, f"{where}, column {key!r}", remedy)
        rows = rows.set_axis(row_ids).loc[ids].reset_index(drop=True)
    for name in frame.columns.intersection(rows.columns).difference([CANDIDATE, ID]):
        differs = (frame[name].map(str) != rows[name].map(str)).to_numpy()
        if differs.any():
            problem = f"column {to_line(str(name), 30)!r} differs from that of {main_file}"
            remedy = (
                "Give both files equal values, in the same order or joined by a column `id`, or rename it."
            )
            raise MetricError(problem, f"{where}, row {int(differs.argmax()) + 1}", remedy)
    return rows


def _build_table(
    references: Sequence[str] | pd.DataFrame, systems: Mapping[str, Any] | None, metrics: Iterable[str]
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return a table with references and candidates, and each system's column of candidates by its name.

    Raises
    ------
    MetricError
        If no system is named, a name cannot be printed, or texts are malformed or of different numbers.
    """
    if not isinstance(references, pd.DataFrame):
        if not isinstance(systems, Mapping):
            problem = f"expected a mapping, got {type(systems).__name__}"
            raise MetricError(problem, "systems", "Give {name of a system: its candidates}.")
        for name, texts in systems.items():
            try:
                check_pairs(references, texts)
            except MetricError as error:
                raise MetricError(error.what, f"{error.where} of {name!r}", error.remedy) from None
        columns_of_texts = {f"{CANDIDATE}:{name}": list(texts) for name, texts in systems.items()}
        references = pd.DataFrame({REFERENCE: list(references), **columns_of_texts}, dtype=object)
        systems = None
    frame, names = references, [str(name) for name in references.columns]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise MetricError(f"two columns are called {to_line(repeated[0], 30)!r}", "references", "Rename one.")
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
            problem = f"{name!r} has {type(column).__name__} in place of a column's name"
            raise MetricError(problem, "systems", "For a table, give {name of a system: column}.")
        if not isinstance(name, str) or to_line(name, 80) != name or name in FLOOR:
            problem = f"{name!r} cannot be the name of a system"
            raise MetricError(problem, "systems", "Give a printable name of at most 80 characters.")
    return frame.reset_index(drop=True), columns


def _add_floor(frame: pd.DataFrame, columns: Mapping[str, str], floor: bool) -> pd.DataFrame | None:
    """Return a table of texts with a column ``candidate:<system>`` for each system and, with ``floor``, for
    each of :data:`FLOOR`; None if a column of texts is missing from ``frame``."""
    if REFERENCE not in frame or not set(columns.values()) <= set(frame.columns):
        return None
    kept = [name for name in (ID, *CONTEXT) if name in frame]
    texts = frame[[REFERENCE, *kept]].assign(
        **{f"{CANDIDATE}:{system}": frame[column] for system, column in columns.items()}
    )
    if floor:
        references = list(frame[REFERENCE])
        texts[f"{CANDIDATE}:{FLOOR[0]}"] = Counter(references).most_common(1)[0][0]
        texts[f"{CANDIDATE}:{FLOOR[1]}"] = references[1:] + references[:1]
    return texts


class _MetricScores(NamedTuple):
    """One metric's results: by system the statistics of its rows, shape (rows, k); the function from sums of
    rows to the metric's value; and the description of the metric, as in ``Comparison.metrics``."""

    tables: dict[str, FloatArray]
    value: Formula
    about: dict[str, Any]

    def by_case(self, cases: NDArray[np.intp]) -> dict[str, FloatArray]:
        """Return each system's statistics summed over the rows of each case, shape (cases, k).

        ``cases`` has the number of each row's case, from 0.
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
    """Return every system's results by metric, read from the table or computed, and the reason for each
    metric that was left out; count the cautions about the pairs in ``cautions``.

    Raises
    ------
    MetricError
        If a metric must be computed and a column of texts is missing, or no metric can score.
    """
    scores_by_metric = {
        name: _read_scores(name, frame, columns)
        for name in settings
        if any(f"{name}:{system}" in frame for system in columns)
    }
    unscored = {name: settings[name] for name in settings if name not in scores_by_metric}
    texts = _add_floor(frame, columns, floor)
    if texts is None:
        if unscored:
            missing_column = next(name for name in (REFERENCE, *columns.values()) if name not in frame)
            remedy = f"Add the column of texts, or scores of {list_names(unscored)} for every system."
            raise MetricError(f"no column {to_line(missing_column, 40)!r}", "references", remedy)
        return scores_by_metric, {}
    chosen = choose(unscored) if unscored else Chosen({}, {}, {})
    evaluation = scoring.evaluate(texts, chosen.metrics, "references")
    chosen.leave_out(evaluation.failed)
    systems = [scoring.get_system(column) or CANDIDATE for column in evaluation.columns]
    scores_by_metric |= {name: _collect_scores(chosen, name, evaluation, systems) for name in chosen.metrics}
    evaluation.add_cautions(cautions, texts.get(ID, ()), without=FLOOR)
    return scores_by_metric, chosen.left_out


def _collect_scores(
    chosen: Chosen, name: str, evaluation: scoring.Evaluation, systems: list[str]
) -> _MetricScores:
    """Return the results of one metric that was just computed, split by system."""
    metric, scores = chosen.metrics[name], evaluation.scored[name].scores
    assert scores is not None
    statistics, value = metric.corpus(scores)
    of_corpus = bool(metric.corpus_variant)
    about = {
        "value": "corpus" if of_corpus else "mean",
        "signature": metric.signature(in_context=evaluation.contexts is not None, of_corpus=of_corpus),
        "source": metric.citation,
        **_describe_direction(metric),
        "models": metric.signed_models(),
        "note": chosen.substitutes.get(name, ""),
        "remark": metric.remark,
    }
    tables = {system: statistics[index :: len(systems)] for index, system in enumerate(systems)}
    return _MetricScores(tables, value, about)


def _describe_direction(metric: Metric | type[Metric]) -> dict[str, Any]:
    """Return whether higher or lower is better, and the range with None for an infinite end, for JSON."""
    ends = [end if math.isfinite(end) else None for end in metric.range]
    return {"better": "higher" if metric.higher_is_better else "lower", "range": ends}


def _read_scores(metric: str, frame: pd.DataFrame, columns: Mapping[str, str]) -> _MetricScores:
    """Return the results of a metric whose scores the table already has, for every system.

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
            raise MetricError(problem, "references", f"Add {metric}'s scores of every system, or of none.")
        numbers = pd.to_numeric(frame[column], errors="coerce").to_numpy(np.float64)
        if (is_missing := ~np.isfinite(numbers)).any():
            where = f"column {to_line(column, 60)!r}, row {int(is_missing.argmax()) + 1}"
            remedy = "Write a finite number in the cell, or remove the row."
            raise MetricError("the score is missing or not a finite number", where, remedy)
        tables[system] = np.column_stack([numbers, np.ones(len(numbers))])
    about: dict[str, Any] = {"value": "mean"}
    with suppress(MetricError):  # The user may have named a metric that this library does not have.
        about |= _describe_direction(get(metric))
    return _MetricScores(tables, ratio_of_sums, about)


def _find_interval_cautions(metric: str, tables: Mapping[str, FloatArray], *, mean: bool) -> Iterator[str]:
    """Yield a caution for each system with fewer than ten cases that differ from its most frequent score.

    Ten is a rule of thumb. If all cases have the same score, the caution gives the bound of the rule of three
    (Hanley and Lippman-Hand 1983).

    Parameters
    ----------
    metric : the name of the metric, with which each caution begins.
    tables : the statistics of each system, shape (cases, k).
    mean : whether the statistics of a case are the sum and the number of its scores, so that their ratio is
        compared.
    """
    for system, statistics in tables.items():
        count = len(statistics)
        scores = statistics[:, :1] / statistics[:, 1:] if mean else statistics
        most_equal = int(np.unique(scores, axis=0, return_counts=True)[1].max())
        if most_equal == count:
            bound = f"at most {rule_of_three(count):.2g} of all cases score otherwise (95 %, 3/{count:,})"
            yield f"{metric}: all {count:,} cases of {system} have the same score: {bound}"
        elif count - most_equal < min(10, most_equal):
            share = f"{most_equal:,} of {count:,} cases"
            yield f"{metric}: {share} of {system} have the same score; the interval may be too narrow"


def rank_systems(
    systems: pd.DataFrame, pairs: pd.DataFrame, about: Mapping[str, Mapping[str, Any]], cautions: Cautions
) -> tuple[pd.api.extensions.ExtensionArray, dict[str, str]]:
    """Return the cluster of each row of ``systems``, and for each metric a sentence that sums up the tests.

    Parameters
    ----------
    systems, pairs : the tables of :func:`radeval_lib.stats.system_comparison.compare_systems`.
    about : the description of each metric, as in ``Comparison.metrics``.
    cautions : cautions about the scored pairs, which a sentence repeats. A system for which
        :meth:`~radeval_lib.metrics.cautions.Cautions.is_silent` holds is not ranked.

    Returns
    -------
    clusters : Int64, 1 for the best systems; missing for a system that is not ranked.
    sentences : by metric, the differences between neighbours in different clusters or, if all systems are in
        one cluster, the significant difference with the smallest p; and the systems that are not ranked.
    """
    clusters, sentences = dict[tuple[str, str], int](), dict[str, str]()
    for metric, part in systems.groupby("metric", sort=False):
        name, values = str(metric), part.set_index("system")["value"].drop([*FLOOR], errors="ignore")
        of_metric = pairs[pairs["metric"] == name].itertuples()
        tests = {names: test for test in of_metric for names in permutations((test.first, test.second))}
        best_first = values.sort_values(ascending=_is_lower_better(about[name]), kind="stable").index
        ranked = [system for system in best_first if not cautions.is_silent(system, name)]
        distinct = [pair for pair in combinations(ranked, 2) if tests[pair].p_holm < LEVEL]
        numbers = significance_clusters(ranked, lambda *pair: pair in distinct)  # noqa: B023
        clusters |= {(name, system): number for system, number in zip(ranked, numbers, strict=True)}
        steps = zip(pairwise(ranked), pairwise(numbers), strict=True)
        shown = [pair for pair, (above, below) in steps if below > above]
        if distinct and not shown:
            order_of = {pair: (tests[pair].p, -abs(tests[pair].difference)) for pair in distinct}
            shown = [min(distinct, key=order_of.__getitem__)]
        statements = [_phrase_lead(name, about[name], tests[pair], pair, values, cautions) for pair in shown]
        if len(ranked) > 1 and not distinct:
            statements.append("no difference between systems is established after correction")
        silent = [system for system in best_first if system not in ranked]
        statements += [f"{system} is not ranked, because {cautions.doubt(system, name)}" for system in silent]
        if statements:
            sentences[name] = f"{name}: {'; '.join(statements)}."
    by_row = [clusters.get(key) for key in zip(systems["metric"], systems["system"], strict=True)]
    return pd.array(by_row, dtype="Int64"), sentences


def _phrase_lead(
    metric: str,
    about: Mapping[str, Any],
    test: Any,
    pair: tuple[str, str],
    values: pd.Series[float],
    cautions: Cautions,
) -> str:
    """Return a clause that calls the first of a pair of systems better, with both values, the difference, its
    interval and p, and the cautions about both."""
    first, second = pair
    verb = "is better than" if "better" in about else "scores higher than"
    low, high = sorted((test.low, test.high)) if test.difference >= 0 else sorted((-test.high, -test.low))
    numbers = f"{values[first]:.3g} against {values[second]:.3g}"
    numbers += f", a difference of {abs(test.difference):.3g} [{low:.3g}, {high:.3g}]"
    caution_texts = [f"for {name}, {text}" for name in pair if (text := cautions.doubt(name, metric))]
    caution_clause = f", but {'; '.join(caution_texts)}" if caution_texts else ""
    return f"{first} {verb} {second} ({numbers}, p = {test.p_holm:.2g}){caution_clause}"
