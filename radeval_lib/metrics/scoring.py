"""Scores and explanations of tables of report pairs: ``radeval_lib.score`` and ``explain``."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from radeval_lib.errors import ModelError, RadevalError, naming_keywords
from radeval_lib.metrics import pair_files
from radeval_lib.metrics.base import Metric, MetricError, Pair, Scores, checked_pairs
from radeval_lib.metrics.by_name import Chosen, Wanted, choose
from radeval_lib.metrics.cautions import Cautions
from radeval_lib.metrics.pair_files import CANDIDATE, ID, REFERENCE, score_column

if TYPE_CHECKING:
    from radeval_lib.metrics.reasons import Reason
    from radeval_lib.rules.lexicon.significance import Context

DEFAULT = "green_rules_errors"
"""The metric where none is named: it needs no model and explains itself."""


class Scored(NamedTuple):
    """What a metric says of pairs, an entry for each: values, cautions, and as far as they were asked for
    reasons and errors by kind (:func:`radeval_lib.metrics.error_profile.error_counts`); ``scores`` are the
    metric's own, with details."""

    values: list[float]
    cautions: list[tuple[str, ...]]
    reasons: list[list[Reason]]
    errors: list[Sequence[int]]
    scores: Scores | None = None


class Evaluation(NamedTuple):
    """What metrics say of a table: its columns of candidates, its pairs, those of a row one after another,
    whether it has contexts of patients, by metric what it says of the pairs, and the errors of metrics that
    failed."""

    columns: tuple[str, ...]
    pairs: list[Pair]
    in_context: bool
    scored: dict[str, Scored]
    failed: dict[str, RadevalError]

    def reasons(self, at: int) -> list[tuple[str, Reason]]:
        """Return the reasons of all metrics for a pair, each with the name of its metric."""
        return [(name, reason) for name, scored in self.scored.items() for reason in scored.reasons[at]]


def evaluate(
    frame: pd.DataFrame,
    metrics: Mapping[str, Metric],
    where: str,
    start: int = 1,
    *,
    explained: bool = False,
    counted: bool = False,
) -> Evaluation:
    """Check a table and score its pairs.

    Parameters
    ----------
    metrics : by name.
    where, start : the file or argument, and the number of the first row, for messages.
    explained, counted : whether reasons, and errors by kind, are wanted.
    """
    columns = pair_files.check(frame, list(metrics), where, start)
    pairs = pairs_of(frame, columns)
    of_rows: list[Context | None] | None = None
    if any(metric.reads_context() for metric in metrics.values()):
        of_rows = pair_files.contexts_of(frame, where, start)
    contexts = None if of_rows is None else [context for context in of_rows for _ in columns]
    scored, failed = dict[str, Scored](), dict[str, RadevalError]()
    for name, metric in metrics.items():
        try:
            scored[name] = _scored(metric, pairs, contexts, explained, counted)
        except RadevalError as error:
            failed[name] = error
    return Evaluation(columns, pairs, contexts is not None, scored, failed)


def pairs_of(frame: pd.DataFrame, columns: Sequence[str]) -> list[Pair]:
    """Return the pairs of a table, those of a row one after another."""
    texts = zip(frame[REFERENCE], *(frame[column] for column in columns), strict=True)
    return [(reference, candidate) for reference, *candidates in texts for candidate in candidates]


def _scored(
    metric: Metric,
    pairs: Sequence[Pair],
    contexts: Sequence[Context | None] | None,
    explained: bool,
    counted: bool,
) -> Scored:
    references, candidates = ([pair[side] for pair in pairs] for side in (0, 1))
    try:
        scores = metric.score(references, candidates, contexts)
    except ModelError as error:
        where = " and ".join(f"{metric.name}.{role}" for role in metric.needs)
        remedy = f"{error.remedy} The setting is {where}."
        raise MetricError(error.what, f"{metric.name}, {error.where}", remedy) from error
    detailed = [(*pair, detail) for pair, detail in zip(pairs, scores.details, strict=True)]
    errors = list[Sequence[int]]()
    if counted and metric.by_rules and metric.reads_context():  # a judge by rules, whose errors have kinds
        from radeval_lib.metrics.error_profile import error_counts

        both = zip(detailed, contexts or [None] * len(pairs), strict=True)
        errors = [error_counts(*pair, context) for pair, context in both]
    return Scored(
        scores.values.tolist(),
        [tuple(metric.cautions(*pair)) for pair in detailed],
        [metric.explain(*pair) for pair in detailed] if explained else [],
        errors,
        scores,
    )


def with_scores(frame: pd.DataFrame, columns: Sequence[str], scored: Mapping[str, Scored]) -> pd.DataFrame:
    """Return a table with a column ``<metric>``, or ``<metric>:<system>``, for each."""
    added = {
        score_column(name, column): pd.Series(
            of_pairs.values[place :: len(columns)], frame.index, dtype=float
        )
        for name, of_pairs in scored.items()
        for place, column in enumerate(columns)
    }
    return frame.assign(**added)


def explanation_record(reasons: Iterable[tuple[str, Reason]], pair: Pair, *, texts: bool) -> dict[str, Any]:
    """Return what explains a pair, by reasons of metrics, ready for JSON; without ``texts`` places alone.

    Returns
    -------
    dict
        ``coverage``: the mean share of what the texts say that the rules could read
        (:func:`radeval_lib.rules.reader.coverage`), None where they say nothing. ``unread``: by side, where
        the statements are that were not read. ``in_part``: by side, those of which words of weight were left:
        ``span``, and the places (``unused``) and ``kinds`` of these words.
        ``reasons``: a dictionary each, ``metric`` and the fields of :class:`Reason`; ``reference`` and
        ``candidate`` are None or a dictionary with ``start``, ``end``, the ``words`` there and, of errors,
        the ``sentence`` that holds them.
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
                    around = (place for place in read[side].statements if place[0] <= span[0] < place[1])
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


def add_cautions(
    cautions: Cautions, frame: pd.DataFrame, evaluation: Evaluation, without: Sequence[str] = ()
) -> None:
    """Add the cautions of a table's pairs but for systems that are left out, and what its rows are called."""
    for name in frame.get(ID, ()):
        cautions.add_id(name)
    for at, pair in enumerate(evaluation.pairs):
        row, place = divmod(at, len(evaluation.columns))
        of_metrics = {name: scored.cautions[at] for name, scored in evaluation.scored.items()}
        if (system := pair_files.system_of(evaluation.columns[place])) not in without:
            cautions.add(system, row + 1, pair, of_metrics)


@naming_keywords
def score(
    references: Sequence[str] | pd.DataFrame,
    candidates: Sequence[str] | None = None,
    *,
    predictions: Sequence[str] | None = None,
    metrics: Wanted = DEFAULT,
) -> pd.DataFrame:
    """Score candidates against the references of the same rows.

    Parameters
    ----------
    references, candidates : equally many texts; or a pandas table alone, with a column ``reference`` and
        ``candidate`` or, for each system, ``candidate:<system>``. Its columns ``age`` and ``indication``
        decide how much errors weigh for the judge by rules.
    predictions : another name of ``candidates``.
    metrics : a name, names, or settings by name; ``all`` stands for all that can score on this machine. See
        :func:`~radeval_lib.metrics.by_name.choose`. Cautions, with their rows, substitute models, and what
        could not score are warnings.

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
    candidates = predictions if candidates is None else candidates
    frame, evaluation = _evaluated(references, candidates, metrics, explained=False)
    return with_scores(frame, evaluation.columns, evaluation.scored)


@naming_keywords
def explain(
    references: Sequence[str] | pd.DataFrame,
    candidates: Sequence[str] | None = None,
    *,
    predictions: Sequence[str] | None = None,
    metrics: Wanted = DEFAULT,
    texts: bool = True,
) -> pd.DataFrame:
    """Say what scores rest on: errors with their places, and entities that match or do not.

    Parameters
    ----------
    references, candidates, predictions, metrics : as for :func:`score`.
    texts : whether words of the texts may be quoted.

    Returns
    -------
    DataFrame
        A row for each reason under the index of its pair, as :func:`explanation_record` has it; a pair
        without any has no row.

    Raises
    ------
    MetricError
        As :func:`score`.

    Example
    -------
    >>> explain(["Small left effusion."], ["Small right effusion."])["says"].tolist()
    ['pleural effusion in right instead of left']
    """
    candidates = predictions if candidates is None else candidates
    frame, evaluation = _evaluated(references, candidates, metrics, explained=True)
    labels, rows = [], []
    for at, pair in enumerate(evaluation.pairs):
        record = explanation_record(evaluation.reasons(at), pair, texts=texts)
        row, place = divmod(at, len(evaluation.columns))
        for reason in record["reasons"]:
            labels.append(frame.index[row])
            head = {"column": evaluation.columns[place], "coverage": record["coverage"]}
            head["score"] = evaluation.scored[reason["metric"]].values[at]
            for side in (REFERENCE, CANDIDATE):
                span = reason.pop(side) or {"start": None, "end": None}
                reason |= {f"{side}_{key}": value for key, value in span.items()}
            rows.append({**head, **reason})
    table = pd.DataFrame(rows, index=pd.Index(labels, name=frame.index.name))
    return table.astype({name: "Int64" for name in table if name.endswith(("_start", "_end"))})


def _evaluated(
    references: Sequence[str] | pd.DataFrame,
    candidates: Sequence[str] | None,
    metrics: Wanted,
    *,
    explained: bool,
) -> tuple[pd.DataFrame, Evaluation]:
    """Return the table, and what metrics say of it; warn of what a reader should know."""
    if candidates is not None:
        pairs = checked_pairs(references, candidates)
        frame = pd.DataFrame(pairs, columns=[REFERENCE, CANDIDATE], dtype=object)
    elif isinstance(references, pd.DataFrame):
        frame = references
    else:
        raise MetricError("no candidates", "candidates", "Give texts for both, or a pandas table alone.")
    chosen = choose(metrics)
    evaluation = evaluate(frame, chosen.metrics, "references", explained=explained)
    chosen.leave_out(evaluation.failed)
    cautions = Cautions(evaluation.scored)
    add_cautions(cautions, frame, evaluation)
    for line in [*cautions.lines(), *notes_of(chosen)]:
        warnings.warn(line, stacklevel=4)
    return frame, evaluation


def notes_of(chosen: Chosen) -> list[str]:
    """Return a line for each metric that differs from what its name promises, or was left out."""
    return [
        *(f"{name}: {metric.remark}" for name, metric in chosen.metrics.items() if metric.remark),
        *(f"{name}: {note}" for name, note in chosen.stand_ins.items()),
        *(f"{name} was left out: {why}" for name, why in chosen.left_out.items()),
    ]
