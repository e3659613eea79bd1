"""Scores and explanations of tables of report pairs: ``radeval_lib.score`` and ``explain``."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from radeval_lib.errors import ModelError, RadevalError, list_names, to_line
from radeval_lib.metrics.base import Metric, MetricError, Pair, Scores, check_pairs
from radeval_lib.metrics.by_name import ChosenMetrics, Selection, choose
from radeval_lib.metrics.cautions import Cautions, Reason

if TYPE_CHECKING:
    from radeval_lib.rules.lexicon.significance import Context

#: The metric used if none is named, because it needs no model and explains its scores.
DEFAULT = "green_rules_errors"
REFERENCE, CANDIDATE, ID = "reference", "candidate", "id"
#: Columns that can name the case of a row; the first one that a table has is used.
CASES = ("case", "patient")
#: Columns about the patient of a row, which the rule-based judge uses.
CONTEXT = ("age", "indication")
# Unknown values: an empty cell, "___" and "XXXX" in de-identified texts, "NaT", "n/a".
_UNKNOWN = re.compile(r"(?i)|_+|-+|x{3,}|nan|nat|<na>|n/a|none|null|unknown")
# Ages: 45, 045Y, ">89", "90+", "6 months", "2.5 y".
_AGE = re.compile(r"(?i)>?\s*(\d{1,3}(?:\.\d+)?)\s*(y|yo|years?|m|months?|w|weeks?|d|days?)?\+?")
# The number of each unit of age in a year.
_PER_YEAR = {"y": 1.0, "m": 12.0, "w": 365.25 / 7, "d": 365.25}


def name_column(metric: str, candidate: str) -> str:
    """Return the name of the column of scores for a metric and a column of candidates."""
    return metric + candidate.removeprefix(CANDIDATE)


def get_system(candidate: str) -> str:
    """Return the system named by a column of candidates; empty for the column ``candidate``."""
    return candidate.removeprefix(CANDIDATE).removeprefix(":")


def find_candidate_columns(
    frame: pd.DataFrame, metrics: Sequence[str], where: str, start: int = 1
) -> tuple[str, ...]:
    """Return the names of a table's columns of candidates, after checking that its pairs can be scored.

    Parameters
    ----------
    metrics : names of the metrics, whose columns of scores must not exist yet.
    where : the file or argument, for error messages, which never quote report texts.
    start : the number of the first row, for error messages.

    Raises
    ------
    MetricError
        If a column of texts is missing, occurs twice or has a cell that is not a str, or if scores would
        overwrite a column.
    """
    columns = [str(name) for name in frame.columns]
    named_columns = [name for name in columns if name == CANDIDATE or name.startswith(f"{CANDIDATE}:")]
    candidates = tuple(named_columns or [CANDIDATE])
    for name in (REFERENCE, *candidates):
        if (count := columns.count(name)) != 1:
            problem = f"{count} columns are called {to_line(name, 30)!r}" if count else f"no column {name!r}"
            raise MetricError(problem, where, suggest_column(columns, name))
        for row, text in enumerate(frame[name], start):
            if not isinstance(text, str):
                problem = f"the cell of {to_line(name, 30)!r} has type {type(text).__name__}, expected str"
                remedy = "Convert it to a string; use '' for an empty report."
                raise MetricError(problem, f"{where}, row {row}", remedy)
    for name in (name_column(metric, candidate) for metric in metrics for candidate in candidates):
        if name in columns:
            problem = f"the scores would overwrite column {to_line(name, 30)!r}"
            raise MetricError(problem, where, "Rename or remove that column in the input.")
    return candidates


def list_columns(columns: Iterable[object]) -> str:
    """Return a sentence that lists the names of columns.

    A name with a blank, a special character or more than 30 characters is replaced by its length, because in
    a file without a header it may be a report.
    """
    names = [
        name if re.fullmatch(r"[\w.:-]{1,30}", name) else f"a text of {len(name):,} characters"
        for name in map(str, columns)
    ]
    return f"Columns: {list_names(names)}."


def suggest_column(columns: Sequence[str], column: str) -> str:
    """Return the remedy for a table in which ``column`` is missing or occurs twice."""
    similar = next((repr(name) for name in columns if name.lower() == column), "the column of these texts")
    remedy = "Rename or remove one of the two." if column in columns else f"Rename {similar} to {column!r}."
    return f"{list_columns(columns)} {remedy}"


def parse_context(row: Mapping[str, Any], where: str) -> Context | None:
    """Return the patient's age, in years, and indication from a row's columns ``age`` and ``indication``;
    None if both are missing, empty or marked as unknown ("n/a", "___").

    An age is a number of years, a number with a unit (``045Y`` as in DICOM, ``6 months``), or an open-ended
    range, read as its lower bound (``90+``, ``>89``). ``where`` names the file and row, for errors.

    Raises
    ------
    MetricError
        If the age is malformed or not from 0 to 130 years.
    """
    texts = ("" if row.get(name) is None else str(row[name]).strip() for name in CONTEXT)
    age, indication = ("" if _UNKNOWN.fullmatch(text) else text for text in texts)
    if not age and not indication:
        return None
    from radeval_lib.rules.lexicon.significance import Context

    if not age:
        return Context(None, indication)
    age_match = _AGE.fullmatch(age)
    years = float(age_match[1]) / _PER_YEAR[(age_match[2] or "y")[0].lower()] if age_match else -1.0
    if not 0 <= years <= 130:
        remedy = "Use 0 to 130 years, such as 45, 045Y or 90+, or leave the cell empty."
        raise MetricError(f"{to_line(age, 20)!r} is not an age", f"{where}, column 'age'", remedy)
    return Context(years, indication)


def list_cases(frame: pd.DataFrame, where: str) -> list[str]:
    """Return the case of each row: its value in the first column of :data:`CASES` that the table has, else
    the row's number from 1.

    Raises
    ------
    MetricError
        If a row's value is empty or missing. The error names the file or argument ``where``.
    """
    column = next((name for name in CASES if name in frame), None)
    rows = range(1, len(frame) + 1)
    cases = [str(case).strip() for case in (rows if column is None else frame[column].fillna(""))]
    if "" in cases:
        row = rows[cases.index("")]
        remedy = "Fill the column in every row, or remove the column."
        raise MetricError("the cell is empty", f"{where}, row {row}, column {column!r}", remedy)
    return cases


class Results(NamedTuple):
    """The results of one metric for n pairs.

    Attributes
    ----------
    values : the score of each pair, n numbers.
    cautions : the cautions about each pair, n tuples.
    reasons : the reasons for the score of each pair, n lists; empty if no explanations were requested.
    scores : the metric's :class:`Scores`, which have the details; None if the results were read from JSON.
    """

    values: list[float]
    cautions: list[tuple[str, ...]]
    reasons: list[list[Reason]]
    scores: Scores | None = None


class Evaluation(NamedTuple):
    """The results of several metrics for the rows of a table.

    Attributes
    ----------
    columns : the names of the columns of candidates.
    pairs : (reference, candidate), row by row and, within a row, in the order of ``columns``.
    contexts : the context of each pair's patient; None if the table has no contexts or no metric uses them.
    scored : a mapping from metric to its results.
    failed : a mapping from each metric that could not score to its error.
    """

    columns: tuple[str, ...]
    pairs: list[Pair]
    contexts: list[Context | None] | None
    scored: dict[str, Results]
    failed: dict[str, RadevalError]

    def list_reasons(self, index: int) -> list[tuple[str, Reason]]:
        """Return (metric, reason) for every reason that a metric gives for its score of ``pairs[index]``."""
        return [(name, reason) for name, results in self.scored.items() for reason in results.reasons[index]]

    def add_cautions(
        self, cautions: Cautions, ids: Iterable[object], *, start: int = 1, exempt_systems: Sequence[str] = ()
    ) -> list[list[str]]:
        """Count the cautions about all pairs in ``cautions``, and return the cautions about each pair.

        ``ids`` are the ids of the rows, and ``start`` is the number of the first row. Cautions about
        ``exempt_systems`` are neither counted nor returned.
        """
        cautions.add_ids(ids)
        cautions_of_pairs = []
        for index, pair in enumerate(self.pairs):
            row, position = divmod(index, len(self.columns))
            cautions_by_metric = {name: results.cautions[index] for name, results in self.scored.items()}
            if (system := get_system(self.columns[position])) not in exempt_systems:
                cautions_of_pairs.append(cautions.add(system, start + row, pair, cautions_by_metric))
        return cautions_of_pairs


def evaluate(
    frame: pd.DataFrame, metrics: Mapping[str, Metric], where: str, start: int = 1, *, explained: bool = False
) -> Evaluation:
    """Return the results of every metric for every pair of a table, after checking the table's columns.

    Parameters
    ----------
    frame : a table with a column ``reference`` and a column ``candidate`` or ``candidate:<system>``.
    metrics : a mapping from name to metric.
    where, start : the file or argument, and the number of the first row, for error messages.
    explained : whether to compute the reasons for scores.

    Raises
    ------
    MetricError
        If the table or a context is malformed. A metric's error is kept in :attr:`Evaluation.failed` instead.
    """
    columns = find_candidate_columns(frame, list(metrics), where, start)
    pairs = list_pairs(frame, columns)
    context_columns = [name for name in CONTEXT if name in frame]
    contexts: list[Context | None] | None = None
    if context_columns and any(metric.reads_context() for metric in metrics.values()):
        rows = enumerate(frame[context_columns].to_dict("records"), start)
        row_contexts = [parse_context(row, f"{where}, row {number}") for number, row in rows]
        contexts = [context for context in row_contexts for _ in columns]
    scored, failed = dict[str, Results](), dict[str, RadevalError]()
    references, candidates = ([pair[side] for pair in pairs] for side in (0, 1))
    for name, metric in metrics.items():
        try:
            scores = metric.score(references, candidates, contexts)
            triples = [(*pair, detail) for pair, detail in zip(pairs, scores.details, strict=True)]
            scored[name] = Results(
                scores.values.tolist(),
                [tuple(metric.cautions(*triple)) for triple in triples],
                [list(metric.explain(*triple)) for triple in triples] if explained else [],
                scores,
            )
        except ModelError as error:
            keys = " or ".join(f"{name}.{role}" for role in metric.models())
            remedy = f"{error.remedy} To use another model, set {keys}."
            failed[name] = MetricError(error.what, ", ".join(filter(None, (name, error.where))), remedy)
        except RadevalError as error:
            failed[name] = error
    return Evaluation(columns, pairs, contexts, scored, failed)


def list_pairs(frame: pd.DataFrame, columns: Sequence[str]) -> list[Pair]:
    """Return (reference, candidate) for each row of a table and, within a row, for each of ``columns``."""
    texts = zip(frame[REFERENCE], *(frame[column] for column in columns), strict=True)
    return [(reference, candidate) for reference, *candidates in texts for candidate in candidates]


def add_scores(frame: pd.DataFrame, columns: Sequence[str], scored: Mapping[str, Results]) -> pd.DataFrame:
    """Return the table with an added column of scores, ``<metric>`` or ``<metric>:<system>``, for each metric
    and column of candidates."""
    score_columns = {
        name_column(name, column): pd.Series(
            results.values[position :: len(columns)], frame.index, dtype=float
        )
        for name, results in scored.items()
        for position, column in enumerate(columns)
    }
    return frame.assign(**score_columns)


def build_explanation(reasons: Iterable[tuple[str, Reason]], pair: Pair, *, texts: bool) -> dict[str, Any]:
    """Return the explanation of a pair's scores as a JSON-ready dictionary; without ``texts``, it does not
    quote the pair.

    Returns
    -------
    dict
        ``coverage`` is the mean share of the meaningful words that the rules read, from 0 to 1
        (:func:`radeval_lib.rules.reader.coverage`); None if neither text has any. For ``reference`` and
        ``candidate``, ``unread`` has [start, end] of each statement that was not read, and ``in_part`` a
        dictionary per statement that was read in part, with its ``span`` and the positions (``unused``) and
        ``kinds`` of its unread words. ``reasons`` has a dictionary per reason with ``metric`` and the fields
        of :class:`Reason`; there, ``reference`` and ``candidate`` are None or a dictionary with ``start``,
        ``end``, ``words`` and, for errors, the ``sentence`` in which these words begin. Without ``texts``,
        ``quoted``, ``words`` and ``sentence`` are missing.
    """
    from radeval_lib.rules.reader import coverage

    sides = dict(zip((REFERENCE, CANDIDATE), pair, strict=True))
    coverages = {side: coverage(text) for side, text in sides.items()}
    records = []
    for metric, reason in reasons:
        record: dict[str, Any] = {"metric": metric, **reason._asdict()}
        for side, text in sides.items():
            if (span := getattr(reason, side)) is not None:
                record[side] = {"start": span[0], "end": span[1]}
                if texts:
                    record[side]["words"] = text[slice(*span)]
                if texts and reason.kind == "error":
                    statements = coverages[side].statements
                    sentences = ((start, end) for start, end in statements if start <= span[0] < end)
                    record[side]["sentence"] = text[slice(*next(sentences, span))]
        if not texts:
            del record["quoted"]
        records.append(record)
    shares = [result.share for result in coverages.values() if result.share is not None]
    return {
        "coverage": round(sum(shares) / len(shares), 4) if shares else None,
        "unread": {side: [list(span) for span in result.unread] for side, result in coverages.items()},
        "in_part": {side: [part._asdict() for part in result.in_part] for side, result in coverages.items()},
        "reasons": records,
    }


def score(
    references: Sequence[str] | pd.DataFrame,
    candidates: Sequence[str] | None = None,
    *,
    metrics: Selection = DEFAULT,
) -> pd.DataFrame:
    """Return a DataFrame with the scores of candidates against the references of the same rows.

    Cautions (with their rows), remarks on metrics, substitute models and metrics that could not score are
    issued as warnings.

    Parameters
    ----------
    references, candidates : equally many texts; or, as ``references`` alone, a DataFrame with a column
        ``reference`` and a column ``candidate`` or, for each system, ``candidate:<system>``. The rule-based
        judge takes the patient's context, which changes the weights of errors, from the columns ``age`` and
        ``indication``, if present.
    metrics : a name, names, or a mapping from name to settings; ``all`` selects all metrics that can score on
        this machine. See :func:`~radeval_lib.metrics.by_name.choose`.

    Returns
    -------
    DataFrame
        The input rows in their order, with a float column ``<metric>`` or ``<metric>:<system>`` for each
        metric and column of candidates.

    Raises
    ------
    MetricError
        If texts, ages or columns are malformed, a metric or setting is unknown, or a value is not allowed.
    RadevalError
        If no metric can score: the error of the first one.

    Example
    -------
    >>> float(score(["Small left effusion."], ["Small right effusion."])["green_rules_errors"].iloc[0])
    0.25
    """
    frame, evaluation = _evaluate_and_warn(references, candidates, metrics, explained=False)
    return add_scores(frame, evaluation.columns, evaluation.scored)


def explain(
    references: Sequence[str] | pd.DataFrame,
    candidates: Sequence[str] | None = None,
    *,
    metrics: Selection = DEFAULT,
    texts: bool = True,
) -> pd.DataFrame:
    """Return a DataFrame of the reasons for scores: errors with their positions in the texts, and matched or
    unmatched entities.

    Parameters
    ----------
    references, candidates, metrics : as for :func:`score`.
    texts : whether the DataFrame may quote words of the texts.

    Returns
    -------
    DataFrame
        A row for each reason, with the index of the pair's row. The columns are ``column``, the name of the
        candidate's column; ``coverage``, the mean share of meaningful words that the rules read in both texts
        (0 to 1; missing if there are none); ``metric``, and its ``score`` of the pair; the fields of
        :class:`~radeval_lib.metrics.cautions.Reason`, without ``quoted`` unless ``texts`` is True; the
        position of the reason in each text, as ``reference_start``, ``reference_end`` (exclusive),
        ``candidate_start`` and ``candidate_end``; and, with ``texts``, the words there and their sentence, as
        ``reference_words`` and so on.

    Raises
    ------
    MetricError, RadevalError
        In the same cases as :func:`score`.

    Example
    -------
    >>> explain(["Small left effusion."], ["Small right effusion."])["says"].tolist()
    ['pleural effusion in right instead of left']
    """
    frame, evaluation = _evaluate_and_warn(references, candidates, metrics, explained=True)
    spans = ("start", "end", *(("words", "sentence") if texts else ()))
    hidden_fields = (REFERENCE, CANDIDATE, *(() if texts else ("quoted",)))
    columns = ["column", "coverage", "score", "metric"]
    columns += [name for name in Reason._fields if name not in hidden_fields]
    columns += [f"{side}_{key}" for side in (REFERENCE, CANDIDATE) for key in spans]
    labels, rows = [], []
    for index, pair in enumerate(evaluation.pairs):
        record = build_explanation(evaluation.list_reasons(index), pair, texts=texts)
        row, position = divmod(index, len(evaluation.columns))
        for reason in record["reasons"]:
            labels.append(frame.index[row])
            value = evaluation.scored[reason["metric"]].values[index]
            fields = {"column": evaluation.columns[position], "coverage": record["coverage"], "score": value}
            rows.append(fields | reason)
    flat = pd.json_normalize(rows, sep="_")  # Nested spans become columns such as reference_start.
    table = flat.reindex(columns=columns).set_axis(pd.Index(labels, name=frame.index.name))
    return table.astype({name: "Int64" for name in table if name.endswith(("_start", "_end"))})


def _evaluate_and_warn(
    references: Sequence[str] | pd.DataFrame,
    candidates: Sequence[str] | None,
    metrics: Selection,
    *,
    explained: bool,
) -> tuple[pd.DataFrame, Evaluation]:
    """Return the table of pairs, and its evaluation by all requested metrics that can score.

    Each caution, remark, substitute model and left-out metric is issued as a warning.

    Raises
    ------
    MetricError
        If ``candidates`` is None and ``references`` is not a DataFrame; if texts, ages, columns or
        ``metrics`` are malformed.
    RadevalError
        If no metric can score: the error of the first one.
    """
    if candidates is not None:
        pairs = check_pairs(references, candidates)
        frame = pd.DataFrame(pairs, columns=[REFERENCE, CANDIDATE], dtype=object)
    elif isinstance(references, pd.DataFrame):
        frame = references
    else:
        remedy = "Pass two lists of texts, or one DataFrame with both columns."
        raise MetricError("missing, and the references are not a DataFrame", "candidates", remedy)
    chosen = choose(metrics)
    evaluation = evaluate(frame, chosen.metrics, "references", explained=explained)
    chosen.leave_out(evaluation.failed)
    cautions = Cautions(evaluation.scored)
    evaluation.add_cautions(cautions, frame.get(ID, ()))
    for line in [*cautions.lines(), *list_notes(chosen)]:
        warnings.warn(line, stacklevel=3)
    return frame, evaluation


def list_notes(chosen: ChosenMetrics) -> list[str]:
    """Return one line for each metric's remark, for its substitute models, and for the reason that a metric
    was left out."""
    return [
        *(f"{name}: {metric.remark}" for name, metric in chosen.metrics.items() if metric.remark),
        *(f"{name}: {note}" for name, note in chosen.substitutes.items()),
        *(f"{name} was left out: {why}" for name, why in chosen.left_out.items()),
    ]
