"""The pairs that a metric scores for its card, and its scores: from a function, a metric of this library, a
command or a file.

A pair without a score is a failure. Failures are counted, and every number of the card takes them with the
worst score of their part. If all pairs fail, that is an error.
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
from radeval_lib.data.records import Report
from radeval_lib.data.report_edits import EDITS, LAYOUTS, REPORTS, edit_reports, sentences
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import listed, plain
from radeval_lib.metrics import file_scoring
from radeval_lib.metrics.base import Metric, MetricError
from radeval_lib.rules.generator import generate
from radeval_lib.stats.base import FloatArray

RATED = ("radpref", "mts_dialog")
"""Stored sets with people's ratings, which are scored if a data root holds their texts."""
AGAIN = 40
"""How many pairs are scored twice, the second time last and in reverse order."""
FILES = ("MLRG", "MoERad", "CvT2DistilGPT2", "AAMN")
"""Committed outputs of real systems on Open-i's test split."""
SHUFFLED = ("MLRG", "MoERad", "CvT2DistilGPT2")
"""The files with more than one text, whose outputs are also given to other studies."""
CONSTANT = "one text for all"
"""The commonest findings section of Open-i outside the test split and its texts."""
_QUICK_REPORTS = 30  # that a quick card edits
_SEED = 0  # of the generated reports, and of which study's output another gets: the same for every card
_POOL = 320  # generated reports, of which those with six sentences are edited
_Row = tuple[str, str, str, int, str]  # part, reference, candidate, row, kind
BATCH = 64
"""How many pairs a function of lists gets at once."""
_GIVE_UP = 20  # a function that fails on all of the first so many pairs is not a metric
_CANDIDATE_FIRST = ("cand", "pred", "hyp", "gen")  # how a parameter begins that holds the candidate
Progress = Callable[[int, float], object]


def build(
    root: Path | None, *, quick: bool = False, systems: bool = False, rated: Sequence[str] = RATED
) -> pd.DataFrame:
    """Return every pair of a card.

    Parameters
    ----------
    root : the data root; without one, there are no rated pairs, and generated reports are edited.
    quick : whether fewer reports are edited.
    systems : whether committed outputs of real systems are among the pairs.
    rated : the rated sets whose texts are wanted.

    Returns
    -------
    DataFrame
        ``id``; ``part``: a rated set, ``systems``, ``edits``, ``empty`` or ``again``; ``reference``,
        ``candidate``; ``row``: the row of the rated set, the study, the edited report, or of ``again`` the
        row of this table that it repeats; ``kind``: the file of outputs, the edit, or which side is empty.
        ``attrs["source"]`` says where the edited reports come from.
    """
    rows: list[_Row] = []
    if root is not None:
        from radeval_lib.study import recordings  # not above: a card without data needs no model's packages

        for name in rated:
            rows += [(name, *pair, row, "") for row, pair in enumerate(recordings.texts(name, root))]
        rows += _of_systems(root) if systems else []
    source, reports = edited_reports(root)
    frame = edit_reports(reports[: _QUICK_REPORTS if quick else REPORTS], EDITS | LAYOUTS)
    columns = ["reference", "candidate", "report", "edit"]
    rows += [("edits", *row) for row in frame[columns].itertuples(index=False, name=None)]
    text = frame["reference"].iloc[0]
    sides = {"both texts": ("", ""), "the candidate": (text, ""), "the reference": ("", text)}
    scored = len(rows)
    rows += [("empty", *pair, row, kind) for row, (kind, pair) in enumerate(sides.items())]
    step = max(1, scored // AGAIN)
    rows += [("again", *rows[at][1:3], at, "") for at in range(scored)[::-step][:AGAIN]]
    # The digest distinguishes the pairs of other reports with the same number.
    ids = [f"{row[0]}/{at}/{checksums.of_text(json.dumps(row[1:3]))[:8]}" for at, row in enumerate(rows)]
    table = pd.DataFrame(rows, columns=["part", "reference", "candidate", "row", "kind"])
    table.insert(0, "id", ids)
    table.attrs["source"] = source
    return table


def edited_reports(root: Path | None) -> tuple[str, list[list[str]]]:
    """Return the source of the edited reports, and the sentences of each."""
    if root is not None:
        from radeval_lib.data import openi, readers

        if held := readers.load("openi", root):
            tested = {report.id for report in readers.load("iu_systems", root)}
            return "Open-i, the half for development", sentences(openi.development_reports(held, tested))
    return "generated reports", _generated()


@lru_cache(maxsize=1)
def _generated() -> list[list[str]]:
    drawn = generate(_POOL, _SEED)
    return sentences([Report(made.report_id, made.findings.text, made.impression.text) for made in drawn])


def _of_systems(root: Path) -> list[_Row]:
    """Return the pairs of committed outputs: ``row`` numbers the study, ``kind`` is the file, followed by
    ``, shuffled`` if its outputs are those of other studies. Empty if the data root does not hold them."""
    from radeval_lib.data import iu_systems, openi, readers

    held = readers.load("iu_systems", root)
    if not held:
        return []
    by_file: dict[str, dict[str, str]] = {}
    for record in held:
        by_file.setdefault(record.system, {})[record.id] = reveal(record.text)
    studies = list(by_file[iu_systems.REFERENCE])
    outputs = {name: [by_file[name][study] for study in studies] for name in FILES}
    others = openi.development_reports(readers.load("openi", root), set(studies))
    common = Counter(text for report in others if (text := reveal(report.findings).strip()))
    if common:
        outputs[CONSTANT] = [min(common, key=lambda text: (-common[text], text))] * len(studies)
    # Whose output each study gets: never its own, round a random circle of all.
    circle = np.random.default_rng(_SEED).permutation(len(studies))
    dealt = np.empty(len(studies), dtype=np.intp)
    dealt[circle] = np.roll(circle, 1)
    for name in SHUFFLED:
        outputs[f"{name}, shuffled"] = [outputs[name][study] for study in dealt]
    references = [by_file[iu_systems.REFERENCE][study] for study in studies]
    return [
        ("systems", reference, output, study, name)
        for name, of_studies in outputs.items()
        for study, (reference, output) in enumerate(zip(references, of_studies, strict=True))
    ]


def as_lines(frame: pd.DataFrame) -> str:
    """Return the pairs as JSON lines: ``id``, ``reference``, ``candidate``. Lone surrogates, which UTF-8
    cannot hold, are escaped."""
    rows = frame[["id", "reference", "candidate"]].to_dict("records")
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    return text.encode("utf-8", "backslashreplace").decode()


@dataclass
class Scored:
    """A metric's scores of a card's pairs.

    Attributes
    ----------
    values : as the metric gave them, NaN if it failed; shape (pairs,).
    seconds : the mean time for a pair; None if it was not measured.
    alone : for a function of several pairs, the scores of the part ``again`` with one pair a call; else None.
    message : the message of the first exception, for the person who runs the metric; cards do not repeat it.
    """

    values: FloatArray
    seconds: float | None = None
    alone: FloatArray | None = None
    message: str = ""


def score(
    metric: Callable[..., Any] | Metric | Mapping[str, float],
    frame: pd.DataFrame,
    *,
    batched: bool,
    progress: Progress,
) -> Scored:
    """Score every pair.

    Parameters
    ----------
    metric : as for :func:`radeval_lib.metric_cards.card.metric_card`.
    progress : called with the number of pairs scored and their share.

    Raises
    ------
    MetricError
        If a mapping lacks the id of a pair, or no pair gets a score.
    """
    if isinstance(metric, Mapping):
        if missing := [name for name in frame["id"] if name not in metric]:
            problem = f"{len(missing):,} of {len(frame):,} pairs have no score: {listed(missing, 90)}"
            remedy = "Score the pairs that --pairs writes with the same data root and options."
            raise MetricError(problem, "scores", remedy)
        scored = Scored(np.array([metric[name] for name in frame["id"]], dtype=np.float64))
    elif isinstance(metric, Metric):
        started = time.perf_counter()
        values = metric.values(list(frame["reference"]), list(frame["candidate"]))
        scored = Scored(values, (time.perf_counter() - started) / len(frame))
    else:
        scored = _Caller(metric, batched).score(frame, progress)
    scored.values[~np.isfinite(scored.values)] = np.nan
    _check_some(scored.values, scored.message)
    progress(len(frame), 1.0)
    return scored


def _check_some(values: FloatArray, message: str) -> None:
    """Refuse a metric that failed on all pairs."""
    if len(values) and np.isnan(values).all():
        problem = f"none of {len(values):,} pairs could be scored ({message or 'not a finite number'})"
        raise MetricError(problem, "the metric", "Try it on one pair.")


class _Caller:
    """Calls a function ``(reference, candidate) -> number`` or, with ``batched``, ``(references, candidates)
    -> numbers``. If its first parameter has the name of a candidate, it gets candidates first."""

    def __init__(self, function: Callable[..., Any], batched: bool) -> None:
        self._function, self._batched, self._message = function, batched, ""
        try:
            first = next(iter(inspect.signature(function).parameters), "")
        except (TypeError, ValueError):  # built in
            first = ""
        self._candidate_first = first.lower().startswith(_CANDIDATE_FIRST)

    def score(self, frame: pd.DataFrame, progress: Progress) -> Scored:
        pairs = list(zip(frame["reference"], frame["candidate"], strict=True))
        values, started = np.full(len(pairs), np.nan), time.perf_counter()
        size = BATCH if self._batched else 1
        for done in range(0, len(pairs), size):
            part = pairs[done : done + size]
            values[done : done + size] = self._tried(part)
            if done >= _GIVE_UP:
                _check_some(values[:done], self._message)
            progress(done + len(part), (done + len(part)) / len(pairs))
        scored = Scored(values, (time.perf_counter() - started) / len(pairs), message=self._message)
        if self._batched:
            again = np.flatnonzero(frame["part"] == "again")
            scored.alone = np.array([self._tried([pairs[at]])[0] for at in again])
        return scored

    def _tried(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the score of each pair, NaN if it has none; a batch that fails is tried by pair."""
        sides = [*zip(*pairs, strict=True)][:: -1 if self._candidate_first else 1]
        try:
            if self._batched:
                given = list(self._function(*map(list, sides)))
            else:
                given = [self._function(*(side[0] for side in sides))]
            numbers = [value.item() if hasattr(value, "item") else value for value in given]
            values = [math.nan if value is None else float(value) for value in numbers]
        except Exception as error:
            if len(pairs) > 1:
                return [self._tried([pair])[0] for pair in pairs]
            self._message = self._message or f"{type(error).__name__}: {error}"
            return [math.nan]
        if len(values) != len(pairs):
            problem = f"it returns {len(values)} scores for {len(pairs)} pairs"
            raise MetricError(problem, "the metric", "Return one number per pair, or leave batched out.")
        return [value if math.isfinite(value) else math.nan for value in values]


def fill_failures(frame: pd.DataFrame, oriented: FloatArray) -> FloatArray:
    """Return oriented scores with each failure set to the worst score of its part, or of all if its part has
    none."""
    result, worst = oriented.copy(), float(np.nanmin(oriented))
    for name in frame["part"].unique():
        here = (frame["part"] == name).to_numpy()
        scored = oriented[here & np.isfinite(oriented)]
        result[here & ~np.isfinite(oriented)] = scored.min() if len(scored) else worst
    return result


def of_command(words: Sequence[str], frame: pd.DataFrame) -> dict[str, float]:
    """Return the scores by id from a command that reads JSON lines (``id``, ``reference``, ``candidate``) and
    writes JSON lines (``id``, ``score``) in any order."""
    where = Path(words[0]).name
    ran = subprocess.run(list(words), input=as_lines(frame).encode(), stdout=subprocess.PIPE, check=False)
    if ran.returncode:
        problem = f"exit status {ran.returncode} after {ran.stdout.count(10):,} of {len(frame):,} scores"
        raise MetricError(problem, where, "Try it on a few lines of the file that --pairs writes.")
    _, rows = file_scoring.json_lines(StringIO(ran.stdout.decode("utf-8", "replace")), where)
    return _by_id(pd.DataFrame(rows, dtype=object), where)


def of_file(path: Path) -> dict[str, float]:
    """Return the scores of a file of pairs, with the columns ``id`` and ``score``."""
    return _by_id(file_scoring.table(path), path.name)


def _by_id(frame: pd.DataFrame, where: str) -> dict[str, float]:
    if lacking := [name for name in ("id", "score") if name not in frame]:
        raise MetricError(f"no {lacking[0]!r}", where, "Give the id and the score of each pair.")
    scores: dict[str, float] = {}
    for row, (name, given) in enumerate(zip(frame["id"].map(str), frame["score"], strict=True), start=1):
        if name in scores:
            raise MetricError(f"a second score of {plain(name, 40)}", f"{where}, row {row}", "Give only one.")
        try:
            scores[name] = math.nan if str(given).strip().lower() in ("", "null", "none") else float(given)
        except (TypeError, ValueError):
            remedy = "Leave it empty if the metric fails."
            raise MetricError(f"{given!r:.60} is not a number", f"{where}, row {row}", remedy) from None
    return scores
