"""Scoring files of pairs, and scores kept so that an interrupted scoring goes on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from itertools import count, islice, product
from pathlib import Path
from typing import Any

from radeval_lib import atomic, checksums, provenance
from radeval_lib.errors import ModelError, RadevalError, of_system
from radeval_lib.metrics import table_files
from radeval_lib.metrics.base import Metric, MetricError
from radeval_lib.metrics.blocks import Block, BlockScorer, cores, in_order
from radeval_lib.metrics.choosing import Chosen, Wanted, choose
from radeval_lib.metrics.context import context_of, has_context
from radeval_lib.metrics.error_profile import records
from radeval_lib.metrics.pair_scores import leave_out
from radeval_lib.metrics.report import ScorePage
from radeval_lib.metrics.scored_file import Collector, ScoredFile
from radeval_lib.metrics.signature import Signature
from radeval_lib.models.devices import device_of
from radeval_lib.models.pretrained import ADDRESSES, RULES


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
    versions = [provenance.own_files(), provenance.environment()]
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
        collector = Collector(scored, content, explained, lines, shown)
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
        **provenance.environment(),
    }
