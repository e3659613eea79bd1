"""The pairs of reports that a metric scores for its report card, and the scoring of these pairs.

Scores come from a function, a metric of this library, a command or a file. A pair without a finite score is a
failure. The card counts failures. For agreement, costs of edits and means of systems, it gives each failure
the worst score of its part (such as ``edits``); for the rest, it leaves failures out. If all pairs fail, an
error is raised.
"""

from __future__ import annotations

import inspect
import json
import math
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from radeval_lib import checksums
from radeval_lib.data.generated import generate_reports
from radeval_lib.data.report_edits import EDITS, LAYOUTS, REPORTS, edit_reports, split_reports
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import list_names, to_line
from radeval_lib.metrics import file_scoring
from radeval_lib.metrics.base import Metric, MetricError
from radeval_lib.stats.base import FloatArray

RATED = ("radpref", "mts_dialog")
"""Stored sets with human ratings, which are scored if the data root has their texts."""
REPEATED_PAIRS = 40
"""Number of pairs that are scored twice. The repetitions come last, in reverse order."""
FILES = ("MLRG", "MoERad", "CvT2DistilGPT2", "AAMN")
"""Systems whose reports on the test split of Open-i are in a public repository."""
SHUFFLED = ("MLRG", "MoERad", "CvT2DistilGPT2")
"""The systems of :data:`FILES` with more than one distinct report, which are also shuffled among studies."""
CONSTANT = "one text for all"
"""Baseline: the most frequent findings section of Open-i outside the test split, for every study."""
_QUICK_REPORTS = 30  # number of reports that are edited for a card with ``quick``
_SEED = 0  # seed of the generated reports and of the shuffling; the same for every card
_POOL = 320  # number of generated reports; those with six or more sentences are edited
_NO_SCORE = ("", "null", "none")  # how a file writes that a pair has no score
_Row = tuple[str, str, str, int, str]  # part, reference, candidate, row, kind; the columns of :func:`build`
BATCH = 64
"""Number of pairs per call of a batched function."""
_FAILURES_UNTIL_ERROR = 20  # scoring stops if all pairs have failed after this many
_CANDIDATE_PREFIXES = ("cand", "pred", "hyp", "gen")  # beginnings of a parameter's name for the candidate
# A function that takes the number of pairs scored and their share of all pairs, from 0 to 1.
Progress = Callable[[int, float], object]


def build(
    root: Path | None, *, quick: bool = False, systems: bool = False, rated: Sequence[str] = RATED
) -> pd.DataFrame:
    """Return the pairs to score for a report card, one row each.

    Parameters
    ----------
    root : the data root; if None, there are no rated pairs or system outputs, and generated reports are
        edited.
    quick : whether to edit 30 reports instead of 100.
    systems : whether to include the reports of real systems (:data:`FILES`).
    rated : which of the rated sets (:data:`RATED`) to include.

    Returns
    -------
    DataFrame
        Columns ``id``, ``part``, ``reference``, ``candidate``, ``row`` and ``kind``. ``part`` is the name of
        a rated set, ``systems``, ``edits``, ``empty`` (one or both texts are empty) or ``again`` (a
        repetition). ``row`` is the number of the row in the rated set, of the study or of the edited report;
        for ``again``, of the repeated row of this table; for ``empty``, a count from 0. ``kind`` is the
        system, the edit, or which text is empty; for other parts, it is the empty string. The table's
        ``attrs["source"]`` names the source of the edited reports.

    Raises
    ------
    DataError
        If a file of the data root differs from its manifest or is malformed.
    """
    rows: list[_Row] = []
    if root is not None:
        # Imported here, so that a card without data needs no packages of models.
        from radeval_lib.study import recordings

        for name in rated:
            rows += [(name, *pair, row, "") for row, pair in enumerate(recordings.read_texts(name, root))]
        rows += _pair_systems(root) if systems else []
    source, reports = load_reports_to_edit(root)
    frame = edit_reports(reports[: _QUICK_REPORTS if quick else REPORTS], EDITS | LAYOUTS)
    columns = ["reference", "candidate", "report", "edit"]
    rows += [("edits", *row) for row in frame[columns].itertuples(index=False, name=None)]
    text = frame["reference"].iloc[0]
    empty_pairs = {"both texts": ("", ""), "the candidate": (text, ""), "the reference": ("", text)}
    n_scored, step = len(rows), max(1, len(rows) // REPEATED_PAIRS)
    rows += [("empty", *pair, row, kind) for row, (kind, pair) in enumerate(empty_pairs.items())]
    rows += [("again", *rows[i][1:3], i, "") for i in range(n_scored)[::-step][:REPEATED_PAIRS]]
    # The digest distinguishes pairs with the same number that come from different reports.
    ids = [f"{row[0]}/{i}/{checksums.of_text(json.dumps(row[1:3]))[:8]}" for i, row in enumerate(rows)]
    table = pd.DataFrame(rows, columns=["part", "reference", "candidate", "row", "kind"])
    table.insert(0, "id", ids)
    table.attrs["source"] = source
    return table


def load_reports_to_edit(root: Path | None) -> tuple[str, list[list[str]]]:
    """Return the source of the reports to edit, and the reports, each as a list of sentences.

    The reports are Open-i's development half if ``root`` has Open-i, otherwise generated reports.
    """
    if root is not None:
        from radeval_lib.data import openi, readers

        if studies := readers.load("openi", root):
            test_ids = {report.id for report in readers.load("iu_systems", root)}
            reports = openi.select_development(studies, test_ids)
            return "Open-i, the half for development", split_reports(reports)
    return "generated reports", _make_reports()


@lru_cache(maxsize=1)
def _make_reports() -> list[list[str]]:
    """Return generated reports, each as a list of sentences."""
    return split_reports(list(generate_reports(_POOL, _SEED)))


def _pair_systems(root: Path) -> list[_Row]:
    """Return each study's reference paired with the report of every system and baseline, as rows.

    The row number is that of the study. The kind is the system, followed by ``, shuffled`` if each study has
    the report that the system wrote for another study. If the data root lacks the reports, the list is empty.
    """
    from radeval_lib.data import iu_systems, openi, readers

    if not (records := readers.load("iu_systems", root)):
        return []
    reports_by_system: dict[str, dict[str, str]] = {}
    for record in records:
        reports_by_system.setdefault(record.system, {})[record.id] = reveal(record.text)
    studies = list(reports_by_system[iu_systems.REFERENCE])
    outputs = {name: [reports_by_system[name][study] for study in studies] for name in FILES}
    other_reports = openi.select_development(readers.load("openi", root), set(studies))
    counts = Counter(text for report in other_reports if (text := reveal(report.findings).strip()))
    if counts:
        outputs[CONSTANT] = [min(counts, key=lambda text: (-counts[text], text))] * len(studies)
    # Each study gets the report of its predecessor in a random cycle of all studies, so never its own.
    cycle = np.random.default_rng(_SEED).permutation(len(studies))
    predecessors = np.empty(len(studies), dtype=np.intp)
    predecessors[cycle] = np.roll(cycle, 1)
    for name in SHUFFLED:
        outputs[f"{name}, shuffled"] = [outputs[name][study] for study in predecessors]
    references = [reports_by_system[iu_systems.REFERENCE][study] for study in studies]
    return [
        ("systems", reference, output, study, name)
        for name, texts in outputs.items()
        for study, (reference, output) in enumerate(zip(references, texts, strict=True))
    ]


def to_json_lines(frame: pd.DataFrame) -> str:
    """Return the pairs as JSON lines with ``id``, ``reference`` and ``candidate``.

    Lone surrogates, which UTF-8 cannot encode, are written as escapes.
    """
    rows = frame[["id", "reference", "candidate"]].to_dict("records")
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    return text.encode("utf-8", "backslashreplace").decode()


@dataclass
class Scored:
    """The scores that a metric gave the pairs of a card.

    Attributes
    ----------
    values : the metric's scores, in its own direction; NaN for a failure; shape (pairs,).
    seconds : the mean time per pair; None if the scores come from a file or a command.
    scores_alone : for a batched function, the scores of the part ``again`` when each pair is scored in a
        separate call; otherwise None.
    message : type and message of the first exception; empty if there was none. The message may quote a
        report, so the card does not show it.
    """

    values: FloatArray
    seconds: float | None = None
    scores_alone: FloatArray | None = None
    message: str = ""


def score(
    metric: Callable[..., Any] | Metric | Mapping[str, float],
    frame: pd.DataFrame,
    *,
    batched: bool,
    progress: Progress,
) -> Scored:
    """Return a metric's scores of all pairs of a card, with NaN for a score that is not finite.

    Parameters
    ----------
    metric : a function, a metric of this library, or a mapping from the id of each pair to its score.
    frame : the pairs, from :func:`build`.
    batched : whether a function takes lists of references and candidates and returns a score per pair.
    progress : called with the number of pairs scored and their share, from 0 to 1.

    Raises
    ------
    MetricError
        If a mapping lacks the id of a pair, no pair gets a score, or a batched function returns a wrong
        number of scores.
    """
    if isinstance(metric, Mapping):
        if missing := [pair_id for pair_id in frame["id"] if pair_id not in metric]:
            problem = f"{len(missing):,} of {len(frame):,} pairs have no score: {list_names(missing, 90)}"
            remedy = "Score every pair that --pairs writes with the same data root and options."
            raise MetricError(problem, "the scores", remedy)
        scored = Scored(np.array([metric[pair_id] for pair_id in frame["id"]], dtype=np.float64))
    elif isinstance(metric, Metric):
        start = time.perf_counter()
        values = metric.values(list(frame["reference"]), list(frame["candidate"]))
        scored = Scored(values, (time.perf_counter() - start) / len(frame))
    else:
        scored = _Caller(metric, batched).score(frame, progress)
    scored.values[~np.isfinite(scored.values)] = np.nan
    _require_a_score(scored.values, scored.message)
    progress(len(frame), 1.0)
    return scored


def _require_a_score(values: FloatArray, message: str) -> None:
    """Raise a MetricError if all scores, of one or more, are NaN.

    ``message`` is the metric's first exception, which the error quotes; empty if there was none.
    """
    if len(values) and np.isnan(values).all():
        problem = f"none of {len(values):,} pairs could be scored ({message or 'not a finite number'})"
        raise MetricError(problem, "the metric", "Call it on one pair, and correct the error.")


class _Caller:
    """A caller of a function ``(reference, candidate) -> number`` or, if batched, ``(references, candidates)
    -> numbers``.

    If the first parameter's name begins like *candidate*, *prediction*, *hypothesis* or *generated*, the
    candidate is passed first.
    """

    def __init__(self, function: Callable[..., Any], batched: bool) -> None:
        self._function, self._batched, self._message = function, batched, ""
        try:
            first_parameter = next(iter(inspect.signature(function).parameters), "")
        except (TypeError, ValueError):  # a built-in function has no signature
            first_parameter = ""
        self._candidate_first = first_parameter.lower().startswith(_CANDIDATE_PREFIXES)

    def score(self, frame: pd.DataFrame, progress: Progress) -> Scored:
        """Return the scores of all pairs of a card, with NaN for failures.

        Raises MetricError if all of the first pairs fail, or a batch has a wrong number of scores.
        """
        pairs = list(zip(frame["reference"], frame["candidate"], strict=True))
        values, start = np.full(len(pairs), np.nan), time.perf_counter()
        size = BATCH if self._batched else 1
        for done in range(0, len(pairs), size):
            batch = pairs[done : done + size]
            values[done : done + size] = self._score_or_nan(batch)
            if done >= _FAILURES_UNTIL_ERROR:
                _require_a_score(values[:done], self._message)
            progress(done + len(batch), (done + len(batch)) / len(pairs))
        scored = Scored(values, (time.perf_counter() - start) / len(pairs), message=self._message)
        if self._batched:
            indices = np.flatnonzero(frame["part"] == "again")
            scored.scores_alone = np.array([self._score_or_nan([pairs[index]])[0] for index in indices])
        return scored

    def _score_or_nan(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the score of each pair, NaN for a failure; if a batch fails, its pairs are scored singly.

        Raises MetricError if the number of scores differs from the number of pairs.
        """
        sides = [*zip(*pairs, strict=True)][:: -1 if self._candidate_first else 1]
        try:
            if self._batched:
                outputs = list(self._function(*map(list, sides)))
            else:
                outputs = [self._function(*(side[0] for side in sides))]
            numbers = [value.item() if hasattr(value, "item") else value for value in outputs]
            values = [math.nan if value is None else float(value) for value in numbers]
        except Exception as error:
            if len(pairs) > 1:
                return [self._score_or_nan([pair])[0] for pair in pairs]
            self._message = self._message or f"{type(error).__name__}: {error}"
            return [math.nan]
        if len(values) != len(pairs):
            problem = f"it returned {len(values)} scores for {len(pairs)} pairs"
            raise MetricError(problem, "the metric", "Return one number per pair, or leave out `batched`.")
        return [value if math.isfinite(value) else math.nan for value in values]


def fill_failures(frame: pd.DataFrame, oriented: FloatArray) -> FloatArray:
    """Return oriented scores (higher is better) with each NaN replaced by the lowest score of its part.

    If a part has no score, the lowest score of all parts is used. At least one score must be finite.
    """
    filled, lowest = oriented.copy(), float(np.nanmin(oriented))
    for part in frame["part"].unique():
        mask = (frame["part"] == part).to_numpy()
        part_scores = oriented[mask & np.isfinite(oriented)]
        filled[mask & ~np.isfinite(oriented)] = part_scores.min() if len(part_scores) else lowest
    return filled


def run_command(command: Sequence[str], frame: pd.DataFrame) -> dict[str, float]:
    """Run a program on all pairs, and return a mapping from pair id to score, NaN for an empty score.

    The program reads JSON lines with ``id``, ``reference`` and ``candidate`` from standard input, and writes
    JSON lines with ``id`` and ``score``, in any order, to standard output.

    Raises
    ------
    MetricError
        If the program fails, or its output has another format or the same id twice.
    OSError
        If the program cannot be started.
    """
    program = Path(command[0]).name
    result = subprocess.run(command, input=to_json_lines(frame).encode(), stdout=subprocess.PIPE, check=False)
    if result.returncode:
        lines = len(result.stdout.splitlines())
        problem = f"exit status {result.returncode} after {lines:,} of {len(frame):,} scores"
        raise MetricError(problem, program, "Run it on a few lines from --pairs, and correct it.")
    _, rows = file_scoring.read_json_lines(StringIO(result.stdout.decode("utf-8", "replace")), program)
    return _index_scores(pd.DataFrame(rows, dtype=object), program)


def read_scores(path: Path) -> dict[str, float]:
    """Read a table with the columns ``id`` and ``score``, and return a mapping from id to score.

    An empty score is NaN. Raises MetricError if the file does not exist or is malformed, a column is missing,
    an id is repeated or a score is not a number.
    """
    return _index_scores(file_scoring.read_table(path), path.name)


def _index_scores(frame: pd.DataFrame, where: str) -> dict[str, float]:
    """Return a mapping from the column ``id`` to the column ``score``, as numbers; NaN for an empty score.

    Raises MetricError if a column is missing, an id is repeated or a score is not a number. ``where`` names
    the table's source in error messages.
    """
    if missing := [name for name in ("id", "score") if name not in frame]:
        raise MetricError(f"no column {missing[0]!r}", where, "Write the columns `id` and `score`.")
    scores: dict[str, float] = {}
    for row, (pair_id, score) in enumerate(zip(frame["id"].map(str), frame["score"], strict=True), start=1):
        location = f"{where}, row {row}"
        if pair_id in scores:
            raise MetricError(f"id {to_line(pair_id, 40)} occurs twice", location, "Remove one row.")
        try:
            scores[pair_id] = math.nan if str(score).strip().lower() in _NO_SCORE else float(score)
        except (TypeError, ValueError):
            remedy = "Write a number, or leave the cell empty if the metric fails."
            raise MetricError(f"{score!r:.60} is not a number", location, remedy) from None
    return scores
