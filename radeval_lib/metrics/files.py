"""Scoring files of pairs, and scores kept so that an interrupted scoring goes on."""

from __future__ import annotations

import json
import os
import shutil
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice, product
from pathlib import Path
from typing import Any

from radeval_lib import atomic, checksums, origin
from radeval_lib.errors import RadevalError, of_system, plain
from radeval_lib.metrics import pair_files
from radeval_lib.metrics.base import Metric, MetricError
from radeval_lib.metrics.choosing import Chosen, Wanted, choose
from radeval_lib.metrics.pair_scores import PairScore, ScoredPair, by_metric, pair_scores
from radeval_lib.metrics.reasons import Reason
from radeval_lib.metrics.report import Report
from radeval_lib.models.cache import BlobCache, mend, text_key
from radeval_lib.models.loading import ADDRESSES, RULES, ModelError, checksum, device_of

_HEAD = struct.Struct("<8sd")  # of a score that is kept: the run that made it, and the value


@contextmanager
def kept_beside(
    target: Path, metrics: Mapping[str, Metric], devices: Mapping[str, str], explained: bool
) -> Iterator[dict[str, Kept]]:
    """What is kept of an output's scores, for this run alone, in a folder that goes when the output is
    complete. If that fails, the folder stays where it lets the next run go on, and the error says so."""
    folder = target.with_name(f".scoring-{checksums.of_text(target.name)[:16]}")
    with ExitStack() as lock:
        try:
            lock.enter_context(atomic.alone(folder))
        except BlockingIOError:
            remedy = "Wait until it has ended, or give another name to the output."
            raise MetricError("another run is writing this output", target.name, remedy) from None
        stays = any(folder.iterdir())
        kept: dict[str, Kept] = {}
        try:
            for name, metric in metrics.items():
                kept[name] = Kept(folder / name, metric, devices[name], explained)
            yield kept
        except BaseException as error:
            stays = stays or any(one.holds for one in kept.values())
            if not stays:
                shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, OSError | RadevalError) and not isinstance(error, BrokenPipeError):
                told = of_system(error) if isinstance(error, OSError) else error
                goes_on = "What was scored is kept: the same command goes on there." if stays else ""
                remedy = f"{told.remedy} {goes_on}".strip()
                raise type(told)(told.what, told.where or target.name, remedy) from error
            raise
        shutil.rmtree(folder, ignore_errors=True)


class Kept:
    """A metric's scores of distinct pairs, on disk in ``folder``."""

    def __init__(self, folder: Path, metric: Metric, device: str, explained: bool) -> None:
        self._metric, self._explained = metric, explained
        # What the values depend on beside the texts, and on nothing that this process has done so far.
        versions = [origin.own_files(), origin.environment()]
        table = json.dumps([metric.signature(), described_models(metric), device, explained, *versions])
        self.damaged = mend(folder, table)
        """Whether scores of an interrupted run were lost."""
        self._cache = BlobCache(folder, table)
        self._run = os.urandom(8)
        self.holds = False
        """Whether this run has kept a score."""
        self.before = 0
        """Rows whose score was there from an interrupted run."""

    def score(self, pairs: list[tuple[str, str]]) -> list[PairScore]:
        """The score of each pair; those not scored before are scored together and kept."""
        keys = [text_key(json.dumps(pair)) for pair in pairs]
        found, earlier = dict[bytes, PairScore](), set[bytes]()
        for key, content in self._cache.get(set(keys)).items():
            if zlib.crc32(content[4:]) != int.from_bytes(content[:4], "little"):
                self.damaged = True
                continue
            run, value = _HEAD.unpack_from(content, 4)
            remark, reasons = json.loads(content[4 + _HEAD.size :])
            found[key] = PairScore(value, remark, [Reason.of(one) for one in reasons])
            if run != self._run:
                earlier.add(key)
        self.before += sum(key in earlier for key in keys)
        new = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in found}
        if new:
            scored = pair_scores(self._metric, list(new.values()), explained=self._explained)
            found.update(zip(new, scored, strict=True))
            self._cache.put({key: self._packed(found[key]) for key in new})
            self.holds = True
        return [found[key] for key in keys]

    def _packed(self, score: PairScore) -> bytes:
        """A score with the run that made it, behind a checksum, because SQLite has none."""
        told = [score.remark, [list(reason.fields().values()) for reason in score.reasons]]
        content = _HEAD.pack(self._run, score.value) + json.dumps(told).encode()
        return zlib.crc32(content).to_bytes(4, "little") + content


def described_models(metric: Metric) -> dict[str, str]:
    """Name and SHA-256 of the models that a metric uses, by setting."""
    found = metric.models()
    for role, name in found.items():
        with suppress(ModelError):
            found[role] = f"{Path(name).name}, sha256 {checksum(name)}"
    return found


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
"""Rows scored, kept and written at a time: memory does not grow with the file, and little is lost."""


@dataclass
class Remark:
    """Something about pairs that a reader of their scores should know, with how many and the first rows."""

    pairs: int = 0
    rows: list[int] = field(default_factory=list)

    def add(self, row: int) -> None:
        self.pairs += 1
        if len(self.rows) < 5:
            self.rows.append(row)

    def __str__(self) -> str:
        more = ", ..." if self.pairs > len(self.rows) else ""
        return f"{self.pairs:,} pair(s), in row(s) {', '.join(map(str, self.rows))}{more}"


@dataclass
class Scored:
    """What was scored.

    Attributes
    ----------
    chosen : the metrics, what stands in for the models of some, and why others were left out.
    rows : in the file.
    kept : how many of them were there from an interrupted run.
    damaged : whether others were to be, but were damaged.
    remarks : what a reader of the scores should know, with where.
    means : mean of each column of scores, of all rows and of each group.
    coverage : of explained pairs, the mean share of sentences that the rules could read, if there are any.
    """

    chosen: Chosen
    rows: int = 0
    kept: int = 0
    damaged: bool = False
    remarks: dict[str, Remark] = field(default_factory=dict)
    means: dict[str, dict[str, float]] = field(default_factory=dict)
    coverage: float | None = None
    _counts: dict[str, int] = field(default_factory=dict)
    _covered: int = 0

    def add(self, pairs: list[ScoredPair], group: str | None, columns: Mapping[str, float]) -> None:
        """Take in a row: its pairs, its group if there are groups, its scores by column."""
        self.rows += 1
        for pair in pairs:
            for name, one in pair.scores.items():
                if one.remark:
                    self.remarks.setdefault(f"{name}: {one.remark}", Remark()).add(pair.row)
        for part in ("",) if group is None else ("", f"group {group}"):
            count = self._counts[part] = self._counts.get(part, 0) + 1
            means = self.means.setdefault(part or "all", {})
            for column, value in columns.items():
                means[column] = (old := means.get(column, 0.0)) + (value - old) / count

    def add_coverage(self, share: float | None) -> None:
        """Take in the share of a pair's sentences that the rules could read."""
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
    progress: Callable[[int], object] | None = None,
) -> Scored:
    """Score the candidates of a file against its references and write its rows with a column a metric.

    The column ``reference`` is compared with ``candidate``, and with each ``candidate:<system>``, whose
    scores stand in a column ``<metric>:<system>``. The input's columns, their order and the rows' order stay.
    Means are also told for each value of a column ``group``. The output appears only when it is complete, and
    with it ``<output>.about.json``: metrics, settings, models, versions, means, and remarks such as empty
    texts. A metric whose models cannot be loaded is left out if others score.

    Parameters
    ----------
    metrics : a name (:func:`radeval_lib.metrics.names`), names, or settings by name, as texts or values;
        ``all`` stands for all metrics, see :func:`~radeval_lib.metrics.choosing.choose`.
    input_path, output_path : ``.csv``, ``.tsv``, ``.jsonl`` or ``.parquet``; the two may differ in format,
        but not be one file.
    explain : also write ``<output>.explained.jsonl``, a line a pair: the number of its row from 1, the column
        of its candidate, its scores, and what :func:`~radeval_lib.metrics.pair_scores.told` tells.
    report : where to write a page about the scores (:mod:`radeval_lib.metrics.report`), if anywhere.
    texts : whether explanations and the page may repeat words of the texts.
    progress : called with the number of rows done so far.

    Raises
    ------
    MetricError
        If the file is missing, not of its format, lacks a column, or already has one of a metric's name; if
        a metric or a setting is unknown; if no metric can score; if the output cannot be written there, or
        another run is writing it. The message names the file and the row.
    FileError
        If the disk is full, or the system refuses otherwise.
    """
    source, target = Path(input_path), Path(output_path)
    page = None if report is None else Path(report)
    beside = pair_files.check(source, target, explain, page)
    chosen = choose(metrics)
    devices = {name: device_name(one) for name, one in chosen.metrics.items()}
    version = pair_files.version(source)
    found = pair_files.survey(source, list(chosen.metrics))
    scored = Scored(chosen)
    for number in found.empty:
        scored.remarks.setdefault("an empty reference or candidate", Remark()).add(number)
    with (
        kept_beside(target, chosen.metrics, devices, explain or page is not None) as kept,
        atomic.new_files(*beside, target) as (about, *explained, part),
        ExitStack() as stack,
    ):
        lines = [stack.enter_context(path.open("w", encoding="utf-8")) for path in explained]
        pairs_of_page = part.with_name("pairs of the report")
        pages = [Report(stack.enter_context(pairs_of_page.open("w+b")), texts)] if page is not None else []
        rows = pair_files.rows(source, found, list(chosen.metrics))
        write: Callable[[pair_files.Row], object] | None = None
        while (chunk := list(islice(rows, CHUNK))) or write is None:
            pairs = _scored_pairs(chunk, scored.rows, found.candidates, kept, chosen)
            if write is None:
                added = [pair_files.score_column(*one) for one in product(chosen.metrics, found.candidates)]
                write = stack.enter_context(pair_files.writing(part, found, added))
            for row, of_row in zip(chunk, pairs, strict=True):
                columns = {
                    pair_files.score_column(name, pair.column): pair.scores[name].value
                    for name, pair in product(chosen.metrics, of_row)
                }
                write({**row, **columns})
                for pair in of_row if lines or pages else ():
                    told = pair.explained(texts)
                    scored.add_coverage(told["coverage"])
                    for stream in lines:
                        stream.write(json.dumps(told, ensure_ascii=False) + "\n")
                    for one in pages:
                        one.add(pair, told, chosen.metrics)
                scored.add(of_row, _group(row, found), columns)
            if chunk and progress is not None:
                progress(scored.rows)
        scored.kept = min((one.before for one in kept.values()), default=0) // len(found.candidates)
        scored.damaged = any(one.damaged for one in kept.values())
        text = json.dumps(_about(source, scored, devices), indent=2, ensure_ascii=False)
        about.write_text(f"{text}\n", encoding="utf-8")
        if pair_files.version(source) != version:
            raise MetricError("changed while it was scored", source.name, "Score it again.")
        if page is not None:
            with atomic.new_file(page) as new:
                pages[0].write(new, chosen.metrics, source=source.name, scored=scored)
    return scored


def _scored_pairs(
    rows: list[pair_files.Row],
    before: int,
    candidates: tuple[str, ...],
    kept: dict[str, Kept],
    chosen: Chosen,
) -> list[list[ScoredPair]]:
    """The pairs of each row. A metric that fails on the first rows is put among those left out."""
    texts = [(row[pair_files.REFERENCE], row[name]) for row, name in product(rows, candidates)]
    columns = by_metric(chosen, lambda name: kept[name].score(texts), tolerant=not before)
    for name in kept.keys() - columns.keys():
        del kept[name]
    every = (
        ScoredPair(
            before + at // len(candidates) + 1,
            candidates[at % len(candidates)],
            *pair,
            {name: column[at] for name, column in columns.items()},
        )
        for at, pair in enumerate(texts)
    )
    return [list(islice(every, len(candidates))) for _ in rows]


def _group(row: pair_files.Row, found: pair_files.Found) -> str | None:
    return plain(str(row.get(pair_files.GROUP, "")), 60) if pair_files.GROUP in found.columns else None


def _about(source: Path, scored: Scored, devices: Mapping[str, str]) -> dict[str, Any]:
    chosen = scored.chosen
    return {
        "input": source.name,
        "sha256 of the input": checksums.of_file(source),
        "rows": scored.rows,
        "metrics": {
            name: {
                "signature": metric.signature(),
                "range": [str(end) for end in metric.range],
                "higher is better": metric.higher_is_better,
                "source": metric.citation,
                "settings": {key: str(value) for key, value in metric.settings().items()},
                "models": described_models(metric),
                **({"stand-in": chosen.stand_ins[name]} if name in chosen.stand_ins else {}),
                "explained": metric.explains(),
                "device": devices[name],
            }
            for name, metric in chosen.metrics.items()
        },
        "left out": chosen.left_out,
        "means": scored.means,
        **({} if scored.coverage is None else {"coverage": scored.coverage}),
        "remarks": {what: str(remark) for what, remark in scored.remarks.items()},
        **origin.environment(),
    }
