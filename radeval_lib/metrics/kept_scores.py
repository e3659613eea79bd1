"""Scores kept while a file is scored, so that a run that was interrupted goes on where it stopped.

They stand under hashes of the texts in a folder beside the output.
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from itertools import repeat
from pathlib import Path

from radeval_lib import atomic, checksums, origin
from radeval_lib.errors import RadevalError, of_system
from radeval_lib.metrics.base import Metric, MetricError, Scores
from radeval_lib.models.cache import BlobCache, mend, text_key
from radeval_lib.models.loading import ADDRESSES, RULES, ModelError, checksum, device_of

_HEAD = struct.Struct("<8sd")  # of a score that is kept: the run that made it, and the value


@contextmanager
def kept_beside(
    target: Path, metrics: Mapping[str, Metric], devices: Mapping[str, str]
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
                kept[name] = Kept(folder / name, metric, devices[name])
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
    """A metric's scores and remarks of distinct pairs, on disk in ``folder``."""

    def __init__(self, folder: Path, metric: Metric, device: str) -> None:
        self._metric = metric
        # What the values depend on beside the texts, and on nothing that this process has done so far.
        versions = [origin.own_files(), origin.environment()]
        table = json.dumps([metric.signature(), described_models(metric), device, *versions])
        self.damaged = mend(folder, table)
        """Whether scores of an interrupted run were lost."""
        self._cache = BlobCache(folder, table)
        self._run = os.urandom(8)
        self.holds = False
        """Whether this run has kept a score."""
        self.before = 0
        """Rows whose score was there from an interrupted run."""

    def score(self, pairs: list[tuple[str, str]]) -> list[tuple[float, str]]:
        """(value, remark) of each pair; those not scored before are scored together and kept."""
        keys = [text_key(json.dumps(pair)) for pair in pairs]
        found, earlier = dict[bytes, tuple[float, str]](), set[bytes]()
        for key, content in self._cache.get(set(keys)).items():
            if zlib.crc32(content[4:]) != int.from_bytes(content[:4], "little"):
                self.damaged = True
                continue
            run, value = _HEAD.unpack_from(content, 4)
            found[key] = (value, content[4 + _HEAD.size :].decode())
            if run != self._run:
                earlier.add(key)
        self.before += sum(key in earlier for key in keys)
        new = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in found}
        if new:
            scores = self._scored(list(new.values()))
            details = scores.details or repeat(None)
            for key, value, detail in zip(new, scores.values, details, strict=False):
                found[key] = (float(value), self._metric.remark(detail))
            self._cache.put({key: self._packed(*found[key]) for key in new})
            self.holds = True
        return [found[key] for key in keys]

    def _packed(self, value: float, remark: str) -> bytes:
        """A score with the run that made it, behind a checksum, because SQLite has none."""
        content = _HEAD.pack(self._run, value) + remark.encode()
        return zlib.crc32(content).to_bytes(4, "little") + content

    def _scored(self, pairs: list[tuple[str, str]]) -> Scores:
        try:
            return self._metric.score([one for one, _ in pairs], [one for _, one in pairs])
        except ModelError as error:
            name = self._metric.name
            where = " and ".join(f"{name}.{role}" for role in self._metric.needs)
            remedy = f"{error.remedy} The setting is {where}."
            raise MetricError(error.what, f"{name}, {error.where}", remedy) from error


def described_models(metric: Metric) -> dict[str, str]:
    """Name and SHA-256 of the models that a metric uses, by setting."""
    found = metric.models()
    for role, name in found.items():
        with suppress(ModelError):
            found[role] = f"{Path(name).name}, sha256 {checksum(name)}"
    return found


def device_name(metric: Metric, wanted: str) -> str:
    """The device that a metric's models run on, whether they are loaded or not."""
    if all(name == RULES or name.startswith(ADDRESSES) for name in metric.models().values()):
        return "cpu"
    import torch

    try:
        device = device_of(wanted)
    except ModelError as error:
        raise MetricError(error.what, f"{metric.name}.{error.where}", error.remedy) from error
    return "cpu" if device.type == "cpu" else torch.cuda.get_device_name(device)
