"""Blocks of pairs: each scored, explained and kept on disk as a whole, in this process or by several."""

from __future__ import annotations

import ctypes
import json
import multiprocessing
import os
import signal
import threading
import zlib
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from radeval_lib import atomic, checksums
from radeval_lib.errors import RadevalError
from radeval_lib.metrics.base import Metric, MetricError, Score
from radeval_lib.metrics.pair_scores import ScoredPair, scored
from radeval_lib.metrics.reasons import Reason
from radeval_lib.rules.lexicon.significance import Context

_CHECK, _RUN = 4, 8  # of a block that is kept: bytes of the checksum of what follows, and of the run's name


_THREADS = "OMP_NUM_THREADS"
_PATIENCE = 2.0
"""Seconds without a result after which the processes are looked at."""
T = TypeVar("T")


class Block(NamedTuple):
    """Pairs to score, all candidates of one row after another; ``first`` is the number of their first row,
    ``contexts`` what is known of the patient of each pair."""

    first: int
    pairs: list[tuple[str, str]]
    metrics: tuple[str, ...]
    contexts: list[Context | None] | None = None


@dataclass
class ScoredBlock:
    """What was found of a block; ``kept`` are metrics whose scores were there from an interrupted run."""

    scores: dict[str, list[Score]] = field(default_factory=dict)
    failed: dict[str, RadevalError] = field(default_factory=dict)
    explained: list[tuple[str, float | None]] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)
    damaged: bool = False


@dataclass(frozen=True)
class BlockScorer:
    """Scores each block by itself, so that neither what was scored before it nor who scores it decides."""

    metrics: dict[str, Metric]
    candidates: tuple[str, ...]
    folder: Path
    tables: Mapping[str, str]  # by metric, what its values depend on beside the texts
    explained: bool
    texts: bool
    run: bytes = field(default_factory=lambda: os.urandom(_RUN))  # distinguishes what earlier runs kept

    def __call__(self, block: Block) -> ScoredBlock:
        found = ScoredBlock()
        for name in block.metrics:
            try:
                found.scores[name] = self._scores(name, block, found)
            except RadevalError as error:
                found.failed[name] = error
        for at, pair in enumerate(block.pairs if self.explained else ()):
            row, place = divmod(at, len(self.candidates))
            scores = {name: column[at] for name, column in found.scores.items()}
            content = ScoredPair(block.first + row, self.candidates[place], *pair, scores).explained(
                self.texts
            )
            found.explained.append((json.dumps(content, ensure_ascii=False), content["coverage"]))
        return found

    def _scores(self, name: str, block: Block, found: ScoredBlock) -> list[Score]:
        metric, pairs = self.metrics[name], block.pairs
        contexts = block.contexts if metric.reads_context() else None
        given = [self.tables[name], pairs, *([[str(one) for one in contexts]] if contexts else [])]
        path = self.folder / name / checksums.of_text(json.dumps(given))
        with suppress(FileNotFoundError):
            content = path.read_bytes()
            if len(content) > _CHECK and _check(content[_CHECK:]) == content[:_CHECK]:
                if content[_CHECK : _CHECK + _RUN] != self.run:
                    found.kept.add(name)
                records = json.loads(content[_CHECK + _RUN :])
                return [
                    Score(value, cautions, list(map(Reason.of, why)), errors)
                    for value, cautions, why, errors in records
                ]
            found.damaged = True
        scores = scored(metric, pairs, contexts).each(pairs, explained=self.explained, counted=self.explained)
        if metric.needs:
            _give_back()
        content = self.run + json.dumps(scores).encode()
        path.parent.mkdir(exist_ok=True)
        with atomic.new_file(path) as part:
            part.write_bytes(_check(content) + content)
        return scores


def _give_back() -> None:
    """Return to the system what a network's arrays took; glibc keeps it, in pieces that fit nothing else."""
    with suppress(AttributeError, OSError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def _check(content: bytes) -> bytes:
    return zlib.crc32(content).to_bytes(_CHECK, "little")


def in_order(
    blocks: Iterable[tuple[T, Block]], scorer: BlockScorer, workers: int
) -> Generator[tuple[T, Block, ScoredBlock], None, None]:
    """Each block, with what comes with it and what was found of it, in their order; at most two per worker
    are under way."""
    if workers == 1:
        for beside, block in blocks:
            yield beside, block, scorer(block)
        return
    waiting: deque[tuple[T, Block, Future[ScoredBlock]]] = deque()
    with _pool(workers, scorer) as pool:
        for beside, block in blocks:
            waiting.append((beside, block, pool.submit(_score, block)))
            if len(waiting) == 2 * workers:
                yield _done(pool, *waiting.popleft())
        while waiting:
            yield _done(pool, *waiting.popleft())


def _done(
    pool: ProcessPoolExecutor, beside: T, block: Block, under_way: Future[ScoredBlock]
) -> tuple[T, Block, ScoredBlock]:
    while True:
        try:
            return beside, block, under_way.result(timeout=_PATIENCE)
        except TimeoutError:
            if under_way.done():
                raise  # the scorer's own
            _end_if_broken(pool)


def _end_if_broken(pool: ProcessPoolExecutor) -> None:
    """End a pool of which a process died. The executor sees that by itself, unless the process was killed in
    the middle of a result: then it waits for the rest, and the others wait for the lock that the dead one
    holds. With all of them ended and its own end of the pipe closed, it reads to the end."""
    processes = list((pool._processes or {}).values())
    if any(one.exitcode is not None for one in processes):
        for one in processes:
            one.kill()
        results: Any = pool._result_queue
        results._writer.close()


@contextmanager
def _pool(workers: int, scorer: BlockScorer) -> Iterator[ProcessPoolExecutor]:
    """Processes that score what they are sent, with the cores shared out among them."""
    before = os.environ.get(_THREADS)
    os.environ.setdefault(_THREADS, str(max(1, cores() // workers)))
    # Spawned, because torch's threads do not survive a fork.
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin, (scorer,))
    try:
        yield pool
    except BrokenProcessPool:
        remedy = "Where memory was short, give a smaller number."
        raise MetricError("a process that scores was ended from outside", "workers", remedy) from None
    finally:
        pool.shutdown(cancel_futures=True)
        if before is None:
            del os.environ[_THREADS]


_scorer: BlockScorer
"""Of a worker, with the models that it loaded."""


def _begin(scorer: BlockScorer) -> None:
    global _scorer
    _scorer = scorer
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # end without a word; the parent gets it too, and reports it
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
    os._exit(1)


def _score(block: Block) -> ScoredBlock:
    return _scorer(block)


def cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
