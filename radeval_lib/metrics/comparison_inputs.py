"""What systems are compared by, from texts, scores, tables or files: the same references for all of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radeval_lib.errors import listed, plain
from radeval_lib.metrics.base import MetricError, checked_pairs
from radeval_lib.metrics.context import contexts_of
from radeval_lib.metrics.table_files import CANDIDATE, CASES, REFERENCE, table
from radeval_lib.stats.inputs import group_numbers

if TYPE_CHECKING:
    import pandas as pd

    from radeval_lib.rules.lexicon.significance import Context
    from radeval_lib.stats.inputs import FloatArray


@dataclass(frozen=True)
class Inputs:
    """What there is of each system.

    Attributes
    ----------
    references : one a row; None where only scores were given.
    candidates : by system, one a row; without the systems of which only scores were given.
    scores : by metric and system, scores that there are already, one a row.
    systems : their names, two or more.
    cases, contexts : of each row, as for :func:`radeval_lib.compare`; None where nothing is known.
    """

    references: Sequence[str] | None
    candidates: Mapping[str, Sequence[str]]
    scores: Mapping[str, Mapping[str, ArrayLike]]
    systems: list[str]
    cases: Sequence[Hashable] | None
    contexts: Sequence[Context | None] | None

    def pairs(self) -> list[tuple[str, str]]:
        """Reference and candidate of every row, one system after another.

        Raises
        ------
        MetricError
            If there are no references, or no candidates of a system, or their numbers differ.
        """
        return [pair for name in self.systems for pair in self._pairs_of(name)]

    def _pairs_of(self, name: str) -> list[tuple[str, str]]:
        texts = self.candidates.get(name)
        if self.references is None or texts is None:
            column, where = (
                (REFERENCE, "references") if self.references is None else (f"{CANDIDATE}:{name}", "systems")
            )
            raise MetricError(f"no column {column!r}", where, "Give the texts, or scores of every system.")
        try:
            return checked_pairs(self.references, texts)
        except MetricError as error:
            where = f"system {name!r}: {error.where}".rstrip(": ")
            raise MetricError(error.what, where, error.remedy) from None


def inputs_of(
    references: Sequence[str] | pd.DataFrame,
    systems: Mapping[str, Sequence[str]] | Mapping[str, str] | None,
    scores: Mapping[str, Mapping[str, ArrayLike]],
    cases: Sequence[Hashable] | None,
    contexts: Sequence[Context | None] | None,
    metrics: Iterable[str],
) -> Inputs:
    """What :func:`radeval_lib.compare` is given, with what a table's columns say.

    Raises
    ------
    MetricError
        If candidates or scores have no names, there are fewer than two systems, a name is no text that
        prints, or a table has two columns of one name, or not one that is asked for.
    """
    if systems is not None and not isinstance(systems, Mapping):
        remedy = "Give {name: candidates} for each system, or of a table {name: column}."
        raise MetricError("no candidates by name", "systems", remedy)
    if not all(isinstance(one, Mapping) for one in (scores, *getattr(scores, "values", tuple)())):
        raise MetricError("no scores by name", "scores", "Give {metric: {system: scores}}.")
    texts: dict[str, Sequence[str]]
    if hasattr(references, "columns"):
        columns = list(references.columns)
        if twice := [name for name in columns if columns.count(name) > 1]:
            what = f"two columns are called {plain(str(twice[0]), 40)!r}"
            raise MetricError(what, "references", "Rename one.")
        cases = _cases_of(references) if cases is None else cases
        contexts = contexts_of(references) if contexts is None else contexts
        references, texts, ready = _of_table(references, systems, metrics)
    else:
        texts, ready = dict(systems or {}), {}
    ready = {**ready, **scores}
    names = list(dict.fromkeys([*texts, *(name for by_system in ready.values() for name in by_system)]))
    _check_names(names)
    return Inputs(references, texts, ready, names, cases, contexts)


def _check_names(names: list[Any]) -> None:
    if len(names) < 2:
        own = "A table has a column candidate:NAME each; files of their own come by --candidates NAME=FILE."
        remedy = f"Give at least two; found: {listed(names)}. {own}"
        raise MetricError(f"{len(names)} system(s) to compare", "systems", remedy)
    for name in names:
        if not isinstance(name, str) or plain(name, 80) != name:
            remedy = "Give a text that prints, of at most 80 characters."
            raise MetricError(f"{name!r} is not a name for a table", "systems", remedy)


def _of_table(
    frame: pd.DataFrame, systems: Mapping[str, Any] | None, metrics: Iterable[str]
) -> tuple[list[str] | None, dict[str, Sequence[str]], dict[str, Mapping[str, ArrayLike]]]:
    """References, candidates by system, and scores that are there, of a table. A system that has scores need
    not have its column ``candidate:<system>``."""

    def named(head: str) -> dict[str, str]:
        columns = (name for name in map(str, frame.columns) if name.startswith(head))
        return {name.removeprefix(head): name for name in columns}

    ready = dict[str, Mapping[str, ArrayLike]]()
    for metric in metrics:
        there = named(f"{metric}:")
        if kept := {name: list(frame[there[name]]) for name in systems or there if name in there}:
            ready[metric] = kept
    texts = dict[str, Sequence[str]]()
    for name, column in (systems or named(f"{CANDIDATE}:")).items():
        if isinstance(column, str) and column in frame:
            texts[name] = list(frame[column])
        elif column != f"{CANDIDATE}:{name}" or not any(name in by_system for by_system in ready.values()):
            remedy = f"Columns: {listed(frame.columns)}."
            raise MetricError(f"no column {plain(str(column), 40)!r}", "systems", remedy)
    return list(frame[REFERENCE]) if REFERENCE in frame else None, texts, ready


def numbers_of(given: ArrayLike, where: str) -> FloatArray:
    """Scores as an array, shape (n,); MetricError with the row where one is missing or not finite."""
    import pandas as pd

    array = np.array(given, dtype=object)
    if array.ndim != 1:
        raise MetricError(f"shape {array.shape}", where, "Give one score per case.")
    array[[isinstance(score, complex | np.complexfloating) for score in array]] = None
    numbers = pd.to_numeric(pd.Series(array), errors="coerce").to_numpy(np.float64)
    if (bad := np.flatnonzero(~np.isfinite(numbers))).size:
        remedy = "Give a finite number for every case, or leave the case out for all systems."
        raise MetricError("the score is missing, or no finite number", f"{where}, row {bad[0] + 1}", remedy)
    return numbers


def rows_of(tables: Mapping[str, Mapping[str, FloatArray]], references: Sequence[str] | None) -> int:
    """How many rows the tables have, by metric and system.

    Raises
    ------
    MetricError
        If one has another number than the first, or than there are references; only scores may have none.
    """
    (metric, first, expected), *rest = (
        (metric, system, len(statistics))
        for metric, by_system in tables.items()
        for system, statistics in by_system.items()
    )
    if references is not None and len(references) not in (0, expected):
        what = f"{expected} scores of {first!r}, but {len(references)} references"
        raise MetricError(what, metric, "Give one per reference, in the same order.")
    for metric, system, rows in rest:
        if rows != expected:
            what = f"{rows} scores of {system!r}, but {expected} of {first!r}"
            raise MetricError(what, metric, "Give one per case, in the same order.")
    return expected


def _cases_of(frame: pd.DataFrame) -> list[Hashable] | None:
    """The case of each row, from the first of the columns that may have it."""
    column = next((name for name in CASES if name in frame), None)
    return None if column is None else list(frame[column])


def case_numbers(cases: Sequence[Hashable] | None, rows: int) -> NDArray[np.intp]:
    """The number of each row's case, from 0 in order of appearance, shape (rows,); where ``cases`` is None,
    each row is one.

    Raises
    ------
    MetricError
        If there are not as many as rows, a row has none or one that cannot be hashed, or there are fewer than
        two.
    """
    import pandas as pd

    if cases is None:
        cases = range(rows)
    if len(cases) != rows:
        raise MetricError(f"{len(cases)} cases for {rows} rows", "cases", "Give one for each row.")
    blank = pd.isna(pd.Series(cases, dtype=object)) | pd.Series(map(str, cases)).str.strip().eq("")
    if blank.any():
        remedy = "Name the case of every row, or leave the column out."
        raise MetricError("no case", f"cases, row {int(blank.to_numpy().argmax()) + 1}", remedy)
    try:
        numbers = group_numbers("cases", cases, rows)
    except TypeError as error:
        raise MetricError(
            f"a case is neither a text nor a number ({error})", "cases", "Give texts or numbers."
        ) from None
    if (count := len(np.unique(numbers))) < 2:
        raise MetricError(f"{count} case(s)", "references", "Give at least two, better more.")
    return numbers


def table_of_files(
    path: str | Path,
    systems: Mapping[str, str] | None,
    candidates: Mapping[str, str | Path],
    metrics: Iterable[str],
) -> tuple[pd.DataFrame, Mapping[str, str] | None]:
    """The table of a file, with a column for each system whose candidates or scores have a file of their own;
    and the systems by column, with those that came from files.

    Raises
    ------
    MetricError
        If a file has other rows than the first, in another order, or no column that is asked for, or a system
        is named twice.
    """
    import pandas as pd

    wanted = [*metrics]
    rows = table(Path(path))
    frame = pd.DataFrame(rows)
    for name, other in candidates.items():
        if name in (systems or ()):
            raise MetricError(f"two systems are called {name!r}", "candidates", "Rename one.")
        other_rows, where = table(Path(other)), Path(other).name
        theirs = pd.DataFrame(other_rows)
        if len(theirs) != len(frame):
            remedy = "Rows are matched by position, so there must be as many."
            raise MetricError(f"{len(theirs)} rows, but {Path(path).name} has {len(frame)}", where, remedy)
        for key in ("id", REFERENCE):
            both = zip(rows, other_rows, strict=True) if key in frame and key in theirs else ()
            for row, (own, its) in enumerate(both, start=1):
                # As texts: a number of JSON lines is one of CSV too.
                if str(own.get(key)) != str(its.get(key)):
                    what = f"{key!r} is not that of {Path(path).name}"
                    raise MetricError(what, f"{where}, row {row}", "Put the rows in the same order.")
        kept = {CANDIDATE: f"{CANDIDATE}:{name}"}
        kept |= {metric: f"{metric}:{name}" for metric in wanted}
        found = {new: theirs[column] for column, new in kept.items() if column in theirs}
        if not found:
            raise MetricError(f"no column {CANDIDATE!r}", where, f"Columns: {listed(theirs.columns)}.")
        if doubled := [new for new in (kept[CANDIDATE], *found) if new in frame]:
            remedy = "Give the system another name."
            raise MetricError(f"there is already a column {doubled[0]!r}", Path(path).name, remedy)
        frame = frame.assign(**found)
        if systems is not None:
            systems = {**systems, name: f"{CANDIDATE}:{name}"}
    return frame, systems
