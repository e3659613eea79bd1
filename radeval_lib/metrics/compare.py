"""Systems on the same references: what ``radeval_lib.compare`` and ``radbook compare`` do."""

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
from radeval_lib.errors import listed, plain
from radeval_lib.metrics import scoring
from radeval_lib.metrics.base import Metric, MetricError, checked_pairs
from radeval_lib.metrics.by_name import Chosen, Wanted, choose, get, settings_by_name
from radeval_lib.metrics.cautions import Cautions
from radeval_lib.metrics.file_scoring import table
from radeval_lib.metrics.scoring import CANDIDATE, CONTEXT, DEFAULT, ID, REFERENCE
from radeval_lib.paths import REFERENCES
from radeval_lib.stats.base import FloatArray, OfSums, group_numbers
from radeval_lib.stats.inference import rule_of_three, wilson
from radeval_lib.stats.resampling import mean_of_sums
from radeval_lib.stats.system_comparison import LEVEL, compare_systems, significance_clusters

RESAMPLES = 10_000  # of the bootstrap, and of randomization tests
FLOOR = ("floor: one text", "floor: shuffled")
"""What is scored beside systems on request: the commonest reference for every row, and the reference of
another row."""
_NUMERIC = ("value", "difference", "low", "high", "p", "p_holm", "standardised")


@dataclass(frozen=True)
class Comparison:
    """A comparison of systems, which prints as a table and a sentence for each metric.

    Attributes
    ----------
    systems, pairs : as :func:`radeval_lib.stats.system_comparison.compare_systems` returns them; ``systems``
        also has ``cluster`` (Int64), from 1, the best; it is missing if a system is not ranked.
    metrics : by name: ``value`` (``mean``, or ``corpus`` if the value of the corpus is not a mean) and,
        unless scores were given, ``signature``, ``source`` (BibTeX key), ``better`` (``higher`` or
        ``lower``), ``range``, ``models``, ``note`` (substitute models) and ``remark``.
    left_out : of metrics that could not score, why.
    cautions : about texts, with their rows, and about intervals.
    verdicts : by metric, a sentence on the tests. If more than one in twenty of a system's pairs has a
        caution, the system is called better only together with it; if most of its candidates say nothing that
        can be judged, it is not ranked.
    rows : the number of references; ``systems`` has the number of cases, which may have several rows.
    resamples, seed : of the intervals and tests.
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
        return self.text()

    def _repr_html_(self) -> str:
        """Return the table as HTML, and below it the sentences."""
        notes = pd.DataFrame({"": [*self.verdicts.values(), *self._notes()]})
        with pd.option_context("display.max_colwidth", None):
            return self.table().to_html(index=False) + notes.to_html(index=False, header=False)

    def text(self, *, every: bool = False) -> str:
        """Return the table of systems, with ``every`` all their pairs, and the sentences and cautions."""
        parts = [self.table().to_string(index=False), "\n".join(self.verdicts.values())]
        if every and len(self.pairs):
            parts.append(self.all_pairs().to_string(index=False))
        return "\n\n".join(filter(None, [*parts, "\n".join(self._notes())]))

    def _notes(self) -> list[str]:
        noted = [
            (name, about.get(kind)) for kind in ("note", "remark") for name, about in self.metrics.items()
        ]
        return [
            *(f"Note: {name}: {text}." for name, text in noted if text),
            *(f"Caution: {caution}." for caution in self.cautions),
            *(f"Left out: {name}: {why}" for name, why in self.left_out.items()),
        ]

    def table(self) -> pd.DataFrame:
        """Return the systems by metric, best first: values and intervals as texts, clusters (– if a system is
        not ranked) and numbers of cases as integers."""
        sorted_systems = [
            part.sort_values("value", ascending=_is_lower_better(self.metrics[str(name)]), kind="stable")
            for name, part in self.systems.groupby("metric", sort=False)
        ]
        frame = self._as_texts(pd.concat(sorted_systems))
        frame["cluster"] = frame["cluster"].astype(object).where(frame["cluster"].notna(), "–")
        return frame[["metric", "cluster", "system", "value", "95 % interval", "cases"]]

    def all_pairs(self) -> pd.DataFrame:
        """Return every pair of systems, as texts."""
        frame = self._as_texts(self.pairs).rename(columns={"p_holm": "p (Holm)"})
        more = ["–" if pd.isna(number) else f"{number:,}" for number in frame.pop("more_cases")]
        order = ["metric", "first", "second", "difference", "95 % interval", "p", "p (Holm)", "standardised"]
        return frame[order].assign(**{"more cases for 80 % power": more})

    def _as_texts(self, frame: pd.DataFrame) -> pd.DataFrame:
        frame = frame.assign(metric=frame["metric"].map(self._label))
        for name in frame.columns.intersection(_NUMERIC):
            frame[name] = frame[name].map(lambda value: "–" if math.isnan(value) else f"{value:.4g}")
        frame["95 % interval"] = frame.pop("low") + " to " + frame.pop("high")
        return frame

    def _label(self, name: str) -> str:
        direction = ", lower is better" if _is_lower_better(self.metrics[name]) else ""
        return f"{name} ({self.metrics[name]['value']}{direction})"

    def methods(self) -> str:
        """Return a paragraph for a paper's methods section, which cites :meth:`references` as ``[@key]``."""
        from radeval_lib.stats.inference import is_enumerated

        names = [name for name in dict.fromkeys(self.systems["system"]) if name not in FLOOR]
        cases, comparisons = int(self.systems["cases"].iloc[0]), len(self.pairs)
        of_cases = f" of {cases:,} cases, whose rows were kept together" if cases < self.rows else ""
        text = (
            f"{len(names)} system{'s' * (len(names) > 1)} ({', '.join(names)}) "
            f"{'were' if len(names) > 1 else 'was'} scored on the same {self.rows:,} references{of_cases}: "
            f"{'; '.join(map(self._method_of, self.metrics))}. Values have 95 % percentile bootstrap "
            f"intervals over cases ({self.resamples:,} resamples, seed {self.seed}), widened for small "
            "samples [@hesterberg2015bootstrap]; a mean of exactly 0 or 1 has Wilson's. "
        )
        if comparisons:
            exact = is_enumerated(cases, self.resamples)
            ways = f"over all {2**cases:,} ways of exchanging their outputs (exact)" if exact else ""
            drawn = f"with {self.resamples:,} random exchanges of their outputs, p = (b + 1)/(n + 1)"
            holm = f"; p values were corrected over all {comparisons} comparisons [@holm1979]"
            text += (
                f"Pairs of systems were compared by two-sided paired randomization {ways or drawn} "
                f"[@riezler2005pitfalls]{holm * (comparisons > 1)}. "
            )
        text += "Cases were taken as independent; systems' training seeds were not varied. "
        models = any(set(about.get("models", {})) - {"rules"} for about in self.metrics.values())
        rouge = any(name.startswith("rouge") for name in self.metrics)
        used = ["radeval-lib", "numpy", "scipy"]
        used += ["rouge-score"] * rouge + ["torch", "transformers"] * models
        packages = provenance.package_versions()
        software = [f"{name} {packages[name]}" for name in used if name in packages]
        return f"{text}Software: Python {platform.python_version()}, {', '.join(software)}."

    def _method_of(self, name: str) -> str:
        about = self.metrics[name]
        details = [f"signature `{about['signature']}`" if "signature" in about else "scores as given"]
        details += ["lower is better"] if _is_lower_better(about) else []
        details += ["value of the corpus from summed counts"] if about["value"] == "corpus" else []
        details += [about["note"]] if about.get("note") else []
        source = f" [@{about['source']}]" if about.get("source") else ""
        return f"{name}{source} ({'; '.join(details)})"

    def references(self) -> str:
        """Return the BibTeX entries that :meth:`methods` cites."""
        return bibtex(re.findall(r"\[@(\w+)\]", self.methods()))

    def as_dict(self) -> dict[str, Any]:
        """Return the content, ready for JSON, with None for a missing number."""
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
    return about.get("better") == "lower"


def bibtex(keys: Iterable[str]) -> str:
    """Return the entries of ``references.bib`` with these keys, in the file's order."""
    entries, wanted = re.split(r"\n(?=@)", REFERENCES.read_text(encoding="utf-8")), set(keys)
    chosen = [entry.strip() for entry in entries if re.split(r"[{,]", entry, maxsplit=2)[1] in wanted]
    return "\n\n".join(chosen)


def compare(
    references: Sequence[str] | pd.DataFrame,
    systems: Mapping[str, Sequence[str]] | Mapping[str, str] | None = None,
    *,
    metrics: Wanted = (),
    resamples: int = RESAMPLES,
    seed: int = 0,
    floor: bool = False,
) -> Comparison:
    """Compare systems on the same references: values with intervals, differences, tests.

    Rows are taken as independent, unless a column ``case`` or ``patient`` says which belong together: then
    cases are resampled, with all their rows. A single system gets its values with intervals.

    Parameters
    ----------
    references : texts; or a pandas table with a column ``reference``. A table that has a column
        ``<metric>:<system>`` for every system is not scored again: these scores count, and their mean. Its
        columns ``age`` and ``indication`` are for the rule-based judge.
    systems : by the name of each system, its candidates, one per reference; of a table, the name of a column
        of candidates. Default, for a table: every column ``candidate:<system>``, or ``candidate`` alone.
    metrics : a name, names, or settings by name, as for :func:`radeval_lib.score`; default: the errors that
        the rule-based judge finds.
    resamples : of the bootstrap, and of the randomization test unless that can enumerate; at least 100.
    seed : of both; 0 or more.
    floor : whether to score beside the systems, and not test, what takes no system (:data:`FLOOR`). It needs
        texts: given scores have no floor.

    Returns
    -------
    Comparison

    Raises
    ------
    MetricError
        If there is no system or fewer than two cases, a score is not a finite number, a column is not there,
        a metric or setting is unknown, no metric can score, or ``resamples`` or ``seed`` is too small.

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
    settings = settings_by_name(metrics or DEFAULT)
    frame, columns = _table_of(references, systems, settings)
    cases = group_numbers("cases", scoring.cases_of(frame, "references"), len(frame))
    if len(np.unique(cases)) < 2:
        raise MetricError("fewer than two cases", "references", "Give at least two, better more.")
    cautions = Cautions(settings)
    measured, left_out = _measure(frame, columns, settings, cautions, floor=floor)
    tables = {name: part.by_case(cases) for name, part in measured.items()}
    about = {name: part.about for name, part in measured.items()}
    values = {name: part.value for name, part in measured.items()}
    of_systems, of_pairs = compare_systems(tables, values, resamples=resamples, seed=seed)
    tested = {
        name: {system: part for system, part in by_system.items() if system not in FLOOR}
        for name, by_system in tables.items()
    }
    if floor:
        _, of_pairs = compare_systems(tested, values, resamples=resamples, seed=seed)
    notes = cautions.lines()
    for name, by_system in tested.items():
        notes += _on_intervals(name, by_system, mean=about[name]["value"] == "mean")
    clusters, verdicts = rank_systems(of_systems, of_pairs, about, cautions)
    for at, row in of_systems.iterrows():
        of_metric, count = about[row["metric"]], int(row["cases"])
        is_share = of_metric["value"] == "mean" and of_metric.get("range") == [0.0, 1.0]
        if is_share and row["value"] in (0.0, 1.0):  # the bootstrap's interval would have no width
            of_systems.loc[at, ["low", "high"]] = wilson(int(row["value"] * count), count)
    return Comparison(
        systems=of_systems.assign(cluster=clusters),
        pairs=of_pairs,
        metrics=about,
        left_out=left_out,
        cautions=notes,
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
    """Compare systems with candidates in one CSV, TSV or JSON Lines file, or in one file for each system.

    Parameters
    ----------
    systems : by the name of each system, its column of candidates or, if candidates come from a file of
        their own, nothing; default: every column ``candidate:<system>``.
    candidates : by the name of a system, a file with a column ``candidate``, or columns ``<metric>`` as
        ``radbook score`` writes them. Rows are joined by a column ``id`` of ours and the column of the same
        name, or of the same values, of the other file, else by their position; any other column that both
        have must then say the same in every row.
    metrics, floor : as for :func:`compare`.
    """
    frame, named, notes = table(Path(path)), dict(systems or {}), list[str]()
    ours = Path(path).name
    if candidates and not named and CANDIDATE in frame:
        raise MetricError(f"column {CANDIDATE!r} names no system", ours, "Name it: --system NAME=candidate.")
    for name, other in (candidates or {}).items():
        if name in named or f"{CANDIDATE}:{name}" in frame:
            raise MetricError(f"two systems are called {name!r}", "candidates", "Rename one.")
        theirs = table(Path(other))
        key = ID if ID in frame else ""
        if key and ID not in theirs:
            ids = set(frame[ID].map(str))
            named_so = (
                column for column in theirs if column not in frame and {*theirs[column].map(str)} == ids
            )
            key = next(named_so, "")
        if not key and ID in {*frame, *theirs}:
            lacking = Path(other).name if ID in frame else ours
            notes.append(f"{name} is joined to {ours} by position, because {lacking} has no column {ID!r}")
        theirs = _joined(frame, theirs, key, ours, Path(other).name)
        wanted = [column for column in (CANDIDATE, *settings_by_name(metrics or DEFAULT)) if column in theirs]
        if not wanted:
            remedy = f"Rename one of its columns: {listed(map(str, theirs.columns))}."
            raise MetricError(f"no column {CANDIDATE!r}", Path(other).name, remedy)
        frame = frame.assign(**{f"{column}:{name}": theirs[column].tolist() for column in wanted})
        if named:
            named[name] = f"{CANDIDATE}:{name}"
    compared = compare(frame, named or None, metrics=metrics, floor=floor)
    return replace(compared, cautions=[*notes, *compared.cautions])


def _joined(frame: pd.DataFrame, theirs: pd.DataFrame, key: str, ours: str, where: str) -> pd.DataFrame:
    """Return the rows of another file in the order of our file, by the column ``key`` of ids, if any."""
    if len(theirs) != len(frame):
        problem = f"{len(theirs)} rows, but {ours} has {len(frame)}"
        raise MetricError(problem, where, "Give every file the same rows.")
    if key:  # as texts: a number of JSON lines is one of CSV too
        ids, other = frame[ID].map(str), theirs[key].map(str)
        if ids.duplicated().any() or set(ids) != set(other):
            doubled = ids.duplicated().any() or other.duplicated().any()
            problem = f"column {key!r} names a row twice" if doubled else f"its ids differ from {ours}'s"
            raise MetricError(problem, where, "Give every row an id of its own, the same in all files.")
        theirs = theirs.set_axis(other).loc[ids].reset_index(drop=True)
    for name in frame.columns.intersection(theirs.columns).difference([CANDIDATE, ID]):
        differs = (frame[name].map(str) != theirs[name].map(str)).to_numpy()
        if differs.any():
            problem = f"column {plain(str(name), 30)!r} differs from that of {ours}"
            remedy = "Put the rows in the same order, give both files a column `id`, or rename the column."
            raise MetricError(problem, f"{where}, row {int(differs.argmax()) + 1}", remedy)
    return theirs


def _table_of(
    references: Sequence[str] | pd.DataFrame, systems: Mapping[str, Any] | None, metrics: Iterable[str]
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the table, and by system its column of candidates."""
    if not isinstance(references, pd.DataFrame):
        if not isinstance(systems, Mapping):
            raise MetricError("no candidates by name", "systems", "Give {name: candidates}.")
        for name, texts in systems.items():
            try:
                checked_pairs(references, texts)
            except MetricError as error:
                raise MetricError(error.what, f"{error.where} of {name!r}", error.remedy) from None
        given = {f"{CANDIDATE}:{name}": list(texts) for name, texts in systems.items()}
        references = pd.DataFrame({REFERENCE: list(references), **given}, dtype=object)
        systems = None
    frame, names = references, [str(name) for name in references.columns]
    if len(set(names)) < len(names):
        raise MetricError("two columns have the same name", "references", "Rename one.")
    heads = (f"{CANDIDATE}:", *(f"{metric}:" for metric in metrics))
    every = dict.fromkeys(name.partition(":")[2] for name in names if name.startswith(heads))
    alone = {CANDIDATE: CANDIDATE} if CANDIDATE in names else {}
    columns = dict(systems or {name: f"{CANDIDATE}:{name}" for name in every} or alone)
    if not columns:
        shown = listed(name for name in names if re.fullmatch(r"[\w.:-]{1,30}", name))
        remedy = f"Name each column of candidates: --system NAME=COLUMN. Columns: {shown}."
        raise MetricError("no system is given", "systems", remedy)
    for name, column in columns.items():
        if not isinstance(column, str):
            raise MetricError(f"{name!r} names no column", "systems", "Of a table, give {name: column}.")
        if not isinstance(name, str) or plain(name, 80) != name or name in FLOOR:
            problem = f"{name!r} cannot name a row of a table"
            raise MetricError(problem, "systems", "Give a short printable name.")
    return frame.reset_index(drop=True), columns


def _texts(frame: pd.DataFrame, columns: Mapping[str, str], floor: bool) -> pd.DataFrame | None:
    """Return a table with a column ``candidate:<system>`` for each system and, with ``floor``, for each of
    :data:`FLOOR`; None if a column of texts is missing."""
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


class _Measured(NamedTuple):
    """Statistics of the rows by system, the function from their sums to the value, and its description."""

    tables: dict[str, FloatArray]
    value: OfSums
    about: dict[str, Any]

    def by_case(self, cases: NDArray[np.intp]) -> dict[str, FloatArray]:
        """Return the statistics summed over the rows of each case, by the number of each row's case."""
        sums = {}
        for system, statistics in self.tables.items():
            sums[system] = np.zeros((int(cases.max()) + 1, statistics.shape[1]))
            np.add.at(sums[system], cases, statistics)
        return sums


def _measure(
    frame: pd.DataFrame,
    columns: Mapping[str, str],
    settings: Mapping[str, Mapping[str, Any]],
    cautions: Cautions,
    *,
    floor: bool,
) -> tuple[dict[str, _Measured], dict[str, str]]:
    """Return the scores of every system by metric, given or computed, and why metrics were left out; add the
    cautions of the pairs."""
    measured = {
        name: _given(name, frame, columns)
        for name in settings
        if any(f"{name}:{system}" in frame for system in columns)
    }
    wanted = {name: settings[name] for name in settings if name not in measured}
    texts = _texts(frame, columns, floor)
    if texts is None:
        if wanted:
            lacking = next(name for name in (REFERENCE, *columns.values()) if name not in frame)
            remedy = "Give the texts, or scores of every system."
            raise MetricError(f"no column {plain(lacking, 40)!r}", "references", remedy)
        return measured, {}
    chosen = choose(wanted) if wanted else Chosen({}, {}, {})
    evaluation = scoring.evaluate(texts, chosen.metrics, "references")
    chosen.leave_out(evaluation.failed)
    systems = [scoring.system_of(column) or CANDIDATE for column in evaluation.columns]
    measured |= {name: _measured(chosen, name, evaluation, systems) for name in chosen.metrics}
    evaluation.add_cautions(cautions, texts.get(ID, ()), without=FLOOR)
    return measured, chosen.left_out


def _measured(chosen: Chosen, name: str, evaluation: scoring.Evaluation, systems: list[str]) -> _Measured:
    """Return a metric's scores of the pairs of each system."""
    metric, scores = chosen.metrics[name], evaluation.scored[name].scores
    assert scores is not None
    statistics, value = metric.corpus(scores)
    of_corpus = bool(metric.corpus_variant)
    about = {
        "value": "corpus" if of_corpus else "mean",
        "signature": metric.signature(in_context=evaluation.contexts is not None, of_corpus=of_corpus),
        "source": metric.citation,
        **_direction(metric),
        "models": metric.signed_models(),
        "note": chosen.substitutes.get(name, ""),
        "remark": metric.remark,
    }
    tables = {system: statistics[first :: len(systems)] for first, system in enumerate(systems)}
    return _Measured(tables, value, about)


def _direction(metric: Metric | type[Metric]) -> dict[str, Any]:
    ends = [end if math.isfinite(end) else None for end in metric.range]
    return {"better": "higher" if metric.higher_is_better else "lower", "range": ends}


def _given(metric: str, frame: pd.DataFrame, columns: Mapping[str, str]) -> _Measured:
    """Return the scores of every system that the table has already."""
    tables = {}
    for system in columns:
        column = scoring.score_column(metric, f"{CANDIDATE}:{system}")
        if column not in frame:
            problem = f"no column {plain(column, 60)!r}"
            raise MetricError(problem, "references", "Give scores of every system.")
        numbers = pd.to_numeric(frame[column], errors="coerce").to_numpy(np.float64)
        if (bad := ~np.isfinite(numbers)).any():
            where = f"column {plain(column, 60)!r}, row {int(bad.argmax()) + 1}"
            remedy = "Give a finite number in every row, or leave the row out."
            raise MetricError("the score is missing or not finite", where, remedy)
        tables[system] = np.column_stack([numbers, np.ones(len(numbers))])
    about: dict[str, Any] = {"value": "mean"}
    with suppress(MetricError):  # a name of the user's own
        about |= _direction(get(metric))
    return _Measured(tables, mean_of_sums, about)


def _on_intervals(metric: str, tables: Mapping[str, FloatArray], *, mean: bool) -> Iterator[str]:
    """Yield a caution for each system that has one score in most of its cases and others in fewer than ten.

    Ten is a rule of thumb. If all cases score alike, the caution gives the bound of the rule of three (Hanley
    and Lippman-Hand 1983).

    Parameters
    ----------
    metric : its name, with which each caution begins.
    tables : statistics by system, each of shape (cases, statistics).
    mean : whether statistics are sums and counts of scores, which a case may have several of.
    """
    for system, statistics in tables.items():
        count = len(statistics)
        scores = statistics[:, :1] / statistics[:, 1:] if mean else statistics
        same = int(np.unique(scores, axis=0, return_counts=True)[1].max())
        if same == count:
            bound = f"at most {rule_of_three(count):.2g} of all cases score otherwise (95 %, 3/{count:,})"
            yield f"{metric}: all {count:,} cases of {system} have the same score: {bound}"
        elif count - same < min(10, same):
            share = f"{same:,} of {count:,} cases"
            yield f"{metric}: {share} of {system} have the same score; the interval may be too narrow"


def rank_systems(
    systems: pd.DataFrame, pairs: pd.DataFrame, about: Mapping[str, Mapping[str, Any]], cautions: Cautions
) -> tuple[pd.api.extensions.ExtensionArray, dict[str, str]]:
    """Return the cluster of each row of ``systems``, and for each metric a sentence that sums up the tests.

    Parameters
    ----------
    systems, pairs : as :func:`radeval_lib.stats.system_comparison.compare_systems` returns them.
    about : by metric, as of :class:`Comparison`.
    cautions : those of the pairs that were scored, which are reported beside a difference. A system that they
        call silent is in no cluster.

    Returns
    -------
    clusters : Int64, from 1, the best; missing if a system is not ranked.
    sentences : with the differences between neighbours in different clusters or, if all are in one, of the
        pair with the smallest p that differs; and each system that is not ranked.
    """
    clusters, sentences = dict[tuple[str, str], int](), dict[str, str]()
    for metric, part in systems.groupby("metric", sort=False):
        name, values = str(metric), part.set_index("system")["value"].drop([*FLOOR], errors="ignore")
        of_metric = pairs[pairs["metric"] == name].itertuples()
        tests = {names: test for test in of_metric for names in permutations((test.first, test.second))}
        best_first = values.sort_values(ascending=_is_lower_better(about[name]), kind="stable").index
        order = [system for system in best_first if not cautions.is_silent(system, name)]
        apart = [pair for pair in combinations(order, 2) if tests[pair].p_holm < LEVEL]
        numbers = significance_clusters(order, lambda *pair: pair in apart)  # noqa: B023
        clusters |= {(name, system): number for system, number in zip(order, numbers, strict=True)}
        steps = zip(pairwise(order), pairwise(numbers), strict=True)
        shown = [pair for pair, (above, below) in steps if below > above]
        if apart and not shown:
            order_of = {pair: (tests[pair].p, -abs(tests[pair].difference)) for pair in apart}
            shown = [min(apart, key=order_of.__getitem__)]
        parts = [_difference(name, about[name], tests[pair], pair, values, cautions) for pair in shown]
        if len(order) > 1 and not apart:
            parts.append("no difference between systems is established after correction")
        silent = [system for system in best_first if system not in order]
        parts += [f"{system} is not ranked, because {cautions.doubt(system, name)}" for system in silent]
        if parts:
            sentences[name] = f"{name}: {'; '.join(parts)}."
    by_row = [clusters.get(key) for key in zip(systems["metric"], systems["system"], strict=True)]
    return pd.array(by_row, dtype="Int64"), sentences


def _difference(
    metric: str,
    about: Mapping[str, Any],
    test: Any,
    pair: tuple[str, str],
    values: pd.Series[float],
    cautions: Cautions,
) -> str:
    """Return the difference between two systems in words, the better one first, with their cautions."""
    first, second = pair
    verb = "is better than" if "better" in about else "scores higher than"
    low, high = sorted((test.low, test.high)) if test.difference >= 0 else sorted((-test.high, -test.low))
    numbers = f"{values[first]:.3g} against {values[second]:.3g}"
    numbers += f", a difference of {abs(test.difference):.3g} [{low:.3g}, {high:.3g}]"
    why = [f"for {name}, {text}" for name in pair if (text := cautions.doubt(name, metric))]
    but = f", but {'; '.join(why)}" if why else ""
    return f"{first} {verb} {second} ({numbers}, p = {test.p_holm:.2g}){but}"
