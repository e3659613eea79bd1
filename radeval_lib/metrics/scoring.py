"""Scores and explanations of tables of report pairs: ``radeval_lib.score`` and ``explain``."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from radeval_lib.errors import ModelError, RadevalError, listed, plain
from radeval_lib.metrics.base import Metric, MetricError, Pair, Scores, checked_pairs
from radeval_lib.metrics.by_name import Chosen, Wanted, choose
from radeval_lib.metrics.cautions import Cautions, Reason

if TYPE_CHECKING:
    from radeval_lib.rules.lexicon.significance import Context

DEFAULT = "green_rules_errors"
"""The metric if none is named: it needs no model and explains itself."""
REFERENCE, CANDIDATE, ID = "reference", "candidate", "id"
CASES = ("case", "patient")
"""Columns that may name a row's case; the first that a table has counts."""
CONTEXT = ("age", "indication")
"""Columns about a row's patient, which the rule-based judge reads."""
# An empty cell, "___" and "XXXX" of de-identified texts, "NaT", "n/a".
_NOTHING = re.compile(r"(?i)|_+|-+|x{3,}|nan|nat|<na>|n/a|none|null|unknown")
# 45, 045Y, ">89", "90+", "6 months", "2.5 y".
_AGE = re.compile(r"(?i)>?\s*(\d{1,3}(?:\.\d+)?)\s*(y|yo|years?|m|months?|w|weeks?|d|days?)?\+?")
_PER_YEAR = {"y": 1.0, "m": 12.0, "w": 365.25 / 7, "d": 365.25}


def score_column(metric: str, candidate: str) -> str:
    """Return the name of the column for a metric's scores of a column of candidates."""
    return metric + candidate.removeprefix(CANDIDATE)


def system_of(candidate: str) -> str:
    """Return the system of a column of candidates; empty for the column ``candidate``."""
    return candidate.removeprefix(CANDIDATE).removeprefix(":")


def candidate_columns(
    frame: pd.DataFrame, metrics: Sequence[str], where: str, start: int = 1
) -> tuple[str, ...]:
    """Return the columns of candidates of a table whose pairs the metrics can score.

    Parameters
    ----------
    where : the file or argument, for messages; these repeat no text.
    start : the number of the first row.

    Raises
    ------
    MetricError
        If a column of texts is missing, occurs twice or holds something else, or if scores would overwrite a
        column.
    """
    columns = [str(name) for name in frame.columns]
    named = [name for name in columns if name == CANDIDATE or name.startswith(f"{CANDIDATE}:")]
    candidates = tuple(named or [CANDIDATE])
    for name in (REFERENCE, *candidates):
        if (count := columns.count(name)) != 1:
            problem = f"two columns are called {plain(name, 30)!r}" if count else f"no column {name!r}"
            raise MetricError(problem, where, describe_columns(columns))
        for row, text in enumerate(frame[name], start):
            if not isinstance(text, str):
                problem = f"{plain(name, 30)!r} is of type {type(text).__name__}, not a string"
                remedy = "Convert it to a string; use '' for an empty report."
                raise MetricError(problem, f"{where}, row {row}", remedy)
    for name in (score_column(metric, candidate) for metric in metrics for candidate in candidates):
        if name in columns:
            problem = f"the scores would overwrite column {plain(name, 30)!r}"
            raise MetricError(problem, where, "Rename that column in the input.")
    return candidates


def describe_columns(columns: Sequence[str]) -> str:
    """Return a message that lists the columns and says which to rename. It does not repeat a name of several
    words, which in a file without a header may be a report."""
    names = [
        name if re.fullmatch(r"[\w.:-]{1,30}", name) else f"a text of {len(name):,} characters"
        for name in columns
    ]
    wanted = {REFERENCE, CANDIDATE} - set(columns)
    alike = next((name for name in columns if name.lower() in wanted), None)
    remedy = f"Rename {alike!r} to {alike.lower()!r}." if alike else "Rename the column that holds the texts."
    return f"Columns: {listed(names)}. {remedy}"


def context_of(row: Mapping[str, Any], where: str) -> Context | None:
    """Return the context in a row; None if both values are empty or marked as unknown.

    An age is a number of years, a number with a unit (``045Y`` as in DICOM, ``6 months``), or the lower end
    of an open range (``90+``, ``>89``).

    Raises
    ------
    MetricError
        If the age has another form or is not from 0 to 130 years; ``where`` names the row.
    """
    texts = ("" if row.get(name) is None else str(row[name]).strip() for name in CONTEXT)
    age, indication = ("" if _NOTHING.fullmatch(text) else text for text in texts)
    if not age and not indication:
        return None
    from radeval_lib.rules.lexicon.significance import Context

    if not age:
        return Context(None, indication)
    parts = _AGE.fullmatch(age)
    years = float(parts[1]) / _PER_YEAR[(parts[2] or "y")[0].lower()] if parts else -1.0
    if not 0 <= years <= 130:
        remedy = "Give years, from 0 to 130, or leave it empty."
        raise MetricError(f"{plain(age, 20)!r} is not an age", f"{where}, column 'age'", remedy)
    return Context(years, indication)


def cases_of(frame: pd.DataFrame, where: str) -> list[str]:
    """Return the case of each row: its value in a column of :data:`CASES`, else the row's number from 1."""
    column = next((name for name in CASES if name in frame), None)
    rows = range(1, len(frame) + 1)
    cases = [str(case).strip() for case in (rows if column is None else frame[column].fillna(""))]
    if "" in cases:
        remedy = "Name the case of every row, or leave the column out."
        raise MetricError("no case", f"{where}, row {rows[cases.index('')]}, column {column!r}", remedy)
    return cases


class Scored(NamedTuple):
    """A metric's results, an entry for each pair: values, cautions and, if requested, reasons. ``scores`` has
    the details."""

    values: list[float]
    cautions: list[tuple[str, ...]]
    reasons: list[list[Reason]]
    scores: Scores | None = None


class Evaluation(NamedTuple):
    """The results of metrics for a table.

    Attributes
    ----------
    columns : the columns of candidates.
    pairs : reference and candidate; the pairs of a row are together.
    contexts : of the patient of each pair; None if the table gives none.
    scored : by metric.
    failed : by metric that could not score, its error.
    """

    columns: tuple[str, ...]
    pairs: list[Pair]
    contexts: list[Context | None] | None
    scored: dict[str, Scored]
    failed: dict[str, RadevalError]

    def reasons(self, at: int) -> list[tuple[str, Reason]]:
        """Return the reasons of all metrics for a pair, each with its metric's name."""
        return [(name, reason) for name, scored in self.scored.items() for reason in scored.reasons[at]]

    def add_cautions(
        self, cautions: Cautions, ids: Iterable[object], *, start: int = 1, without: Sequence[str] = ()
    ) -> list[list[str]]:
        """Add the cautions of all pairs, except of systems left out, and the ids of the rows; return the
        cautions of each pair. ``start`` is the number of the first row."""
        cautions.add_ids(ids)
        added = []
        for at, pair in enumerate(self.pairs):
            row, position = divmod(at, len(self.columns))
            of_metrics = {name: scored.cautions[at] for name, scored in self.scored.items()}
            if (system := system_of(self.columns[position])) not in without:
                added.append(cautions.add(system, start + row, pair, of_metrics))
        return added


def evaluate(
    frame: pd.DataFrame,
    metrics: Mapping[str, Metric],
    where: str,
    start: int = 1,
    *,
    explained: bool = False,
) -> Evaluation:
    """Check a table and score its pairs.

    Parameters
    ----------
    metrics : by name.
    where, start : the file or argument, and the number of the first row, for messages.
    explained : whether to ask for reasons.

    Raises
    ------
    MetricError
        If the table or a context is malformed. Errors of a metric are in :attr:`Evaluation.failed`.
    """
    columns = candidate_columns(frame, list(metrics), where, start)
    pairs = pairs_of(frame, columns)
    given = [name for name in CONTEXT if name in frame]
    contexts: list[Context | None] | None = None
    if given and any(metric.reads_context() for metric in metrics.values()):
        rows = enumerate(frame[given].to_dict("records"), start)
        of_rows = [context_of(row, f"{where}, row {number}") for number, row in rows]
        contexts = [context for context in of_rows for _ in columns]
    scored, failed = dict[str, Scored](), dict[str, RadevalError]()
    references, candidates = ([pair[side] for pair in pairs] for side in (0, 1))
    for name, metric in metrics.items():
        try:
            scores = metric.score(references, candidates, contexts)
            detailed = [(*pair, detail) for pair, detail in zip(pairs, scores.details, strict=True)]
            scored[name] = Scored(
                scores.values.tolist(),
                [tuple(metric.cautions(*pair)) for pair in detailed],
                [list(metric.explain(*pair)) for pair in detailed] if explained else [],
                scores,
            )
        except ModelError as error:
            roles = " and ".join(f"{name}.{role}" for role in metric.needs)
            remedy = f"{error.remedy} The setting is {roles}."
            failed[name] = MetricError(error.what, ", ".join(filter(None, (name, error.where))), remedy)
        except RadevalError as error:
            failed[name] = error
    return Evaluation(columns, pairs, contexts, scored, failed)


def pairs_of(frame: pd.DataFrame, columns: Sequence[str]) -> list[Pair]:
    """Return the pairs of a table, with those of a row together."""
    texts = zip(frame[REFERENCE], *(frame[column] for column in columns), strict=True)
    return [(reference, candidate) for reference, *candidates in texts for candidate in candidates]


def with_scores(frame: pd.DataFrame, columns: Sequence[str], scored: Mapping[str, Scored]) -> pd.DataFrame:
    """Return a table with its scores in columns ``<metric>`` or ``<metric>:<system>``."""
    added = {
        score_column(name, column): pd.Series(
            of_pairs.values[position :: len(columns)], frame.index, dtype=float
        )
        for name, of_pairs in scored.items()
        for position, column in enumerate(columns)
    }
    return frame.assign(**added)


def explanation_record(reasons: Iterable[tuple[str, Reason]], pair: Pair, *, texts: bool) -> dict[str, Any]:
    """Return a pair's explanation from the metrics' reasons, ready for JSON; without ``texts`` it has no
    words of the pair.

    Returns
    -------
    dict
        ``coverage``: the mean share of what the texts say that the rules could read
        (:func:`radeval_lib.rules.reader.coverage`), None if they say nothing. ``unread``: by side, the
        spans of statements that were not read. ``in_part``: by side, the statements that were read only in
        part: ``span``, and the positions (``unused``) and ``kinds`` of the words that were not. ``reasons``:
        one dictionary per reason: ``metric`` and the fields of :class:`Reason`, where ``reference`` and
        ``candidate`` are None or a dictionary with ``start``, ``end``, ``words`` and, for errors, the
        ``sentence`` that contains them.
    """
    from radeval_lib.rules.reader import coverage

    sides = dict(zip((REFERENCE, CANDIDATE), pair, strict=True))
    read = {side: coverage(text) for side, text in sides.items()}
    records = []
    for metric, reason in reasons:
        record: dict[str, Any] = {"metric": metric, **reason._asdict()}
        for side, text in sides.items():
            if (span := getattr(reason, side)) is not None:
                record[side] = {"start": span[0], "end": span[1]}
                if texts:
                    record[side]["words"] = text[slice(*span)]
                if texts and reason.kind == "error":
                    around = (held for held in read[side].statements if held[0] <= span[0] < held[1])
                    record[side]["sentence"] = text[slice(*next(around, span))]
        if not texts:
            del record["quoted"]
        records.append(record)
    shares = [covered.share for covered in read.values() if covered.share is not None]
    return {
        "coverage": round(sum(shares) / len(shares), 4) if shares else None,
        "unread": {side: [list(span) for span in covered.unread] for side, covered in read.items()},
        "in_part": {side: [part._asdict() for part in covered.in_part] for side, covered in read.items()},
        "reasons": records,
    }


def score(
    references: Sequence[str] | pd.DataFrame,
    candidates: Sequence[str] | None = None,
    *,
    metrics: Wanted = DEFAULT,
) -> pd.DataFrame:
    """Score candidates against the references of the same rows.

    Warns of cautions, with their rows, of substitute models, and of metrics that could not score.

    Parameters
    ----------
    references, candidates : equally many texts; or a pandas table alone, with a column ``reference`` and
        ``candidate`` or, for each system, ``candidate:<system>``. Its columns ``age`` and ``indication``
        decide how much errors weigh for the rule-based judge.
    metrics : a name, names, or settings by name; ``all`` selects all that can score on this machine. See
        :func:`~radeval_lib.metrics.by_name.choose`.

    Returns
    -------
    DataFrame
        The table with a column ``<metric>``, or ``<metric>:<system>``, for each.

    Raises
    ------
    MetricError
        If the texts or columns are malformed, a metric or setting is unknown, or no metric can score.

    Example
    -------
    >>> float(score(["Small left effusion."], ["Small right effusion."])["green_rules_errors"].iloc[0])
    0.25
    """
    frame, evaluation = _evaluated(references, candidates, metrics, explained=False)
    return with_scores(frame, evaluation.columns, evaluation.scored)


def explain(
    references: Sequence[str] | pd.DataFrame,
    candidates: Sequence[str] | None = None,
    *,
    metrics: Wanted = DEFAULT,
    texts: bool = True,
) -> pd.DataFrame:
    """Return the reasons for scores: errors with their places, and entities that match or do not.

    Parameters
    ----------
    references, candidates, metrics : as for :func:`score`.
    texts : whether words of the texts may be quoted.

    Returns
    -------
    DataFrame
        A row for each reason, under the index of its pair, with the fields of :func:`explanation_record`; a
        pair without reasons has no row. The columns are always the same.

    Raises
    ------
    MetricError
        As :func:`score`.

    Example
    -------
    >>> explain(["Small left effusion."], ["Small right effusion."])["says"].tolist()
    ['pleural effusion in right instead of left']
    """
    frame, evaluation = _evaluated(references, candidates, metrics, explained=True)
    spans = ("start", "end", *(("words", "sentence") if texts else ()))
    left_out = (REFERENCE, CANDIDATE, *(() if texts else ("quoted",)))
    columns = ["column", "coverage", "score", "metric"]
    columns += [name for name in Reason._fields if name not in left_out]
    columns += [f"{side}_{key}" for side in (REFERENCE, CANDIDATE) for key in spans]
    labels, rows = [], []
    for at, pair in enumerate(evaluation.pairs):
        record = explanation_record(evaluation.reasons(at), pair, texts=texts)
        row, position = divmod(at, len(evaluation.columns))
        for reason in record["reasons"]:
            labels.append(frame.index[row])
            value = evaluation.scored[reason["metric"]].values[at]
            head = {"column": evaluation.columns[position], "coverage": record["coverage"], "score": value}
            rows.append(head | reason)
    flat = pd.json_normalize(rows, sep="_")  # a span gets columns of its own, such as reference_start
    table = flat.reindex(columns=columns).set_axis(pd.Index(labels, name=frame.index.name))
    return table.astype({name: "Int64" for name in table if name.endswith(("_start", "_end"))})


def _evaluated(
    references: Sequence[str] | pd.DataFrame,
    candidates: Sequence[str] | None,
    metrics: Wanted,
    *,
    explained: bool,
) -> tuple[pd.DataFrame, Evaluation]:
    """Return the table with the metrics' results, and warn of any cautions."""
    if candidates is not None:
        pairs = checked_pairs(references, candidates)
        frame = pd.DataFrame(pairs, columns=[REFERENCE, CANDIDATE], dtype=object)
    elif isinstance(references, pd.DataFrame):
        frame = references
    else:
        remedy = "Give two lists of texts, or a pandas table alone."
        raise MetricError("no candidates", "candidates", remedy)
    chosen = choose(metrics)
    evaluation = evaluate(frame, chosen.metrics, "references", explained=explained)
    chosen.leave_out(evaluation.failed)
    cautions = Cautions(evaluation.scored)
    evaluation.add_cautions(cautions, frame.get(ID, ()))
    for line in [*cautions.lines(), *notes_of(chosen)]:
        warnings.warn(line, stacklevel=3)
    return frame, evaluation


def notes_of(chosen: Chosen) -> list[str]:
    """Return a line for each metric that was left out or differs from what its name promises."""
    return [
        *(f"{name}: {metric.remark}" for name, metric in chosen.metrics.items() if metric.remark),
        *(f"{name}: {note}" for name, note in chosen.substitutes.items()),
        *(f"{name} was left out: {why}" for name, why in chosen.left_out.items()),
    ]
