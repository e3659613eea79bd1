"""Systems on the same references: what ``radeval_lib.compare`` and ``radbook compare`` do."""

from __future__ import annotations

import math
import platform
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radeval_lib import origin
from radeval_lib.errors import listed, plain
from radeval_lib.metrics.api import DEFAULT
from radeval_lib.metrics.base import Metric, MetricError, Score, checked_pairs, get
from radeval_lib.metrics.cautions import Cautions
from radeval_lib.metrics.choosing import Chosen, Wanted, choose, settings_by_name
from radeval_lib.metrics.context import contexts_of
from radeval_lib.metrics.error_profile import ErrorCounts, as_text, records
from radeval_lib.metrics.pair_scores import by_metric, scored
from radeval_lib.metrics.table_files import CANDIDATE, CASES, REFERENCE, score_column, table
from radeval_lib.metrics.verdicts import NOT_RANKED, of_intervals, ranked, with_wilson
from radeval_lib.paths import REFERENCES

if TYPE_CHECKING:
    import pandas as pd

    from radeval_lib.lexicon.significance import Context
    from radeval_lib.stats.resampling import FloatArray, OfSums

RESAMPLES = 10_000
_NUMERIC = ("value", "difference", "low", "high", "p", "p_holm", "standardised")


@dataclass(frozen=True)
class Comparison:
    """How systems compare; as a text, all that it reports.

    Attributes
    ----------
    systems, pairs : as :func:`radeval_lib.stats.system_comparison.compare_systems` returns them.
    metrics : by name: ``value`` (``mean``, or ``corpus`` where the value of the corpus is not a mean) and,
        unless scores were given, ``signature``, ``source`` (BibTeX key), ``better`` (``higher`` or
        ``lower``), ``models``, and ``note``, what stands in for a published model.
    left_out : of metrics that could not score, why.
    cautions : what a reader should know of texts and intervals, with rows.
    verdicts : for each metric, the differences that matter in a sentence each. A system with cautions on more
        than one in twenty of its pairs is called better only together with these; one most of whose
        candidates say nothing that can be judged is not ranked.
    profile : where the judge by rules scores, errors by kind and urgent findings found, as
        :func:`radeval_lib.metrics.error_profile.profile` returns them; else empty.
    diversity : of texts, for the references and each system: how many differ (``texts``), and how many sets
        of findings they state (``finding_sets``), by the observations of the chest; else empty.
    rows : references; ``systems`` has the number of cases, which are fewer where several rows are of one.
    resamples, seed : of the intervals and tests.
    """

    systems: pd.DataFrame
    pairs: pd.DataFrame
    metrics: dict[str, dict[str, Any]]
    left_out: dict[str, str]
    cautions: list[str]
    verdicts: list[str]
    profile: pd.DataFrame
    diversity: pd.DataFrame
    rows: int
    resamples: int
    seed: int

    def __str__(self) -> str:
        return self.text()

    def text(self, *, every: bool = False) -> str:
        """All that it says: clusters and the differences that matter, or with ``every`` all pairs of systems
        too."""
        notes = [f"Warning: {name}: {one['note']}." for name, one in self.metrics.items() if one.get("note")]
        notes += [f"Caution: {caution}." for caution in self.cautions]
        notes += [f"Left out: {name}: {why}" for name, why in self.left_out.items()]
        tables = [self.clusters(), "\n".join(self.verdicts), *([self.tables()] if every else [])]
        if len(self.profile):
            what = "Errors per 100 pairs and share of urgent findings found, by the judge by rules:"
            tables.append(f"{what}\n{as_text(self.profile).to_string()}")
        if len(self.diversity):
            what = f"Different texts and sets of findings for {self.rows:,} references:"
            tables.append(f"{what}\n{self.diversity.to_string(index=False)}")
        return "\n\n".join([*tables, "\n".join(notes), self.methods(), self.references()])

    def clusters(self) -> str:
        """The systems by metric, the best first, with their clusters, for a terminal."""
        table = self.systems.assign(metric_order=self.systems["metric"].map(list(self.metrics).index))
        sign = [-1 if self.metrics[one].get("better") == "lower" else 1 for one in table["metric"]]
        table = table.assign(best=table["value"] * sign).sort_values(
            ["metric_order", "best"], ascending=[True, False], kind="stable"
        )
        table = self._shown(table.drop(columns=["metric_order", "best"]))
        table["cluster"] = table["cluster"].astype(object).where(table["cluster"].notna(), "–")
        order = ["metric", "cluster", "system", "value", "95 % interval", "cases"]
        return str(table[order].to_string(index=False))

    def _shown(self, frame: pd.DataFrame) -> pd.DataFrame:
        """A table with its numbers as texts."""
        frame = frame.assign(metric=frame["metric"].map(self._label))
        for name in frame.columns.intersection(_NUMERIC):
            frame[name] = frame[name].map(lambda value: "–" if math.isnan(value) else f"{value:.4g}")
        frame["95 % interval"] = frame.pop("low") + " to " + frame.pop("high")
        return frame

    def tables(self) -> str:
        """Every pair of systems, for a terminal."""
        import pandas as pd

        pairs = self._shown(self.pairs.copy())
        more = pairs.pop("more_cases")
        pairs["more cases for 80 % power"] = ["–" if pd.isna(one) else f"{one:,}" for one in more]
        pairs = pairs.rename(columns={"p_holm": "p (Holm)"})
        order = ["metric", "first", "second", "difference", "95 % interval", "p", "p (Holm)"]
        pairs = pairs[[*order, *pairs.columns.difference(order, sort=False)]]
        return str(pairs.to_string(index=False))

    def _label(self, name: str) -> str:
        """What a value is, which may be no mean, and whether it is good."""
        about = self.metrics[name]
        return f"{name} ({about['value']}{', lower is better' * (about.get('better') == 'lower')})"

    def methods(self) -> str:
        """A paragraph for the methods section of a paper; sources as ``[@key]``, see :meth:`references`."""
        from radeval_lib.stats.resampling import is_enumerated

        names, cases = list(dict.fromkeys(self.systems["system"])), int(self.systems["cases"].iloc[0])
        tests = (
            f"over all {2**cases:,} ways of exchanging their outputs (exact)"
            if is_enumerated(cases, self.resamples)
            else f"with {self.resamples:,} random exchanges of their outputs, p = (b + 1)/(n + 1)"
        )
        count, level = len(self.pairs), "0.05"
        if count > 1:
            tests += (
                f" [@riezler2005pitfalls]; p values were corrected over all {count} comparisons [@holm1979]"
            )
            level += f"/{count}"
        else:
            tests += " [@riezler2005pitfalls]"
        pseudo = any(one["value"] == "corpus" for one in self.metrics.values())
        pseudo_values = " (of jackknife pseudo-values where the value of the corpus is not a mean)" * pseudo
        of_cases = f" of {cases:,} cases, whose rows were kept together" if cases < self.rows else ""
        doubtful = "".join(f" {one}" for one in self.verdicts if NOT_RANKED in one)
        packages = origin.package_versions()
        software = [f"{name} {packages[name]}" for name in self._packages() if name in packages]
        return (
            f"{len(names)} systems ({', '.join(names)}) were scored on the same {self.rows:,} references"
            f"{of_cases}: "
            f"{'; '.join(map(self._measured, self.metrics))}. "
            f"Values have 95 % percentile bootstrap intervals over cases ({self.resamples:,} resamples, seed "
            f"{self.seed}), widened for small samples [@hesterberg2015bootstrap]. "
            f"Pairs of systems were compared by two-sided paired randomization {tests}. "
            "Standardised differences are the mean of the paired differences over their standard deviation"
            f"{pseudo_values}. "
            "The number of further cases for 80 % power is that of a two-sided paired t test at the level "
            f"{level}, if the true difference is the one observed. "
            f"Cases were taken as independent; systems' training seeds were not varied.{doubtful} "
            f"Software: Python {platform.python_version()}, {', '.join(software)}."
        )

    def _measured(self, name: str) -> str:
        about = self.metrics[name]
        details = [f"signature `{about['signature']}`" if "signature" in about else "scores as given"]
        details += ["lower is better"] if about.get("better") == "lower" else []
        details += ["value of the corpus from summed counts"] if about["value"] == "corpus" else []
        details += [about["note"]] if about.get("note") else []
        source = f" [@{about['source']}]" if about.get("source") else ""
        return f"{name}{source} ({'; '.join(details)})"

    def _packages(self) -> list[str]:
        """The packages that the numbers depend on, if they are installed."""
        models = any(set(one.get("models", {})) - {"rules"} for one in self.metrics.values())
        rouge = any(name.startswith("rouge") for name in self.metrics)
        more = ["rouge-score"] * rouge + ["torch", "transformers"] * models
        return ["radeval-lib", "numpy", "scipy", *more]

    def references(self) -> str:
        """The BibTeX entries that :meth:`methods` cites."""
        cited = re.findall(r"\[@(\w+)\]", self.methods())
        entries = re.split(r"\n(?=@)", REFERENCES.read_text(encoding="utf-8"))
        return "\n\n".join(one.strip() for one in entries if re.split(r"[{,]", one, maxsplit=2)[1] in cited)

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON has it; what has no number is null."""
        return {
            "systems": records(self.systems),
            "pairs": records(self.pairs),
            "metrics": self.metrics,
            "left out": self.left_out,
            "cautions": self.cautions,
            "verdicts": self.verdicts,
            "profile": records(self.profile),
            "diversity": records(self.diversity),
            "rows": self.rows,
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
    references : texts; or a pandas table with a column ``reference``.
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
        If there are fewer than two systems or cases, numbers of cases differ, a score is not a finite number,
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
        if value < least:
            raise MetricError(f"{name} is {value}", name, f"Give {least} or more.")
    settings = settings_by_name(metrics or (() if scores else DEFAULT))
    texts: dict[str, Sequence[str]]
    if hasattr(references, "columns"):
        cases = _cases_of(references) if cases is None else cases
        contexts = contexts_of(references) if contexts is None else contexts
        references, texts, ready = _of_table(references, systems, settings)
    else:
        if systems is not None and not isinstance(systems, Mapping):
            remedy = "Give {name: candidates} for each system."
            raise MetricError("no candidates by name", "systems", remedy)
        texts, ready = dict(systems or {}), {}
    ready |= scores or {}
    names = list(texts) or list(dict.fromkeys(name for by_system in ready.values() for name in by_system))
    if len(names) < 2:
        own = "A table has a column candidate:NAME each; files of their own come by --candidates NAME=FILE."
        remedy = f"Give at least two; found: {listed(names)}. {own}"
        raise MetricError(f"{len(names)} system(s) to compare", "systems", remedy)
    for name in names:
        if plain(name, 80) != name:
            raise MetricError(
                f"{name!r} is not a name for a table", "systems", "Give a shorter one that prints."
            )
    measured = {metric: _ready(metric, by_system, names) for metric, by_system in ready.items()}
    chosen = Chosen({}, {}, {})
    pairs: list[tuple[str, str]] = []
    if wanted := {name: of for name, of in settings.items() if name not in ready}:
        pairs = [pair for name in names for pair in _pairs(references, texts.get(name), name)]
        chosen = choose(wanted)
        of_pairs = None if contexts is None else [*contexts] * len(names)
        measured |= by_metric(chosen, lambda name: _measured(chosen, name, pairs, names, of_pairs))
    if not measured:
        raise MetricError("nothing to compare by", "metrics", "Name a metric, or give scores.")
    rows = len(next(iter(next(iter(measured.values())).tables.values())))
    if cases is not None:
        place = _places(cases, rows)
        measured = {name: one.by_case(place) for name, one in measured.items()}
    _check_cases({(name, system): of for name, one in measured.items() for system, of in one.tables.items()})
    of_systems, of_pairs = compare_systems(
        {name: one.tables for name, one in measured.items()},
        {name: one.values for name, one in measured.items()},
        resamples=resamples,
        seed=seed,
    )
    if not pairs and references is not None and texts:
        pairs = [pair for name in names for pair in _pairs(references, texts.get(name), name)]
    about = {name: one.about for name, one in measured.items()}
    of_texts = Cautions(measured)
    for at, pair in enumerate(pairs):
        noted = {name: one.pairs[at].cautions for name, one in measured.items() if one.pairs}
        of_texts.add(names[at // rows], at % rows + 1, pair, noted)
    errors = ErrorCounts()
    counted = [one.pairs for one in measured.values() if one.pairs and one.pairs[0].errors]
    for at, score in enumerate(counted[0] if counted else ()):
        case = str(at % rows if cases is None else cases[at % rows])
        errors.add(names[at // rows], case, score.errors)
    profile = errors.profile(resamples=resamples, seed=seed)
    of_systems = with_wilson(of_systems, about, {name: one.tables for name, one in measured.items()})
    of_systems, verdicts = ranked(of_systems, of_pairs, about, of_texts)
    diversity, of_findings = _diversity(pairs, names, rows)
    cautions = [*of_texts.lines(), *of_findings]
    for name, of in measured.items():
        cautions += of_intervals(name, of.tables, mean=about[name]["value"] == "mean")
    left_out = chosen.left_out
    return Comparison(
        of_systems, of_pairs, about, left_out, cautions, verdicts, profile, diversity, rows, resamples, seed
    )


def _diversity(pairs: list[tuple[str, str]], names: list[str], rows: int) -> tuple[pd.DataFrame, list[str]]:
    """How many texts and sets of findings differ, and a caution for each system that states no finding, or
    hardly a tenth of the references' sets."""
    import pandas as pd

    from radeval_lib.metrics.observations import NO_FINDING, label, positive

    if not pairs:
        return pd.DataFrame(columns=["system", "texts", "finding_sets"]), []
    sides = {"references": [reference for reference, _ in pairs[:rows]]}
    sides |= {
        name: [candidate for _, candidate in pairs[place * rows : (place + 1) * rows]]
        for place, name in enumerate(names)
    }
    stated = {
        text: positive(label(text)) - {NO_FINDING} for text in {one for of in sides.values() for one in of}
    }
    found = {name: [stated[text] for text in of] for name, of in sides.items()}
    table = pd.DataFrame(
        [(name, len(set(of)), len(set(found[name]))) for name, of in sides.items()],
        columns=["system", "texts", "finding_sets"],
    )
    known, most = sum(map(bool, found["references"])), len(set(found["references"]))
    notes = []
    for name in names if known else ():
        own, sets = sum(map(bool, found[name])), len(set(found[name]))
        if not own:
            notes.append(f"{name} states no finding of the chest, where {known:,} of {rows:,} references do")
        elif sets * 10 <= most:
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
        scores = _numbers(by_system[system], score_column(metric, f"{CANDIDATE}:{system}"))
        tables[system] = np.column_stack([scores, np.ones(len(scores))])
    about: dict[str, Any] = {"value": "mean"}
    with suppress(MetricError):  # a name of the user's own
        known = get(metric)
        about |= {"better": "higher" if known.higher_is_better else "lower", "range": _range(known)}
    return _Measured(tables, mean_of_sums, about, [])


def _numbers(given: ArrayLike, where: str) -> FloatArray:
    import pandas as pd

    array = np.asarray(given, dtype=object)
    if array.ndim != 1:
        raise MetricError(f"shape {array.shape}", where, "Give one score per case.")
    numbers = pd.to_numeric(pd.Series(array), errors="coerce").to_numpy(np.float64)
    if (bad := np.flatnonzero(~np.isfinite(numbers))).size:
        remedy = "Give a finite number for every case, or leave the case out for all systems."
        raise MetricError("the score is missing, or no finite number", f"{where}, row {bad[0] + 1}", remedy)
    return numbers


def _pairs(references: Sequence[str] | None, texts: Sequence[str] | None, name: str) -> list[tuple[str, str]]:
    if references is None or texts is None:
        column, where = (
            (REFERENCE, "references") if references is None else (f"{CANDIDATE}:{name}", "systems")
        )
        raise MetricError(f"no column {column!r}", where, "Give the texts, or scores of every system.")
    try:
        return checked_pairs(references, texts)
    except MetricError as error:
        raise MetricError(error.what, f"system {name!r}: {error.where}".rstrip(": "), error.remedy) from None


def _of_table(
    frame: pd.DataFrame, systems: Mapping[str, Any] | None, metrics: Iterable[str]
) -> tuple[list[str] | None, dict[str, Sequence[str]], dict[str, Mapping[str, ArrayLike]]]:
    """References, candidates by system, and scores that are there, of a table."""

    def named(head: str) -> dict[str, str]:
        columns = (name for name in map(str, frame.columns) if name.startswith(head))
        return {name.removeprefix(head): name for name in columns}

    columns = systems or named(f"{CANDIDATE}:")
    for column in columns.values():
        if column not in frame:
            remedy = f"Columns: {listed(frame.columns)}."
            raise MetricError(f"no column {plain(str(column), 40)!r}", "systems", remedy)
    ready = dict[str, Mapping[str, ArrayLike]]()
    for metric in metrics:
        there = named(f"{metric}:")
        if kept := {name: list(frame[there[name]]) for name in columns or there if name in there}:
            ready[metric] = kept
    texts: dict[str, Sequence[str]] = {name: list(frame[column]) for name, column in columns.items()}
    return list(frame[REFERENCE]) if REFERENCE in frame else None, texts, ready


def _check_cases(tables: Mapping[tuple[str, str], FloatArray]) -> None:
    """Whether all have the same cases, and more than one."""
    (first, expected), *rest = ((of, len(statistics)) for of, statistics in tables.items())
    for (metric, system), cases in rest:
        if cases != expected:
            what = f"{cases} scores of {system!r}, but {expected} of {first[1]!r}"
            raise MetricError(what, metric, "Give one per case, in the same order.")
    if expected < 2:
        raise MetricError(f"{expected} case(s)", "references", "Give at least two, better more.")


def _cases_of(frame: pd.DataFrame) -> list[Hashable] | None:
    """The case of each row, from the first of the columns that may have it."""
    column = next((name for name in CASES if name in frame), None)
    return None if column is None else list(frame[column])


def _places(cases: Sequence[Hashable], rows: int) -> NDArray[np.intp]:
    """The number of each row's case."""
    import pandas as pd

    if len(cases) != rows:
        raise MetricError(f"{len(cases)} cases for {rows} rows", "cases", "Give one for each row.")
    blank = pd.isna(pd.Series(cases, dtype=object)) | pd.Series(map(str, cases)).str.strip().eq("")
    if blank.any():
        remedy = "Name the case of every row, or leave the column out."
        raise MetricError("no case", f"cases, row {int(blank.to_numpy().argmax()) + 1}", remedy)
    return np.asarray(pd.factorize(pd.Series(cases, dtype=object))[0], dtype=np.intp)


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
