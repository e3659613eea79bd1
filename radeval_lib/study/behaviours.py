"""How a metric behaves with today's code: its scores of generated pairs, by which a recording knows whether
the code would still give what it holds."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from radeval_lib import atomic, checksums, provenance, registry
from radeval_lib.metrics.base import Metric
from radeval_lib.paths import BUILD, RECORDED

PROBE = "probe.csv"
_PROBED = 20  # pairs that metrics with models score
_NEAR, _TURNED = 1e-3, 1  # how far a score moves by sums in another order, and how many labels these turn
_CACHE = BUILD / "cache" / "behaviours.json"
_WITHOUT_MODELS = ("report_text", "findings", "lexicon", "models/judges", "metrics", "stats", "data")
_WITH_MODELS = ("report_text", "models", "metrics", "stats", "data")
_behaviours = lru_cache(maxsize=1)(atomic.read_mapping)


@lru_cache(maxsize=1)
def probe() -> tuple[list[str], list[str]]:
    """Return generated references and candidates, kept as texts, by which the behaviour of a metric is
    known."""
    frame = pd.read_csv(RECORDED / PROBE, keep_default_na=False)
    return frame["reference"].tolist(), frame["candidate"].tolist()


def behaviour(metric: Metric) -> str:
    """Return SHA-256 of a metric's scores of :func:`probe`, to six decimals.

    What needs no model is scored once for the same code: the digest is kept in ``build/cache``.
    """
    if metric.needs:
        return _behaviour(metric)
    return _kept(f"{metric.signature()} {_code_of(_WITHOUT_MODELS)}", lambda: _behaviour(metric))


def recorded_behaviour(metric: Metric) -> dict[str, str]:
    """Return what a recording keeps of how a metric behaves: ``behaviour``, and where it needs models
    ``probe``, its :func:`probe_scores`."""
    found = {"behaviour": behaviour(metric)}
    if metric.needs:
        found["probe"] = " ".join(f"{score:.4f}" for score in probe_scores(metric.name))
    return found


def probe_scores(key: str) -> list[float]:
    """Return scores of the first pairs of :func:`probe`, to four decimals, by a metric that needs models,
    over models that never change: they depend on the code and the libraries, not on what a build has trained.

    The models are the packaged encoder, and on it an NER and a graph model whose heads are drawn at random
    and not trained: the scores mean nothing, but a change of the code that would move others moves them. They
    are kept in ``build/cache``.
    """
    what = f"{key} of {_PROBED}, over drawn models {_code_of(_WITH_MODELS)} {provenance.package_versions()}"
    found = _kept(what, lambda: json.dumps([round(float(one), 4) for one in _over_probe_models(key)]))
    return list(map(float, json.loads(found)))


def _over_probe_models(key: str) -> np.ndarray:
    with tempfile.TemporaryDirectory() as folder:
        fill = registry.find("radeval_lib.models.initial:drawn")
        made = registry.module(registry.FILLING["metrics"]).metric(
            key, lambda role: fill(role, Path(folder)), "cpu", {}
        )
        references, candidates = probe()
        return made.score(references[:_PROBED], candidates[:_PROBED]).values + 0.0


def _kept(what: str, value: Callable[[], str]) -> str:
    """Return a value that the code decides, computed once for the same code and kept in ``build/cache``."""
    key = checksums.of_text(f"{what} {checksums.of_file(RECORDED / PROBE)}")
    known = _behaviours(_CACHE)
    if key not in known:
        known[key] = value()
        with suppress(OSError):  # where nothing can be written, it is computed again
            atomic.write_text(_CACHE, json.dumps(known) + "\n")
    return known[key]


def _behaviour(metric: Metric) -> str:
    values = metric.score(*probe()).values
    return hashlib.sha256(" ".join(f"{value:.6f}" for value in values + 0.0).encode()).hexdigest()


@lru_cache(maxsize=2)
def _code_of(folders: tuple[str, ...]) -> str:
    """Return SHA-256 of all files from which metrics without models, or with them, take their scores."""
    library = Path(__file__).parents[1]
    files = [
        path for name in folders for path in (library / name).rglob("*") if path.suffix in (".py", ".yml")
    ]
    named = sorted(f"{path.relative_to(library)} {checksums.of_file(path)}" for path in files)
    return checksums.of_text("\n".join(named))


def has_moved(before: Sequence[float], now: Sequence[float]) -> bool:
    """Return whether more scores of the probe moved than sums in another order move: a label that stands on
    the edge may turn with the last digit, so that a few may differ, by whatever. NaN is near nothing, and
    scores of another number of pairs have moved."""
    if len(before) != len(now):
        return True
    near = np.abs(np.asarray(before) - np.asarray(now)) <= _NEAR
    return int((~near).sum()) > _TURNED
