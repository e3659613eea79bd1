"""Scoring files of pairs, and scores kept so that an interrupted scoring goes on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from itertools import count, islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from radeval_lib import atomic, checksums, origin
from radeval_lib.errors import ModelError, RadevalError, of_system, plain
from radeval_lib.metrics import table_files
from radeval_lib.metrics.base import Metric, MetricError, Score
from radeval_lib.metrics.blocks import Block, BlockScorer, ScoredBlock, cores, in_order
from radeval_lib.metrics.cautions import Cautions
from radeval_lib.metrics.choosing import Chosen, Wanted, choose
from radeval_lib.metrics.context import context_of, has_context
from radeval_lib.metrics.error_profile import ErrorCounts, records
from radeval_lib.metrics.pair_scores import leave_out
from radeval_lib.metrics.report import ScorePage
from radeval_lib.metrics.signature import Signature
from radeval_lib.models.devices import device_of
from radeval_lib.models.pretrained import ADDRESSES, RULES

if TYPE_CHECKING:
    import pandas as pd


@contextmanager
def _scoring_folder(target: Path) -> Iterator[Path]:
    """A folder for what is scored, for this run alone. It goes when the output is complete, or where it would
    not let the next run go on; else the error says so."""
    folder = target.with_name(f".scoring-{checksums.of_text(target.name)[:16]}")
    with ExitStack() as lock:
        try:
            lock.enter_context(atomic.alone(folder))
        except BlockingIOError:
            remedy = "Wait until it has ended, or give another name to the output."
            raise MetricError("another run is writing this output", target.name, remedy) from None
        try:
            yield folder
        except BaseException as error:
            stays = any(path.is_file() for path in folder.glob("*/*"))
            if not stays:
                shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, OSError | RadevalError) and not isinstance(error, BrokenPipeError):
                refusal = of_system(error) if isinstance(error, OSError) else error
                goes_on = "What was scored is kept: the same command goes on there." if stays else ""
                remedy = f"{refusal.remedy} {goes_on}".strip()
                raise type(refusal)(refusal.what, refusal.where or target.name, remedy) from error
            raise
        shutil.rmtree(folder, ignore_errors=True)


def _depends_on(metric: Metric, device: str, explained: bool) -> str:
    """What a metric's values depend on beside the texts, and on nothing that this process has done so far."""
    versions = [origin.own_files(), origin.environment()]
    return json.dumps([str(metric.signature()), metric.models(), device, explained, *versions])


def device_name(metric: Metric) -> str:
    """The device that a metric's models run on, whether they are loaded or not."""
    if all(name == RULES or name.startswith(ADDRESSES) for name in metric.models().values()):
        return "cpu"
    import torch

    try:
        device = device_of(metric.device)
    except ModelError as error:
        raise MetricError(error.what, f"{metric.name}.{error.where}", error.remedy) from error
    return "cpu" if device.type == "cpu" else torch.cuda.get_device_name(device)


RESAMPLES = 2_000
"""Of the intervals of the error profile."""
CHUNK = 500
"""Rows of a block: memory does not grow with the file, and little is lost. Other blocks would change the last
digits of what networks score, which depend on what is computed together."""


def default_workers(metrics: Mapping[str, Metric], devices: Mapping[str, str], rows: int) -> int:
    """How many processes score: as many as there are cores, each with ten blocks at least, because one takes
    seconds to begin, or with two where models make them long; one where a model is on an accelerator, behind
    an address or a judge of its own size."""
    names = {name for metric in metrics.values() for name in metric.models().values()}
    judges = {metric.models()["judge"] for metric in metrics.values() if "judge" in metric.needs} - {RULES}
    if judges or set(devices.values()) != {"cpu"} or any(name.startswith(ADDRESSES) for name in names):
        return 1
    return max(1, min(cores(), rows // (CHUNK * (2 if names - {RULES} else 10))))


@dataclass
class ScoredFile:
    """What was scored, and what is reported about it.

    Attributes
    ----------
    chosen : the metrics that scored, and why others did not.
    rows : that were scored; ``kept`` of them had scores from an interrupted run, some of which may have been
        ``damaged`` and are new.
    means : of each column of scores, for ``all`` rows and for each ``group <name>``.
    cautions : what a reader should know, one line each.
    signatures : by metric.
    profile : errors by kind, see :func:`radeval_lib.metrics.error_profile.profile`; None where no metric
        counts any, or nothing was explained.
    coverage : mean share of the texts that the rules could read, from 0 to 1; None where nothing was
        explained.
    """

    chosen: Chosen
    rows: int = 0
    kept: int = 0
    damaged: bool = False
    means: dict[str, dict[str, float]] = field(default_factory=dict)
    cautions: list[str] = field(default_factory=list)
    signatures: dict[str, str] = field(default_factory=dict)
    profile: pd.DataFrame | None = None
    coverage: float | None = None
    _counts: dict[str, int] = field(default_factory=dict)
    _covered: int = 0

    def add(self, group: str | None, columns: Mapping[str, float]) -> None:
        """Add a row: its group if there are groups, its scores by column."""
        self.rows += 1
        for part in ("",) if group is None else ("", f"group {group}"):
            count = self._counts[part] = self._counts.get(part, 0) + 1
            means = self.means.setdefault(part or "all", {})
            for column, value in columns.items():
                means[column] = (old := means.get(column, 0.0)) + (value - old) / count

    def add_coverage(self, share: float | None) -> None:
        """Add the share of a pair that the rules could read."""
        if share is not None:
            self._covered += 1
            self.coverage = (old := self.coverage or 0.0) + (share - old) / self._covered


def score_file(
    metrics: Wanted,
    input_path: str | Path,
    output_path: str | Path,
    *,
    explain: bool = False,
    report: str | Path | None = None,
    texts: bool = True,
    workers: int | None = 1,
    progress: Callable[[int, int], object] | None = None,
) -> ScoredFile:
    """Score the candidates of a file against its references and write its rows with a column per metric.

    The column ``reference`` is compared with ``candidate``, and with each ``candidate:<system>``, whose
    scores stand in a column ``<metric>:<system>``. The input's columns, their order and the rows' order stay.
    Means are also given for each value of a column ``group``. The output appears only when it is complete,
    and with it ``<output>.about.json``: metrics, settings, models, versions, means, and cautions such as
    empty texts. A metric whose models cannot be loaded is left out if others score.

    Parameters
    ----------
    metrics : a name (:func:`radeval_lib.metrics.names`), names, or settings by name, as texts or values;
        ``all`` stands for all metrics, see :func:`~radeval_lib.metrics.choosing.choose`.
    input_path, output_path : ``.csv``, ``.tsv``, ``.jsonl`` or ``.parquet``; the two may differ in format,
        but not be one file.
    explain : also write ``<output>.explained.jsonl``, a line per pair: the number of its row from 1, the
        column of its candidate, its scores, and what
        :func:`~radeval_lib.metrics.pair_scores.explanation_record` reports.
    report : where to write a page about the scores (:mod:`radeval_lib.metrics.report`), if anywhere.
    texts : whether explanations and the page may repeat words of the texts.
    workers : how many processes score; None for :func:`default_workers`. The scores are the same with any
        number. More than one begin again with the main module, so a script needs
        ``if __name__ == "__main__":`` around what it does.
    progress : called with the number of rows done so far, and of all.

    Raises
    ------
    MetricError
        If files, metrics, settings or workers are not as said, or no metric can score; it names file and row.
    FileError
        If the disk is full, or the system refuses otherwise.
    """
    source, target = Path(input_path), Path(output_path)
    page = None if report is None else Path(report)
    beside = table_files.outputs_beside(source, target, explain, page)
    chosen = choose(metrics)
    devices = {name: device_name(one) for name, one in chosen.metrics.items()}
    version = table_files.version(source)
    in_context = any(metric.reads_context() for metric in chosen.metrics.values())
    content = table_files.survey(source, list(chosen.metrics), context_of if in_context else None)
    in_context = in_context and has_context(content.columns)
    scored = ScoredFile(chosen)
    if workers is None:
        workers = default_workers(chosen.metrics, devices, content.rows)
    if not isinstance(workers, int) or workers < 1:
        raise MetricError(f"{workers!r} workers", "workers", "Give a whole number, 1 or more, or None.")
    explained = explain or page is not None
    with (
        _scoring_folder(target) as folder,
        atomic.new_files(*beside, target) as (about, *explanations, part),
        ExitStack() as stack,
    ):
        lines = [stack.enter_context(path.open("w", encoding="utf-8")) for path in explanations]
        shown = ScorePage(texts) if page is not None else None
        collector = _Collector(scored, content, explained, lines, shown)
        tables = {name: _depends_on(one, devices[name], explained) for name, one in chosen.metrics.items()}
        scorer = BlockScorer(dict(chosen.metrics), content.candidates, folder, tables, explained, texts)
        blocks = in_order(_blocks(source, content, chosen, in_context), scorer, workers)
        write: Callable[[table_files.Row], object] | None = None
        for rows, block, result in stack.enter_context(closing(blocks)):
            leave_out(chosen, result.failed, tolerant=write is None)
            if write is None:
                added = [
                    table_files.score_column(*one) for one in product(chosen.metrics, content.candidates)
                ]
                write = stack.enter_context(table_files.writing(part, content, added))
            for row, columns in collector.rows(rows, block, result):
                write({**row, **columns})
            if rows and progress is not None:
                progress(scored.rows, content.rows)
        collector.finish()
        scored.signatures = {
            name: str(one.signature(in_context=in_context)) for name, one in chosen.metrics.items()
        }
        text = json.dumps(_about(source, scored, devices), indent=2, ensure_ascii=False)
        about.write_text(f"{text}\n", encoding="utf-8")
        if table_files.version(source) != version:
            raise MetricError("changed while it was scored", source.name, "Score it again.")
        if page is not None and shown is not None:
            with atomic.new_file(page) as new:
                shown.write(new, chosen.metrics, source=source.name, scored=scored)
    return scored


class _Collector:
    """Passes the results of blocks on to explanations, the page, and all that is reported about the file.

    Parameters
    ----------
    scored : what is reported; it grows with each block.
    content : what the file holds.
    explained : whether results have explanations.
    lines : where explanations are written, if anywhere.
    page : the page about the scores, if there is one.
    """

    def __init__(
        self,
        scored: ScoredFile,
        content: table_files.FileContent,
        explained: bool,
        lines: Sequence[TextIO],
        page: ScorePage | None,
    ) -> None:
        self.scored, self.content, self.explained, self.lines, self.page = (
            scored,
            content,
            explained,
            lines,
            page,
        )
        self.metrics = scored.chosen.metrics
        self.cautions, self.errors = Cautions(self.metrics), ErrorCounts()
        rules = (name for name, one in self.metrics.items() if one.by_rules and one.reads_context())
        self.counting = next(rules, "")
        """The metric whose errors the profile counts; empty where there is none."""

    def rows(
        self, rows: Sequence[table_files.Row], block: Block, result: ScoredBlock
    ) -> Iterator[tuple[table_files.Row, dict[str, float]]]:
        """Each row of a block with its columns of scores."""
        candidates = self.content.candidates
        for at, row in enumerate(rows):
            columns: dict[str, float] = {}
            for place, column in enumerate(candidates, start=at * len(candidates)):
                scores = {name: result.scores[name][place] for name in self.metrics}
                values = {name: one.value for name, one in scores.items()}
                columns |= {table_files.score_column(name, column): one for name, one in values.items()}
                self._note(row, block.first + at, block.pairs[place], column, scores)
                if self.explained:
                    explanation, share = result.explained[place]
                    self._explain(block.pairs[place], column, values, explanation, share)
            yield row, columns
            self.scored.add(_group(row, self.content), columns)
        self.scored.kept += len(rows) if result.kept >= self.metrics.keys() else 0
        self.scored.damaged |= result.damaged

    def _note(
        self,
        row: table_files.Row,
        number: int,
        pair: tuple[str, str],
        column: str,
        scores: Mapping[str, Score],
    ) -> None:
        """Cautions, and the errors that the profile counts, by case where the row names one."""
        system = column.removeprefix(table_files.CANDIDATE).lstrip(":")
        self.cautions.add(system, number, pair, {name: one.cautions for name, one in scores.items()})
        if self.explained and self.counting in self.metrics:
            case = next((row[name] for name in table_files.CASES if name in row), number)
            if case is None or not str(case).strip():
                remedy = "Name the case of every row, or leave the column out."
                raise MetricError("no case", f"row {number}", remedy)
            self.errors.add(system, str(case), scores[self.counting].errors)

    def _explain(
        self,
        pair: tuple[str, str],
        column: str,
        values: dict[str, float],
        explanation: str,
        share: float | None,
    ) -> None:
        self.scored.add_coverage(share)
        for stream in self.lines:
            stream.write(f"{explanation}\n")
        if self.page is not None:
            self.page.add(pair, column, values, explanation, self.metrics)

    def finish(self) -> None:
        """Report what was noted of all blocks."""
        self.scored.cautions = self.cautions.lines()
        if self.errors:
            self.scored.profile = self.errors.profile(resamples=RESAMPLES, seed=0)


def _blocks(
    source: Path, content: table_files.FileContent, chosen: Chosen, in_context: bool
) -> Iterator[tuple[list[table_files.Row], Block]]:
    """The rows of each block, and its pairs; of a file without rows one block without any."""
    rows = table_files.rows(source, content, list(chosen.metrics))
    for first in count(1, CHUNK):
        chunk = list(islice(rows, CHUNK))
        if not chunk and first > 1:
            return
        pairs = [(row[table_files.REFERENCE], row[name]) for row, name in product(chunk, content.candidates)]
        contexts = None
        if in_context:
            of_rows = [
                context_of(row, f"{source.name}, row {at}") for at, row in enumerate(chunk, start=first)
            ]
            contexts = [one for one in of_rows for _ in content.candidates]
        yield chunk, Block(first, pairs, tuple(chosen.metrics), contexts)


def _group(row: table_files.Row, content: table_files.FileContent) -> str | None:
    if table_files.GROUP not in content.columns:
        return None
    value = row.get(table_files.GROUP)
    return "without a name" if value is None or not str(value).strip() else plain(str(value), 60)


def _about(source: Path, scored: ScoredFile, devices: Mapping[str, str]) -> dict[str, Any]:
    chosen = scored.chosen
    signed = {name: Signature.parse(line) for name, line in scored.signatures.items()}
    return {
        "input": source.name,
        "sha256 of the input": checksums.of_file(source),
        "rows": scored.rows,
        "metrics": {
            name: {
                "signature": scored.signatures[name],
                "range": [str(end) for end in metric.range],
                "higher is better": metric.higher_is_better,
                "source": metric.citation,
                "settings": dict(signed[name].settings),
                "models": dict(signed[name].models),
                **({"stand-in": chosen.stand_ins[name]} if name in chosen.stand_ins else {}),
                "explained": metric.explains(),
                "device": devices[name],
            }
            for name, metric in chosen.metrics.items()
        },
        "left out": chosen.left_out,
        "means": scored.means,
        **({} if scored.coverage is None else {"coverage": scored.coverage}),
        "cautions": scored.cautions,
        **({} if scored.profile is None else {"error profile": records(scored.profile)}),
        **origin.environment(),
    }
