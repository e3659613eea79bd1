"""Scores and explanations of tables of report pairs: ``radeval_lib.score`` and ``explain``."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from radeval_lib.errors import ModelError, RadevalError, list_names, to_line
from radeval_lib.metrics.base import Metric, MetricError, Pair, Scores, check_pairs
from radeval_lib.metrics.by_name import Chosen, Wanted, choose
from radeval_lib.metrics.cautions import Cautions, Reason

if TYPE_CHECKING:
    from radeval_lib.rules.lexicon.significance import Context

#: The metric if none is named: it needs no model and explains itself.
DEFAULT = "green_rules_errors"
REFERENCE, CANDIDATE, ID = "reference", "candidate", "id"
#: Columns that can name the case of a row; the first one that a table has is used.
CASES = ("case", "patient")
#: Columns about the patient of a row, which the rule-based judge uses.
CONTEXT = ("age", "indication")
# Unknown values: an empty cell, "___" and "XXXX" in de-identified texts, "NaT", "n/a".
_NOTHING = re.compile(r"(?i)|_+|-+|x{3,}|nan|nat|<na>|n/a|none|null|unknown")
# Ages: 45, 045Y, ">89", "90+", "6 months", "2.5 y".
_AGE = re.compile(r"(?i)>?\s*(\d{1,3}(?:\.\d+)?)\s*(y|yo|years?|m|months?|w|weeks?|d|days?)?\+?")
_PER_YEAR = {"y": 1.0, "m": 12.0, "w": 365.25 / 7, "d": 365.25}


def name_column(metric: str, candidate: str) -> str:
    """Return the name of the column for a metric's scores of a column of candidates."""
    return metric + candidate.removeprefix(CANDIDATE)


def get_system(candidate: str) -> str:
    """Return the system of a column of candidates; empty for the column ``candidate``."""
    return candidate.removeprefix(CANDIDATE).removeprefix(":")


def find_candidates(
    frame: pd.DataFrame, metrics: Sequence[str], where: str, start: int = 1
) -> tuple[str, ...]:
    """Return the names of a table's columns of candidates, after checking that its pairs can be scored.

    Parameters
    ----------
    metrics : names of the metrics, whose columns of scores must not exist yet.
    where : the file or argument, for errors; these repeat no text.
    start : the number of the first row, for errors.

    Raises
    ------
    MetricError
        If a column of texts is missing, occurs twice or holds something else, or if scores would overwrite a
        column.
    """
    columns = [str(name) for name in frame.columns]
    candidates_named = [name for name in columns if name == CANDIDATE or name.startswith(f"{CANDIDATE}:")]
    candidates = tuple(candidates_named or [CANDIDATE])
    for name in (REFERENCE, *candidates):
        if (count := columns.count(name)) != 1:
            problem = f"two columns are called {to_line(name, 30)!r}" if count else f"no column {name!r}"
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


def suggest_column(columns: Sequence[str], wanted: str) -> str:
    """Return the remedy for a table in which the column ``wanted`` is missing or occurs twice."""
    similar = next((repr(name) for name in columns if name.lower() == wanted), "the column of these texts")
    remedy = "Rename or remove one of them." if wanted in columns else f"Rename {similar} to {wanted!r}."
    return f"{list_columns(columns)} {remedy}"


def parse_context(row: Mapping[str, Any], where: str) -> Context | None:
    """Return the age, in years, and the indication in a row's columns ``age`` and ``indication``; None if
    both are missing, empty or marked as unknown ("n/a", "___").

    An age is a number of years, a number with a unit (``045Y`` as in DICOM, ``6 months``), or the lower end
    of an open range (``90+``, ``>89``). ``where`` names the file and row, for errors.

    Raises
    ------
    MetricError
        If the age has another form or is not from 0 to 130 years.
    """
    texts = ("" if row.get(name) is None else str(row[name]).strip() for name in CONTEXT)
    age, indication = ("" if _NOTHING.fullmatch(text) else text for text in texts)
    if not age and not indication:
        return None
    from radeval_lib.rules.lexicon.significance import Context

    if not age:
        return Context(None, indication)
    age_match = _AGE.fullmatch(age)
    years = float(age_match[1]) / _PER_YEAR[(age_match[2] or "y")[0].lower()] if age_match else -1.0
    if not 0 <= years <= 130:
        remedy = "Give 0 to 130 years, such as 45, 045Y or 90+, or leave the cell empty."
        raise MetricError(f"{to_line(age, 20)!r} is not an age", f"{where}, column 'age'", remedy)
    return Context(years, indication)


def cases_of(frame: pd.DataFrame, where: str) -> list[str]:
    """Return the case of each row: its value in the first column of :data:`CASES` that the table has, else
    the row's number from 1.

    Raises
    ------
    MetricError
        If a row's value is empty or missing; ``where`` names the file or argument.
    """
    column = next((name for name in CASES if name in frame), None)
    rows = range(1, len(frame) + 1)
    cases = [str(case).strip() for case in (rows if column is None else frame[column].fillna(""))]
    if "" in cases:
        row = rows[cases.index("")]
        remedy = "Fill the column in every row, or remove it."
        raise MetricError("the cell is empty", f"{where}, row {row}, column {column!r}", remedy)
    return cases


class Scored(NamedTuple):
    """The results of one metric for n pairs.

    Attributes
    ----------
    values : the score of each pair, n numbers.
    cautions : the cautions about each pair, n tuples.
    reasons : the reasons for the score of each pair, n lists; empty if no explanations were requested.
    scores : the same scores with the details of each pair; None if the results were read from JSON.
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
    contexts : the context of the patient of each pair; None if the table has none, or no metric uses them.
    scored : the results by metric.
    failed : the error of each metric that could not score.
    """

    columns: tuple[str, ...]
    pairs: list[Pair]
    contexts: list[Context | None] | None
    scored: dict[str, Scored]
    failed: dict[str, RadevalError]

    def reasons(self, at: int) -> list[tuple[str, Reason]]:
        """Return (metric, reason) for the pair at position ``at`` of ``pairs``, for all metrics."""
        return [(name, reason) for name, scored in self.scored.items() for reason in scored.reasons[at]]

    def add_cautions(
        self, cautions: Cautions, ids: Iterable[object], *, start: int = 1, without: Sequence[str] = ()
    ) -> list[list[str]]:
        """Count the cautions about all pairs in ``cautions``, and return them pair by pair.

        ``ids`` are the ids of the rows, ``start`` is the number of the first row. The pairs of the systems in
        ``without`` are neither counted nor returned.
        """
        cautions.add_ids(ids)
        cautions_of_pairs = []
        for at, pair in enumerate(self.pairs):
            row, position = divmod(at, len(self.columns))
            cautions_by_metric = {name: scored.cautions[at] for name, scored in self.scored.items()}
            if (system := get_system(self.columns[position])) not in without:
                cautions_of_pairs.append(cautions.add(system, start + row, pair, cautions_by_metric))
        return cautions_of_pairs


def evaluate(
    frame: pd.DataFrame, metrics: Mapping[str, Metric], where: str, start: int = 1, *, explained: bool = False
) -> Evaluation:
    """Return the scores of every pair of a table by every metric, after checking the table's columns.

    Parameters
    ----------
    frame : a table with a column ``reference`` and a column ``candidate`` or ``candidate:<system>``.
    metrics : the metrics by name.
    where, start : the file or argument, and the number of the first row, for errors.
    explained : whether to compute the reasons for scores.

    Raises
    ------
    MetricError
        If the table or a context is malformed. Errors of a metric are in :attr:`Evaluation.failed`.
    """
    columns = find_candidates(frame, list(metrics), where, start)
    pairs = list_pairs(frame, columns)
    context_columns = [name for name in CONTEXT if name in frame]
    contexts: list[Context | None] | None = None
    if context_columns and any(metric.reads_context() for metric in metrics.values()):
        rows = enumerate(frame[context_columns].to_dict("records"), start)
        row_contexts = [parse_context(row, f"{where}, row {number}") for number, row in rows]
        contexts = [context for context in row_contexts for _ in columns]
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


def list_pairs(frame: pd.DataFrame, columns: Sequence[str]) -> list[Pair]:
    """Return (reference, candidate) for each row of a table and, within a row, each column of candidates."""
    texts = zip(frame[REFERENCE], *(frame[column] for column in columns), strict=True)
    return [(reference, candidate) for reference, *candidates in texts for candidate in candidates]


def add_scores(frame: pd.DataFrame, columns: Sequence[str], scored: Mapping[str, Scored]) -> pd.DataFrame:
    """Return a table with a column of scores, ``<metric>`` or ``<metric>:<system>``, for each metric and
    column of candidates."""
    score_columns = {
        name_column(name, column): pd.Series(
            of_pairs.values[position :: len(columns)], frame.index, dtype=float
        )
        for name, of_pairs in scored.items()
        for position, column in enumerate(columns)
    }
    return frame.assign(**score_columns)


def build_explanation(reasons: Iterable[tuple[str, Reason]], pair: Pair, *, texts: bool) -> dict[str, Any]:
    """Return the explanation of a pair's scores as a dictionary for JSON; without ``texts`` it has no words
    of the pair.

    Returns
    -------
    dict
        ``coverage``: the mean share of the meaningful words that the rules read, from 0 to 1
        (:func:`radeval_lib.rules.reader.coverage`); None if neither text has any. ``unread``: by
        ``reference`` and ``candidate``, the [start, end] of statements that were not read. ``in_part``:
        likewise the statements that were read in part, with ``span``, and the positions (``unused``) and
        ``kinds`` of the words that were not. ``reasons``: a dictionary per reason with ``metric`` and the
        fields of :class:`Reason`, in which ``reference`` and ``candidate`` are None or a dictionary with
        ``start``, ``end``, ``words`` and, for errors, the ``sentence`` that contains them.
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
                    containing = (each for each in statements if each[0] <= span[0] < each[1])
                    record[side]["sentence"] = text[slice(*next(containing, span))]
        if not texts:
            del record["quoted"]
        records.append(record)
    shares = [covered.share for covered in coverages.values() if covered.share is not None]
    return {
        "coverage": round(sum(shares) / len(shares), 4) if shares else None,
        "unread": {side: [list(span) for span in covered.unread] for side, covered in coverages.items()},
        "in_part": {side: [part._asdict() for part in each.in_part] for side, each in coverages.items()},
        "reasons": records,
    }


def score(
    references: Sequence[str] | pd.DataFrame,
    candidates: Sequence[str] | None = None,
    *,
    metrics: Wanted = DEFAULT,
) -> pd.DataFrame:
    """Return a table with the scores of candidates against the references of the same rows.

    It warns of cautions, with their rows, of substitute models, and of metrics that could not score.

    Parameters
    ----------
    references, candidates : equally many texts; or, as ``references`` alone, a pandas table with a column
        ``reference`` and a column ``candidate`` or, for each system, ``candidate:<system>``. In its columns
        ``age`` and ``indication``, the rule-based judge finds the patient's context, which changes the
        weights of errors.
    metrics : a name, names, or settings by name; ``all`` selects all that can score on this machine. See
        :func:`~radeval_lib.metrics.by_name.choose`.

    Returns
    -------
    DataFrame
        The rows in their order, with a float column ``<metric>`` or ``<metric>:<system>`` for each metric and
        column of candidates.

    Raises
    ------
    MetricError
        If the texts or columns are malformed, a metric or setting is unknown, or no metric can score.

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
    metrics: Wanted = DEFAULT,
    texts: bool = True,
) -> pd.DataFrame:
    """Return a table of the reasons for scores: errors with their positions in the texts, and entities that
    match or do not.

    Parameters
    ----------
    references, candidates, metrics : as for :func:`score`.
    texts : whether words of the texts may be quoted.

    Returns
    -------
    DataFrame
        A row for each reason, with the index of its pair's row; none for a pair without reasons. Columns:
        ``column``, the name of the candidate's column; ``coverage``, the mean share of meaningful words that
        the rules read in both texts (0 to 1; missing if there are none); ``metric``, and its ``score`` of the
        pair; the fields of :class:`~radeval_lib.metrics.cautions.Reason`; and the position of the reason in
        each text as ``reference_start``, ``reference_end`` (exclusive), ``candidate_start`` and
        ``candidate_end``, with ``texts`` also its words and sentence, as ``reference_words`` and so on.

    Raises
    ------
    MetricError
        As :func:`score`.

    Example
    -------
    >>> explain(["Small left effusion."], ["Small right effusion."])["says"].tolist()
    ['pleural effusion in right instead of left']
    """
    frame, evaluation = _evaluate_and_warn(references, candidates, metrics, explained=True)
    spans = ("start", "end", *(("words", "sentence") if texts else ()))
    left_out = (REFERENCE, CANDIDATE, *(() if texts else ("quoted",)))
    columns = ["column", "coverage", "score", "metric"]
    columns += [name for name in Reason._fields if name not in left_out]
    columns += [f"{side}_{key}" for side in (REFERENCE, CANDIDATE) for key in spans]
    labels, rows = [], []
    for at, pair in enumerate(evaluation.pairs):
        record = build_explanation(evaluation.reasons(at), pair, texts=texts)
        row, position = divmod(at, len(evaluation.columns))
        for reason in record["reasons"]:
            labels.append(frame.index[row])
            value = evaluation.scored[reason["metric"]].values[at]
            fields = {"column": evaluation.columns[position], "coverage": record["coverage"], "score": value}
            rows.append(fields | reason)
    flat = pd.json_normalize(rows, sep="_")  # Nested spans become columns such as reference_start.
    table = flat.reindex(columns=columns).set_axis(pd.Index(labels, name=frame.index.name))
    return table.astype({name: "Int64" for name in table if name.endswith(("_start", "_end"))})


def _evaluate_and_warn(
    references: Sequence[str] | pd.DataFrame,
    candidates: Sequence[str] | None,
    metrics: Wanted,
    *,
    explained: bool,
) -> tuple[pd.DataFrame, Evaluation]:
    """Return the table of pairs and its evaluation by all metrics that can score.

    Each caution, remark, substitute model and left-out metric is issued as a Python warning.

    Raises
    ------
    MetricError
        If ``candidates`` is None and ``references`` is not a table, texts are malformed, or no metric scores.
    """
    if candidates is not None:
        pairs = check_pairs(references, candidates)
        frame = pd.DataFrame(pairs, columns=[REFERENCE, CANDIDATE], dtype=object)
    elif isinstance(references, pd.DataFrame):
        frame = references
    else:
        remedy = "Give two lists of texts, or one pandas table with both."
        raise MetricError("candidates are missing", "candidates", remedy)
    chosen = choose(metrics)
    evaluation = evaluate(frame, chosen.metrics, "references", explained=explained)
    chosen.leave_out(evaluation.failed)
    cautions = Cautions(evaluation.scored)
    evaluation.add_cautions(cautions, frame.get(ID, ()))
    for line in [*cautions.lines(), *list_notes(chosen)]:
        warnings.warn(line, stacklevel=3)
    return frame, evaluation


def list_notes(chosen: Chosen) -> list[str]:
    """Return the notes on the chosen metrics, a string each: its remark, its substitute models, or the reason
    that it was left out."""
    return [
        *(f"{name}: {metric.remark}" for name, metric in chosen.metrics.items() if metric.remark),
        *(f"{name}: {note}" for name, note in chosen.substitutes.items()),
        *(f"{name} was left out: {why}" for name, why in chosen.left_out.items()),
    ]
