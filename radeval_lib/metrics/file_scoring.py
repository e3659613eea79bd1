"""Files of report pairs (CSV, TSV, JSON Lines): read in chunks, scored, and written with scores.

Each chunk's results are kept in a file until the output is complete, so that an interrupted run can resume.
"""

from __future__ import annotations

import csv
import json
import math
import re
import shutil
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import joblib
import pandas as pd

from radeval_lib import atomic, checksums, provenance
from radeval_lib.errors import to_line
from radeval_lib.metrics import scoring
from radeval_lib.metrics.base import Metric, MetricError
from radeval_lib.metrics.by_name import ChosenMetrics, Selection, choose
from radeval_lib.metrics.cautions import Cautions
from radeval_lib.metrics.scoring import CANDIDATE, ID, REFERENCE

#: The number of rows that are read, scored and kept together. A larger number needs more memory, and more is
#: lost if a run is interrupted.
CHUNK_ROWS = 500
_GROUP = "group"
# Half of a pair that encodes one character; UTF-8 cannot encode it alone.
_SURROGATE = re.compile("[\ud800-\udfff]")
_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_FORMATS = (*_SEPARATORS, ".jsonl")


class Chunk(NamedTuple):
    """Consecutive rows of a file, the number of the first row (from 1), and the share of the file up to the
    end of the last row, from 0 to 1."""

    start: int
    frame: pd.DataFrame
    share: float = 1.0


@dataclass
class ScoredFile:
    """A summary of the scores of a file: means, cautions and signatures.

    Attributes
    ----------
    chosen : the metrics that scored, and the reasons why other requested metrics did not.
    rows : the number of rows that were scored.
    kept_rows : the number of rows that an interrupted run had already scored.
    """

    chosen: ChosenMetrics
    rows: int = 0
    kept_rows: int = 0
    _in_context: bool = False
    _cautions: Cautions = field(default_factory=Cautions)
    _sums: dict[str, pd.Series[float]] = field(default_factory=dict)  # by group, with the number of rows
    _coverage: tuple[float, int] = (0.0, 0)  # the sum of the pairs' coverages, and the number of pairs

    @property
    def means(self) -> dict[str, dict[str, float]]:
        """A mapping from ``all``, and from each ``group <name>`` that has rows, to the mean of each column of
        scores."""
        sums_of = {group: sums for group, sums in self._sums.items() if sums["rows"]}
        return {group: (sums.drop("rows") / sums["rows"]).to_dict() for group, sums in sums_of.items()}

    @property
    def cautions(self) -> list[str]:
        """The cautions about all pairs and systems, a line each, with the rows concerned."""
        return self._cautions.lines()

    @property
    def signatures(self) -> dict[str, str]:
        """A mapping from metric to its signature."""
        metrics = self.chosen.metrics.items()
        return {name: metric.signature(in_context=self._in_context) for name, metric in metrics}

    @property
    def coverage(self) -> float | None:
        """The mean share of meaningful words that the rules could read, from 0 to 1; None if no pair was
        explained or no text has such words."""
        total, pairs = self._coverage
        return total / pairs if pairs else None

    def add(
        self, chunk: Chunk, result: Mapping[str, Any]
    ) -> tuple[pd.DataFrame, list[tuple[tuple[str, str], dict[str, Any]]]]:
        """Add a chunk to the summary, and return the chunk's rows with columns of scores and, if explanations
        were requested, each (reference, candidate) with its record.

        ``result`` is the dictionary that :class:`_ChunkScorer` returns for the chunk.

        Raises
        ------
        MetricError
            If a metric that scored the first chunk fails, or all metrics fail on the first chunk.
        """
        errors = {name: MetricError(*error) for name, error in result["failed"].items()}
        if chunk.start == 1:
            self.chosen.leave_out(errors)
            self._cautions.metrics = list(self.chosen.metrics)
        elif late_errors := [error for name, error in errors.items() if name in self.chosen.metrics]:
            raise late_errors[0]
        columns, frame = result["columns"], chunk.frame
        scored = {name: scoring.Results(*result["scored"][name]) for name in self.chosen.metrics}
        evaluation = scoring.Evaluation(columns, scoring.list_pairs(frame, columns), None, scored, {})
        cautions = evaluation.add_cautions(self._cautions, frame.get(ID, ()), start=chunk.start)
        self._in_context |= result["in context"]
        records = []
        for index, explanation in enumerate(result["explained"]):
            row, position = divmod(index, len(columns))
            record = {"row": chunk.start + row, **({ID: frame[ID].iloc[row]} if ID in frame else {})}
            record |= {"candidate": columns[position], "cautions": cautions[index]}
            record["scores"] = {name: results.values[index] for name, results in scored.items()}
            records.append((evaluation.pairs[index], record | explanation))
            if explanation["coverage"] is not None:
                self._coverage = self._coverage[0] + explanation["coverage"], self._coverage[1] + 1
        self.kept_rows += len(frame) if result["kept"] else 0
        self.rows += len(frame)
        table = scoring.add_scores(frame, columns, scored)
        groups = {"all": table}
        if _GROUP in table:
            keys = table[_GROUP].fillna("").map(lambda key: to_line(str(key).strip(), 60) or "without a name")
            groups |= {f"group {name}": rows for name, rows in table.groupby(keys, sort=False)}
        for group, rows in groups.items():
            sums = rows[[scoring.name_column(name, column) for name in scored for column in columns]].sum()
            sums["rows"] = len(rows)
            self._sums[group] = sums + self._sums.get(group, 0)
        return table, records

    def describe(self, source: Path) -> dict[str, Any]:
        """Return JSON-ready metadata to reproduce and interpret the scores of the file ``source``."""
        return {
            "input": source.name,
            "sha256 of the input": checksums.of_file(source),
            "rows": self.rows,
            "metrics": {
                name: {
                    "signature": self.signatures[name],
                    "range": [str(bound) for bound in metric.range],
                    "higher is better": metric.higher_is_better,
                    "source": metric.citation,
                    **({"substitute": note} if (note := self.chosen.substitutes.get(name)) else {}),
                }
                for name, metric in self.chosen.metrics.items()
            },
            "left out": self.chosen.left_out,
            "means": self.means,
            "coverage": self.coverage,
            "cautions": self.cautions,
            **provenance.environment(),
        }


def score_file(
    metrics: Selection,
    input_path: str | Path,
    output_path: str | Path,
    *,
    explain: bool = False,
    report: str | Path | None = None,
    texts: bool = True,
    workers: int | None = 1,
    progress: Callable[[int, float], object] | None = None,
) -> ScoredFile:
    """Score the candidates in a file, and write its rows with a column of scores for each metric.

    The column ``candidate``, and each column ``candidate:<system>``, is scored against ``reference``; a
    system's scores are in a column ``<metric>:<system>``. Columns and rows of the input keep their order. If
    there is a column ``group``, means are also computed for each group. The output is written only when all
    rows are scored, together with ``<output>.about.json``, which has the metrics, settings, models, versions,
    means and cautions. A metric whose models cannot be loaded is left out if others score. Until the output
    is complete, the scores are kept in a hidden folder next to it, so that the same call resumes an
    interrupted run.

    Parameters
    ----------
    metrics : a name (:func:`radeval_lib.metrics.names`), names, or a mapping from name to settings; ``all``
        selects all metrics, see :func:`~radeval_lib.metrics.by_name.choose`. Settings may be given as
        strings.
    input_path, output_path : two different files whose names end in ``.csv``, ``.tsv`` or ``.jsonl``; their
        formats may differ.
    explain : whether to also write ``<output>.explained.jsonl``, which has a line per pair: the number of the
        ``row`` from 1 and its ``id``, if the file has such a column, the column of the ``candidate``, the
        ``cautions``, the ``scores``, and the keys of
        :func:`~radeval_lib.metrics.scoring.build_explanation`.
    report : the path of an HTML page about the scores (:mod:`radeval_lib.metrics.report`), which must differ
        from the input and the other outputs; by default, no page is written.
    texts : whether explanations and the page may quote the texts.
    workers : the number of processes that score; None for one per core if no metric needs a model and the
        file is large. Scores do not depend on the number.
    progress : a function called after each chunk with the number of rows scored so far and the share of the
        file read so far, from 0 to 1.

    Raises
    ------
    MetricError
        If files, metrics, settings or ``workers`` are not as described, no metric can score, or a metric
        fails after the first chunk. An error about a file names it and, if rows are at fault, the row.
    OSError
        If the operating system does not let this process read or write a file.
    """
    source, target = Path(input_path), Path(output_path)
    endings = ["about.json", *(["explained.jsonl"] if explain else [])]
    side_files = [target.with_name(f"{target.name}.{ending}") for ending in endings]
    check_target(target, [source])
    for path in (*side_files, *([Path(report)] if report else [])):
        check_target(path, [source], "report.html")
    if report and Path(report).resolve() in {path.resolve() for path in (target, *side_files)}:
        problem = "the page would overwrite another output of this run"
        raise MetricError(problem, str(report), "Give the page another name.")
    check_format(target)
    if workers is not None and (not isinstance(workers, int) or workers < 1):
        raise MetricError(f"{workers!r} is not an integer >= 1", "workers", "Set it to 1 or more, or None.")
    scored = ScoredFile(chosen := choose(metrics))
    page = None
    if report:
        from radeval_lib.metrics.report import ScorePage

        page = ScorePage(chosen.metrics, texts=texts)
    scorer = _ChunkScorer(dict(chosen.metrics), target, source.name, explain or page is not None, texts)
    workers = choose_workers(chosen, source) if workers is None else workers
    with atomic.new_files(*side_files, target) as (metadata_path, *explained, output), ExitStack() as stack:
        stream = stack.enter_context(explained[0].open("w", encoding="utf-8")) if explained else None
        write = make_row_writer(target, stack.enter_context(output.open("w", newline="", encoding="utf-8")))
        for chunk, result in stack.enter_context(closing(_score_chunks(source, scorer, chosen, workers))):
            table, records = scored.add(chunk, result)
            write(table)
            for pair, record in records:
                if stream is not None:
                    stream.write(f"{json.dumps(record, ensure_ascii=False, default=str)}\n")
                if page is not None:
                    page.add(pair, record)
            if progress is not None and len(table):
                progress(scored.rows, chunk.share)
        metadata = json.dumps(scored.describe(source), indent=2, ensure_ascii=False)
        metadata_path.write_text(f"{metadata}\n", encoding="utf-8")
        if report and page is not None:
            with atomic.new_file(Path(report)) as page_path:
                page.write(page_path, source=source.name, scored=scored)
    shutil.rmtree(scorer.folder, ignore_errors=True)
    return scored


def choose_workers(chosen: ChosenMetrics, source: Path) -> int:
    """Return how many processes should score a file: one per core, but at most one per two megabytes.

    Starting a process takes seconds. If a metric has a model, which uses all cores, the number is 1.
    """
    if any(set(metric.models().values()) - {"rules"} for metric in chosen.metrics.values()):
        return 1
    size = source.stat().st_size if source.is_file() else 0
    return max(1, min(joblib.cpu_count(), size // 2_000_000))


class _ChunkScorer:
    """A scorer of single chunks, in any order and any process.

    The scores of each chunk are kept in a file in ``folder``, so that an interrupted run can resume. ``key``
    identifies the metrics, settings, code and files on which the scores depend.
    """

    def __init__(
        self, metrics: dict[str, Metric], target: Path, source_name: str, explain: bool, quote_texts: bool
    ) -> None:
        """Determine the folder and key of kept scores.

        ``target`` is the output file, and ``source_name`` the name of the input file.
        """
        self._metrics, self._where, self._explained, self._texts = metrics, source_name, explain, quote_texts
        self.folder = target.with_name(f".scoring-{checksums.of_text(target.name)[:16]}")
        settings = [[metric.signature(), metric.device] for metric in metrics.values()]
        code = provenance.library_digest(), provenance.environment()
        self.key = json.dumps([str(self.folder), source_name, settings, explain, quote_texts, code])

    def __call__(self, chunk: Chunk, names: list[str]) -> tuple[Chunk, dict[str, Any]]:
        """Return the chunk and the results of the named metrics as a JSON-ready dictionary.

        Returns
        -------
        chunk : the chunk, unchanged.
        result : ``columns``, the names of the columns of candidates; ``in context``, whether patients'
            contexts were used; ``failed``, a mapping from metric to the parts of its error; ``scored``, a
            mapping from metric to the fields of :class:`~radeval_lib.metrics.scoring.Results`, without
            reasons; ``explained``, the explanation of each pair, if requested; ``kept``, whether an
            interrupted run had already scored the chunk.

        Raises
        ------
        MetricError
            If the chunk or a patient's age is malformed.
        """
        content = chunk.frame.to_json(orient="split", default_handler=str)
        path = self.folder / f"{checksums.of_text(f'{self.key} {names} {content}')}.json"
        with suppress(OSError, ValueError):
            return chunk, {**json.loads(path.read_text(encoding="utf-8")), "kept": True}
        metrics = {name: self._metrics[name] for name in names}
        evaluation = scoring.evaluate(
            chunk.frame, metrics, self._where, chunk.start, explained=self._explained
        )
        failed = evaluation.failed.items()
        result = {
            "columns": evaluation.columns,
            "in context": evaluation.contexts is not None,
            "failed": {name: [error.what, error.where, error.remedy] for name, error in failed},
            "scored": {
                name: results._replace(reasons=[], scores=None) for name, results in evaluation.scored.items()
            },
            "explained": [
                scoring.build_explanation(evaluation.list_reasons(index), pair, texts=self._texts)
                for index, pair in enumerate(evaluation.pairs if self._explained else ())
            ],
        }
        text = json.dumps(result)
        if not failed:
            with suppress(OSError):  # Without the kept file, a resumed run scores the chunk again.
                self.folder.mkdir(exist_ok=True)
                with atomic.new_file(path) as new_path:
                    new_path.write_text(text, encoding="utf-8")
        return chunk, {**json.loads(text), "kept": False}


#: A mapping from key to scorer in this worker process. A scorer keeps the models that it loaded, so that the
#: process loads them once.
_SCORERS: dict[str, _ChunkScorer] = {}


def _score_in_worker(scorer: _ChunkScorer, chunk: Chunk, names: list[str]) -> tuple[Chunk, dict[str, Any]]:
    """Return a chunk's results from the scorer that this process keeps for ``scorer.key``."""
    return _SCORERS.setdefault(scorer.key, scorer)(chunk, names)


def _score_chunks(
    source: Path, scorer: _ChunkScorer, chosen: ChosenMetrics, workers: int
) -> Generator[tuple[Chunk, dict[str, Any]], None, None]:
    """Yield each chunk of a file with its results, in the file's order.

    At most two chunks per worker are in memory. A metric that has meanwhile been removed from
    ``chosen.metrics`` does not score later chunks.

    Raises
    ------
    MetricError
        If the file is malformed, or a worker process is killed.
    """
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    score = scorer if workers == 1 else partial(_score_in_worker, scorer)
    jobs = (joblib.delayed(score)(chunk, [*chosen.metrics]) for chunk in read_chunks(source))
    parallel = joblib.Parallel(workers, return_as="generator", pre_dispatch="2*n_jobs", batch_size=1)
    try:
        yield from parallel(jobs)
    except TerminatedWorkerError:
        remedy = f"Use fewer than {workers} workers if memory was short, then run again: scores are kept."
        raise MetricError("a scoring process was killed", "workers", remedy) from None


def read_chunks(path: Path) -> Iterator[Chunk]:
    """Yield the rows of a file in chunks of at most :data:`CHUNK_ROWS` rows, at least one chunk.

    All values of a CSV or TSV file are strings.

    Raises
    ------
    MetricError
        If the name has another ending than ``.csv``, ``.tsv`` or ``.jsonl``, there is no such file, its
        content does not have the format that its name ends in, or a chunk has a column that the first chunk
        lacks.
    """
    check_format(path)
    if not path.is_file():
        raise MetricError("no such file", path.name, "Correct its name or folder.")
    start, columns = 1, list[Any]()
    for frame, share in _parse_chunks(path):
        columns = columns or [*frame.columns]
        if new_columns := [name for name in frame.columns if name not in columns]:
            problem = f"column {to_line(str(new_columns[0]), 30)!r} is missing from earlier rows"
            remedy = "Give every row the same columns."
            raise MetricError(problem, f"{path.name}, row {start} or later", remedy)
        yield Chunk(start, frame.reindex(columns=columns), share)
        start += len(frame)


def read_table(path: Path) -> pd.DataFrame:
    """Return all rows of a file as one DataFrame.

    Raises
    ------
    MetricError
        In the same cases as :func:`read_chunks`.
    """
    return pd.concat([chunk.frame for chunk in read_chunks(path)], ignore_index=True)


def _parse_chunks(path: Path) -> Iterator[tuple[pd.DataFrame, float]]:
    """Yield the rows of a file in chunks, each with the share of the file read so far, from 0 to 1.

    Raises
    ------
    MetricError
        If the file is not text in UTF-8, or its content does not have the format that its name ends in.
    """
    size = path.stat().st_size or 1
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            byte_stream: Any = stream.buffer
            open_rows = read_json_lines if path.suffix.lower() == ".jsonl" else _open_delimited
            columns, rows = open_rows(stream, path.name)
            while batch := list(islice(rows, CHUNK_ROWS)):
                yield pd.DataFrame(batch, dtype=object), byte_stream.tell() / size
                columns = []
            if columns:
                yield pd.DataFrame(columns=columns, dtype=object), 1.0
    except UnicodeDecodeError:
        # The stream decodes in blocks, so its position is not that of the first undecodable byte.
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        line = _SURROGATE.split(text, maxsplit=1)[0].count("\n") + 1
        remedy = "Save a text file as UTF-8, and a workbook as CSV in UTF-8."
        raise MetricError("not UTF-8 text", f"{path.name}, line {line}", remedy) from None


def _open_delimited(stream: TextIO, where: str) -> tuple[list[str], Iterator[dict[str, Any]]]:
    """Return the columns of a CSV or TSV file, and an iterator over its rows as mappings from column to cell.

    The separator may be a comma, a semicolon or a tab. Pandas is not used, because it pads rows with too few
    cells instead of refusing them.

    Raises
    ------
    MetricError
        If there is no line of column names or a column's name occurs twice; from the iterator, if a row has
        the wrong number of cells; from either, if a quotation mark is not closed. The errors name the file
        ``where``.
    """
    # Some reports are longer than the default limit of 131,072 characters per cell.
    csv.field_size_limit(1 << 30)
    header = next((line for line in stream if line.strip()), "")
    stream.seek(0)
    separator = max(("\t" if where.lower().endswith(".tsv") else ",", ",", ";", "\t"), key=header.count)
    reader = csv.reader(stream, strict=True, delimiter=separator)

    def read_rows() -> Iterator[list[str]]:
        try:
            yield from filter(None, reader)  # Blank lines are not rows.
        except csv.Error as error:
            problem, line = f"not a CSV or TSV file: {error}", f"{where}, line {reader.line_num}"
            remedy = "Close each quotation mark, and double it inside a cell."
            raise MetricError(problem, line, remedy) from None

    def read_records() -> Iterator[dict[str, Any]]:
        for number, row in enumerate(remaining_rows, start=1):
            if len(row) != len(columns):
                problem = f"number of cells: {len(row)}, but {len(columns)} in the header"
                remedy = "Write as many cells as in the header, and quote texts that contain separators."
                raise MetricError(problem, f"{where}, row {number}", remedy)
            yield dict(zip(columns, row, strict=True))

    remaining_rows = read_rows()
    if not (columns := next(remaining_rows, [])):
        raise MetricError("no line of column names", where, "Begin the file with such a line.")
    if repeated := [name for name in columns if columns.count(name) > 1]:
        problem = f"more than one column is called {to_line(repeated[0], 30)!r}"
        raise MetricError(problem, where, scoring.suggest_column(columns, repeated[0]))
    return columns, read_records()


def read_json_lines(stream: TextIO, where: str) -> tuple[list[str], Iterator[dict[str, Any]]]:
    """Return the columns ``reference`` and ``candidate``, for a file without rows, and an iterator over the
    objects of a JSON Lines file.

    Blank lines and empty objects are skipped.

    Raises
    ------
    MetricError
        From the iterator, if a line is not a JSON object, or has half of a surrogate pair, which cannot be
        written to a file. The errors name the file ``where``.
    """

    def read_records() -> Iterator[dict[str, Any]]:
        for number, line in enumerate(stream, start=1):
            row, location = None, f"{where}, line {number}"
            with suppress(ValueError, RecursionError):
                row = json.loads(line) if line.strip() else {}
            if not isinstance(row, dict):
                raise MetricError("not a JSON object", location, "Write one object on each line.")
            if "\\ud" in line.lower() and _SURROGATE.search(json.dumps(row, ensure_ascii=False)):
                problem = "half of a surrogate pair, an escape from \\ud800 to \\udfff without its partner"
                raise MetricError(problem, location, "Write both escapes of the character, or \\ufffd.")
            if row:
                yield row

    return [REFERENCE, CANDIDATE], read_records()


def check_format(path: Path) -> None:
    """Raise :class:`MetricError` unless the name of a file ends in ``.csv``, ``.tsv`` or ``.jsonl``."""
    if path.suffix.lower() not in _FORMATS:
        remedy = f"Name a file that ends in {' or '.join(_FORMATS)}."
        raise MetricError(f"unknown ending {path.suffix!r}", path.name, remedy)


def check_target(target: Path, sources: Iterable[Path] = (), example: str = "scores.csv") -> None:
    """Raise :class:`MetricError` if a file cannot be written at a path, or if the path is that of an input.

    Parameters
    ----------
    target : the path of the output.
    sources : the paths of the inputs.
    example : the file name that the error suggests if the path is a folder.
    """
    if target.is_dir():
        raise MetricError(f"{target} is a folder", remedy=f"Name a file in it, such as {target / example}.")
    if target.exists() and not target.is_file():
        raise MetricError(f"{target} is not a regular file", remedy="Pass the path of a file.")
    if not target.parent.is_dir():
        raise MetricError(f"no folder {target.parent}", str(target), "Create it, or name another folder.")
    if any(target.exists() and source.exists() and target.samefile(source) for source in sources):
        raise MetricError("input and output are the same file", str(target), "Give the output another name.")


def make_row_writer(path: Path, stream: TextIO) -> Callable[[pd.DataFrame], None]:
    """Return a function that writes the rows of a table to a stream, in the format that ``path`` ends in.

    In JSON Lines, numbers that are not finite are null. In CSV and TSV, the first call writes the header, and
    lists, mappings and booleans are written as JSON.
    """

    def write_json_lines(frame: pd.DataFrame) -> None:
        for row in frame.to_dict("records"):
            for name, value in row.items():
                if isinstance(value, float) and not math.isfinite(value):
                    row[name] = None
            stream.write(f"{json.dumps(row, ensure_ascii=False, default=str)}\n")

    def format_cell(value: Any) -> Any:
        return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list | bool) else value

    def write_delimited(frame: pd.DataFrame) -> None:
        cells = frame.map(format_cell)
        # The csv module would leave a carriage return unquoted, since lines here end with a line feed.
        has_returns = cells.map(lambda cell: isinstance(cell, str) and "\r" in cell).any(axis=None)
        cells.to_csv(
            stream,
            sep=_SEPARATORS[path.suffix.lower()],
            header=not stream.tell(),
            index=False,
            lineterminator="\n",
            quoting=csv.QUOTE_ALL if has_returns else csv.QUOTE_MINIMAL,
        )

    return write_json_lines if path.suffix.lower() == ".jsonl" else write_delimited
