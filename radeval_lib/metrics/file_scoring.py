"""Scores of a file of report pairs, in chunks that are kept until the output is complete."""

from __future__ import annotations

import ctypes
import json
import shutil
from collections import deque
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import pandas as pd

from radeval_lib import atomic, checksums, provenance
from radeval_lib.errors import plain
from radeval_lib.metrics import pair_files
from radeval_lib.metrics.base import Metric, MetricError
from radeval_lib.metrics.by_name import Chosen, Wanted, choose
from radeval_lib.metrics.cautions import Cautions
from radeval_lib.metrics.pair_files import CASES, GROUP, ID, Chunk, score_column
from radeval_lib.metrics.scoring import Scored, evaluate, explanation_record, pairs_of, with_scores

if TYPE_CHECKING:
    from radeval_lib.metrics.error_profile import ErrorCounts
    from radeval_lib.metrics.report import ScorePage

PROFILE_RESAMPLES = 2_000
"""Of the intervals of the error profile."""


@dataclass
class ScoredFile:
    """What was scored, and what is reported about it.

    Attributes
    ----------
    chosen : the metrics that scored, and why others did not.
    rows : that were scored; ``kept`` of them had scores from an interrupted run.
    means : of each column of scores, for ``all`` rows and for each ``group <name>``.
    cautions : what a reader should know, one line each.
    signatures : by metric.
    profile : errors by kind, see :func:`radeval_lib.metrics.error_profile.profile`; None where no metric
        counts any, or nothing was explained.
    coverage : mean share of the texts that the rules could read, from 0 to 1; None where nothing was
        explained.
    """

    chosen: Chosen
    rows: int
    kept: int
    means: dict[str, dict[str, float]]
    cautions: list[str]
    signatures: dict[str, str]
    profile: pd.DataFrame | None
    coverage: float | None


def score_file(
    metrics: Wanted,
    input_path: str | Path,
    output_path: str | Path,
    *,
    explain: bool = False,
    report: str | Path | None = None,
    texts: bool = True,
    workers: int | None = 1,
    progress: Callable[[int, float], object] | None = None,
) -> ScoredFile:
    """Score the candidates of a file against its references and write its rows with a column per metric.

    The column ``reference`` is compared with ``candidate``, and with each ``candidate:<system>``, whose
    scores are in a column ``<metric>:<system>``. The input's columns, their order and the rows' order stay.
    Means are also given for each value of a column ``group``. The output appears only when it is complete,
    and with it ``<output>.about.json``: metrics, settings, models, versions, means, and cautions. A metric
    whose models cannot be loaded is left out if others score. What was scored is kept in a hidden folder
    beside the output until that is complete, so that the same call resumes an interrupted run.

    Parameters
    ----------
    metrics : a name (:func:`radeval_lib.metrics.names`), names, or settings by name, as texts or values;
        ``all`` stands for all metrics, see :func:`~radeval_lib.metrics.by_name.choose`.
    input_path, output_path : ``.csv``, ``.tsv``, ``.jsonl`` or ``.parquet``; the two may differ in format,
        but not be one file.
    explain : also write ``<output>.explained.jsonl``, a line per pair: the number of its row from 1, its
        ``id`` if the file has them, the column of its candidate, its scores, and what
        :func:`~radeval_lib.metrics.scoring.explanation_record` reports.
    report : where to write a page about the scores (:mod:`radeval_lib.metrics.report`), if anywhere.
    texts : whether explanations and the page may repeat words of the texts.
    workers : how many processes score; None for one per core where no metric needs a model and the file is
        large. The scores are the same with any number.
    progress : called with the number of rows done so far, and the share of the file, from 0 to 1.

    Raises
    ------
    MetricError
        If files, metrics or settings are not as described, or no metric can score; it names file and row.
    """
    source, target = Path(input_path), Path(output_path)
    endings = ["about.json", *(["explained.jsonl"] if explain else [])]
    beside = [target.with_name(f"{target.name}.{ending}") for ending in endings]
    pair_files.check_format(source)
    pair_files.check_format(target)
    for path in (target, *beside, *([Path(report)] if report else [])):
        pair_files.check_target(path, [source])
    chosen = choose(metrics)
    decides = [[str(metric.signature()), metric.device] for metric in chosen.metrics.values()]
    explained = explain or report is not None
    key = json.dumps([decides, explained, texts, provenance.own_files(), provenance.environment()])
    folder = target.with_name(f".scoring-{checksums.of_text(target.name)[:16]}")
    scorer = _ChunkScorer(dict(chosen.metrics), folder, key, explained, texts, source.name)
    workers = default_workers(chosen, source) if workers is None else workers
    with atomic.new_files(*beside, target) as (about, *lines, part), ExitStack() as stack:
        stream = stack.enter_context(lines[0].open("w", encoding="utf-8")) if lines else None
        collector = _Collector(chosen, stream, texts if report else None)
        write = stack.enter_context(pair_files.writing(part, source))
        for chunk, result in stack.enter_context(closing(_in_order(source, scorer, chosen, workers))):
            write(collector.take(chunk, result))
            if progress is not None and len(chunk.frame):
                progress(collector.rows, chunk.share)
        scored = collector.finish()
        text = json.dumps(_about(source, scored), indent=2, ensure_ascii=False)
        about.write_text(f"{text}\n", encoding="utf-8")
        if report and collector.page is not None:
            with atomic.new_file(Path(report)) as new:
                collector.page.write(new, chosen.metrics, source=source.name, scored=scored)
    shutil.rmtree(folder, ignore_errors=True)
    return scored


def default_workers(chosen: Chosen, source: Path) -> int:
    """Return how many processes score a file: one per core, each with two megabytes at least, because one
    takes seconds to begin; one where there is a model, which uses all cores by itself."""
    import joblib

    if any(set(metric.models().values()) - {"rules"} for metric in chosen.metrics.values()):
        return 1
    size = source.stat().st_size if source.is_file() else 0
    return max(1, min(joblib.cpu_count(), size // 2_000_000))


@dataclass(frozen=True)
class _ChunkScorer:
    """Scores a chunk by itself, so that neither what was scored before it nor who scores it decides, and
    keeps what it found in a file, for a run that is interrupted."""

    metrics: dict[str, Metric]
    folder: Path
    key: str  # what values depend on beside the table
    explained: bool
    texts: bool
    where: str

    def __call__(self, chunk: Chunk, names: list[str]) -> dict[str, Any]:
        content = chunk.frame.to_json(orient="split", default_handler=str)
        path = self.folder / f"{checksums.of_text(f'{self.key} {names} {content}')}.json"
        with suppress(OSError, ValueError):
            return {**json.loads(path.read_text(encoding="utf-8")), "kept": True}
        metrics = {name: self.metrics[name] for name in names}
        wanted = {"explained": self.explained, "counted": self.explained}
        found = evaluate(chunk.frame, metrics, self.where, chunk.start, **wanted)
        result = {
            "columns": found.columns,
            "in context": found.in_context,
            "failed": {name: [error.what, error.where, error.remedy] for name, error in found.failed.items()},
            "scored": {
                name: scored._replace(reasons=[], scores=None) for name, scored in found.scored.items()
            },
            "explained": [
                explanation_record(found.reasons(at), pair, texts=self.texts)
                for at, pair in enumerate(found.pairs if self.explained else ())
            ],
        }
        if any(metric.needs for metric in self.metrics.values()):
            with suppress(AttributeError, OSError):  # glibc keeps the memory of arrays
                ctypes.CDLL(None).malloc_trim(0)
        text = json.dumps(result)
        if not found.failed:
            with suppress(OSError):  # what cannot be kept is scored again
                self.folder.mkdir(exist_ok=True)
                with atomic.new_file(path) as part:
                    part.write_text(text, encoding="utf-8")
        return {**json.loads(text), "kept": False}


def _in_order(
    source: Path, scorer: _ChunkScorer, chosen: Chosen, workers: int
) -> Generator[tuple[Chunk, dict[str, Any]], None, None]:
    """Yield each chunk of a file with what was found of it by the metrics that are still chosen, in their
    order; at most two for each worker are under way."""
    if workers == 1:
        for chunk in pair_files.chunks(source):
            yield chunk, scorer(chunk, [*chosen.metrics])
        return
    import joblib
    from joblib.externals.loky import get_reusable_executor
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    threads = str(max(1, joblib.cpu_count() // workers))
    executor = get_reusable_executor(
        workers, initializer=_begin, initargs=(scorer,), env={"OMP_NUM_THREADS": threads}, reuse=False
    )
    waiting: deque[tuple[Chunk, Any]] = deque()
    try:
        for chunk in pair_files.chunks(source):
            waiting.append((chunk, executor.submit(_score, chunk, [*chosen.metrics])))
            if len(waiting) == 2 * workers:
                first, under_way = waiting.popleft()
                yield first, under_way.result()
        for first, under_way in waiting:
            yield first, under_way.result()
    except TerminatedWorkerError:
        remedy = "Where memory was short, give a smaller number."
        raise MetricError("a process that scores was ended from outside", "workers", remedy) from None
    finally:
        executor.shutdown(kill_workers=True)


_scorer: _ChunkScorer
"""Of a worker, with the models that it loaded."""


def _begin(scorer: _ChunkScorer) -> None:
    global _scorer
    _scorer = scorer


def _score(chunk: Chunk, names: list[str]) -> dict[str, Any]:
    return _scorer(chunk, names)


class _Collector:
    """Passes the results of chunks on to explanations, the page, and all that is reported about the file.

    Parameters
    ----------
    chosen : the metrics; those that fail on the first chunk are left out.
    stream : where explanations are written, if anywhere.
    page_texts : whether a page repeats texts; None for no page.
    """

    def __init__(self, chosen: Chosen, stream: TextIO | None, page_texts: bool | None) -> None:
        self._chosen, self._stream = chosen, stream
        self.page: ScorePage | None = None
        if page_texts is not None:
            from radeval_lib.metrics.report import ScorePage

            self.page = ScorePage(page_texts)
        self.rows = self._kept = 0
        self._in_context = False
        self._cautions = Cautions(())
        self._errors: ErrorCounts | None = None
        self._sums: dict[str, pd.Series[float]] = {}  # of scores by column, and the number of rows
        self._shares: tuple[float, int] = (0.0, 0)

    def take(self, chunk: Chunk, result: Mapping[str, Any]) -> pd.DataFrame:
        """Take a chunk, and return its rows with their columns of scores."""
        failed = {name: MetricError(*error) for name, error in result["failed"].items()}
        if chunk.start == 1:
            self._chosen.leave_out(failed)
            self._cautions.metrics = list(self._chosen.metrics)
        elif later := [error for name, error in failed.items() if name in self._chosen.metrics]:
            raise later[0]
        columns, frame = result["columns"], chunk.frame
        scored = {name: Scored(*result["scored"][name]) for name in self._chosen.metrics}
        self._in_context |= result["in context"]
        self._kept += len(frame) if result["kept"] else 0
        self.rows += len(frame)
        ids = list(frame.get(ID, ()))
        for name in ids:
            self._cautions.add_id(name)
        cases = _cases(chunk) if result["explained"] else []
        for at, pair in enumerate(pairs_of(frame, columns)):
            row, place = divmod(at, len(columns))
            system = pair_files.system_of(columns[place])
            of_metrics = {name: one.cautions[at] for name, one in scored.items()}
            cautions = self._cautions.add(system, chunk.start + row, pair, of_metrics)
            if result["explained"]:
                head = {"row": chunk.start + row, **({"id": ids[row]} if ids else {})}
                head |= {"candidate": columns[place], "cautions": cautions}
                head["scores"] = {name: one.values[at] for name, one in scored.items()}
                self._explain({**head, **result["explained"][at]}, pair)
                if errors := next((one.errors[at] for one in scored.values() if one.errors), ()):
                    self._count_errors(system, cases[row], errors)
        whole = with_scores(frame, columns, scored)
        self._add_sums(whole, [score_column(name, column) for name in scored for column in columns])
        return whole

    def _explain(self, record: dict[str, Any], pair: tuple[str, str]) -> None:
        if record["coverage"] is not None:
            self._shares = self._shares[0] + record["coverage"], self._shares[1] + 1
        if self._stream is not None:
            self._stream.write(f"{json.dumps(record, ensure_ascii=False, default=str)}\n")
        if self.page is not None:
            self.page.add(pair, record, self._chosen.metrics)

    def _count_errors(self, system: str, case: str, errors: Any) -> None:
        from radeval_lib.metrics.error_profile import ErrorCounts

        self._errors = self._errors or ErrorCounts()
        self._errors.add(system, case, errors)

    def _add_sums(self, whole: pd.DataFrame, columns: list[str]) -> None:
        parts = {"all": whole}
        if GROUP in whole:
            names = [plain(str(name).strip(), 60) or "without a name" for name in whole[GROUP].fillna("")]
            parts |= {f"group {name}": part for name, part in whole.groupby(names, sort=False)}
        for part, rows in parts.items():
            sums = rows[columns].sum()
            sums["rows"] = len(rows)
            self._sums[part] = sums.add(self._sums[part]) if part in self._sums else sums

    def finish(self) -> ScoredFile:
        """Return what is reported of all chunks."""
        share, pairs = self._shares
        return ScoredFile(
            self._chosen,
            self.rows,
            self._kept,
            {
                part: (sums.drop("rows") / sums["rows"]).to_dict()
                for part, sums in self._sums.items()
                if sums["rows"]
            },
            self._cautions.lines(),
            {
                name: str(metric.signature(in_context=self._in_context))
                for name, metric in self._chosen.metrics.items()
            },
            self._errors.profile(resamples=PROFILE_RESAMPLES, seed=0) if self._errors else None,
            share / pairs if pairs else None,
        )


def _cases(chunk: Chunk) -> list[str]:
    """Return the case of each row: what a column names, or the number of the row."""
    column = next((name for name in CASES if name in chunk.frame), None)
    rows = range(chunk.start, chunk.start + len(chunk.frame))
    cases = [str(case).strip() for case in (rows if column is None else chunk.frame[column].fillna(""))]
    if "" in cases:
        remedy = "Name the case of every row, or leave the column out."
        raise MetricError("no case", f"row {rows[cases.index('')]}, column {column!r}", remedy)
    return cases


def _about(source: Path, scored: ScoredFile) -> dict[str, Any]:
    chosen = scored.chosen
    about = {
        "input": source.name,
        "sha256 of the input": checksums.of_file(source),
        "rows": scored.rows,
        "metrics": {
            name: {
                "signature": scored.signatures[name],
                "range": [str(end) for end in metric.range],
                "higher is better": metric.higher_is_better,
                "source": metric.citation,
                **({"substitute": chosen.stand_ins[name]} if name in chosen.stand_ins else {}),
                "explained": metric.explains(),
            }
            for name, metric in chosen.metrics.items()
        },
        "left out": chosen.left_out,
        "means": scored.means,
        "coverage": scored.coverage,
        "cautions": scored.cautions,
    }
    if scored.profile is not None:
        from radeval_lib.metrics.error_profile import records

        about["error profile"] = records(scored.profile)
    return {**about, **provenance.environment()}
