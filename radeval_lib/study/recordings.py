"""Stored scores of public test sets: numbers in the repository for texts that may not be there.

``data_manifests/recorded/<set>.csv`` has a row per candidate in the order of the set's files, with its
ratings and each metric's score; ``<set>.yml`` describes how each column was made. This module tells whether
the code still gives these scores, says so in a sentence, and makes metrics that give them.

A rule-based implementation that was frozen before it met a test set keeps its stored scores there while it is
developed: they are shown in place of new ones until it is frozen and recorded again. If the source of a role
is a recording (``recorded/radpref``), placeholders replace its texts, and metrics give the stored scores.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd

from radeval_lib import atomic, checksums, provenance, registry
from radeval_lib.data import radpref, readers, recorded, roles
from radeval_lib.data.errors import DataError
from radeval_lib.data.manifests import find, sha256
from radeval_lib.data.records import TextPair
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics.base import Metric, Scores
from radeval_lib.metrics.by_name import create, get
from radeval_lib.paths import BUILD, RECORDED, ROOT
from radeval_lib.placeholders import Placeholder, behind
from radeval_lib.provenance import RECORDED_SCORES, Reading
from radeval_lib.study import dependencies
from radeval_lib.text_format import joined, long_date

if TYPE_CHECKING:
    from radeval_lib.rules.lexicon.significance import Context

SYSTEMS = "iu_systems"
"""The set with committed outputs of systems, which every edition shows as recorded."""
FROZEN_SETS = ("radpref", "mts_dialog")
"""The sets that were stored after the metrics by rules were frozen."""


def texts(name: str, root: Path) -> list[tuple[str, str]]:
    """Return the reference and candidate of every candidate of a set, in the order of its files. Empty if the
    data root does not hold it."""
    if name == "radpref":
        if (path := find(name, root, radpref.CASES_FILE)) is None:
            return []
        return list(radpref.candidates(path)[["reference", "text"]].itertuples(index=False, name=None))
    pairs = edited_reports(root) if name == "fingerprints" else readers.load(name, root)
    return [(reveal(pair.reference), reveal(pair.candidate)) for pair in pairs]


def edited_reports(root: Path) -> list[TextPair]:
    """Return the plain edits of Open-i's odd half; empty if the data root does not hold it."""
    if find("openi", root) is None:
        return []
    return roles.load("edited_reports", "openi/odd", size=0, seed=0, root=root)


def is_out_of_date(name: str, metric: Metric) -> bool:
    """Return whether a metric behaves differently from when the set was stored, apart from its models'
    weights: more probe scores moved than summing in another order would move."""
    recording = recorded.load(name)
    if not metric.needs:
        return recording.digest(metric.name) != behaviour(metric)
    before, now = recording.probe_scores(metric.name), probe_scores(metric.name)
    if len(before) != len(now):
        return True
    near = np.abs(np.subtract(before, now)) <= _NEAR  # False for NaN
    return int((~near).sum()) > _TURNED


def out_of_date(name: str, metrics: Sequence[str] | None = None) -> list[str]:
    """Return the metrics (default: all) with stored columns of a set that the code would no longer give."""
    columns = recorded.load(name).about["columns"]
    wanted = [key for key in columns if metrics is None or key in metrics]
    # Models are not loaded: of a metric that needs some, its name and needs are asked for alone.
    by_key = {key: cast(Metric, get(key)) if get(key).needs else create(key) for key in wanted}
    return [key for key, metric in by_key.items() if is_out_of_date(name, metric)]


def sets_shown(sources: Iterable[str], needs_data_root: bool) -> dict[str, list[str] | None]:
    """Return the stored sets shown by an edition, with the metrics shown; None stands for all.

    An edition without a data root shows all sets, which pages read in place of files. Any other shows the
    stored ``sources`` of its roles, the systems' outputs, and frozen metrics on the sets whose texts it has.
    """
    if not needs_data_root:
        return dict.fromkeys(recorded.names())
    listed = list(sources)
    frozen = {name: list(registry.FROZEN_METRICS) for name in stored_sets(listed) if name in FROZEN_SETS}
    as_recorded = [registry.dataset_of(source) for source in listed if registry.is_recorded(source)]
    return frozen | dict.fromkeys([*as_recorded, SYSTEMS])


def sets_read(files: Iterable[str], sources: Iterable[str]) -> dict[str, list[str] | None]:
    """Return the stored sets that a run read, with the metrics shown; None stands for all.

    Parameters
    ----------
    files : that it read, as its provenance names them.
    sources : the sources of its roles; metrics that met a set frozen are shown as stored if the set's texts
        are a source.
    """
    tables = {path.name for path in map(Path, files) if (ROOT / path).parent == RECORDED}
    with_texts = {registry.dataset_of(source) for source in sources if not registry.is_recorded(source)}
    return {
        name: list(registry.FROZEN_METRICS) if name in with_texts else None
        for name in (recorded.names() if tables else ())
        if tables & set(recorded.load(name).about["tables"])
    }


def sentences(sets: Mapping[str, Sequence[str] | None]) -> list[str]:
    """Return a sentence for each stored set on when it was computed, and by which version if this code would
    score some of these metrics (None: all) differently."""
    written = []
    for name, metrics in sets.items():
        recording, stale = recorded.load(name), out_of_date(name, metrics)
        columns, title = recording.about["columns"], str(recording.about["title"]).partition(":")[0]
        sentence = f"The stored values for {title} were computed on {long_date(recording.scored_on)}"
        if stale:
            versions = joined(sorted({columns[key]["commit"][:7] for key in stale}))
            titles = joined([get(key).title or key for key in stale])
            sentence += f", with version {versions} of {titles}. The current version gives other scores"
        written.append(f"{sentence}.")
    return written


def stored_sets(sources: Iterable[str]) -> list[str]:
    """Return the stored sets among the sources of roles, or among data sets."""
    named = (name for source in sources for name in registry.datasets_of(source))
    stored = [name for name in recorded.names() if name in registry.RECORDINGS]
    return [name for name in dict.fromkeys(named) if name in stored]


PROBE = "probe.csv"
_PROBED = 20  # pairs that metrics with models score
_NEAR = 1e-3  # the most that summing in another order moves a score
_TURNED = 1  # scores that may move further, since a label on the edge may turn with the last digit
_CACHE = BUILD / "cache" / "behaviours.json"
_behaviours = lru_cache(maxsize=1)(atomic.read_mapping)


@lru_cache(maxsize=1)
def probe() -> tuple[list[str], list[str]]:
    """Return generated references and candidates, kept as texts, that characterize a metric's behaviour."""
    frame = pd.read_csv(RECORDED / PROBE, keep_default_na=False)
    return frame["reference"].tolist(), frame["candidate"].tolist()


def behaviour(metric: Metric) -> str:
    """Return the SHA-256 of the scores that a metric without models gives :func:`probe`, to six decimals.

    The digest is kept in ``build/cache``, so that the same code scores once.
    """

    def digest() -> str:
        values = metric.score(*probe()).values + 0.0
        return hashlib.sha256(" ".join(f"{value:.6f}" for value in values).encode()).hexdigest()

    return _kept(f"{metric.signature()} {_code()}", digest)


def recorded_behaviour(metric: Metric) -> dict[str, str]:
    """Return a metric's behaviour for a recording: its :func:`behaviour`, or its :func:`probe_scores` if it
    needs models."""
    if metric.needs:
        return {"probe": " ".join(f"{score:.4f}" for score in probe_scores(metric.name))}
    return {"behaviour": behaviour(metric)}


def probe_scores(key: str) -> list[float]:
    """Return a model-based metric's scores of the first pairs of :func:`probe`, to four decimals. Its models
    never change, so the scores depend on the code and libraries, not on a build's training.

    The models are the packaged encoder, and on it an NER and a graph model whose heads are drawn at random
    and not trained: the scores mean nothing, but a change of the code that would move others moves them. They
    are kept in ``build/cache``.
    """
    key_text = f"{key} of {_PROBED}, over drawn models {_code()} {provenance.package_versions()}"

    def scored() -> str:
        draw = registry.find("radeval_lib.models.derived:make_test_model")
        with tempfile.TemporaryDirectory() as folder:
            of_models = registry.module(registry.FILLING["metrics"]).metric
            metric = of_models(key, lambda role: draw(role, Path(folder)), "cpu", {})
            references, candidates = probe()
            values = metric.score(references[:_PROBED], candidates[:_PROBED]).values + 0.0
        return json.dumps([round(float(value), 4) for value in values])

    return list(map(float, json.loads(_kept(key_text, scored))))


def _kept(key_text: str, value: Callable[[], str]) -> str:
    """Return a value that depends on the code alone, from ``build/cache`` if it was computed before."""
    key = checksums.of_text(f"{key_text} {checksums.of_file(RECORDED / PROBE)}")
    digests = _behaviours(_CACHE)
    if key not in digests:
        digests[key] = value()
        with suppress(OSError):  # if nothing can be written, it is computed again
            atomic.write_text(_CACHE, json.dumps(digests) + "\n")
    return digests[key]


@lru_cache(maxsize=1)
def _code() -> str:
    """Return the digest of all code from which metrics, with models or without, take their scores."""
    homes = {"radeval_lib.models.derived", registry.FILLING["metrics"], *registry.METRICS.values()}
    return dependencies.modules_digest(dependencies.closure(homes))


def with_placeholder_scores(metric: Metric, given: Sequence[str] = ()) -> Metric:
    """Return the metric with stored scores for placeholders and its own scores for texts.

    ``given``: the settings that a page asks for; those that follow from the models are the recording's.
    """

    def stored(pairs: list[tuple[str, str]]) -> dict[int, float]:
        candidates = {row: _candidate(*pair) for row, pair in enumerate(pairs) if any(map(behind, pair))}
        for name in {candidate.set for candidate in candidates.values()}:
            columns = recorded.load(name).about["columns"]
            if metric.name not in columns:
                raise DataError(f"no {metric.name} is stored", name, f"Run `radbook record {name}`.")
            kept = columns[metric.name]["settings"]
            if any(value != kept.get(key) for key, value in settings_text(metric).items() if key in given):
                stated = ", ".join(f"{key} {value}" for key, value in kept.items())
                problem = f"{metric.name} is stored with other settings"
                raise DataError(problem, name, f"Use the stored ones: {stated or 'none'}.")
        texts = [pairs[row][1] for row in candidates]
        scores = recorded.column(texts, metric.name).tolist() if texts else []
        return dict(zip(candidates, scores, strict=True))

    return _with_stored(metric, stored)


def with_stored_scores(metric: Metric, sources: Iterable[str], root: Path, reading: Reading) -> Metric:
    """Return the metric with stored scores for pairs of the sets in ``sources`` for which it is out of date,
    if the data root holds the files that were scored. Their tables are noted as read."""
    scores: dict[tuple[str, str], float] = {}
    for name in stored_sets(sources):
        scored = recorded.load(name).about["files"].items()
        if not all((root / file).is_file() and sha256(root / file) == digest for file, digest in scored):
            continue
        if metric.name in recorded.load(name).table and is_out_of_date(name, metric):
            values = recorded.load(name).table[metric.name].tolist()
            scores |= zip(map(_on_one_line, texts(name, root)), values, strict=True)
            reading.note_file(RECORDED_SCORES, RECORDED / f"{name}.csv")
    if not scores:
        return metric

    def stored(pairs: list[tuple[str, str]]) -> dict[int, float]:
        keys = enumerate(map(_on_one_line, pairs))
        return {row: scores[key] for row, key in keys if key in scores}

    return _with_stored(metric, stored)


def _on_one_line(pair: tuple[str, str]) -> tuple[str, str]:
    """Return a pair whatever its white space, since metrics may be given texts on one line."""
    reference, candidate = (" ".join(text.split()) for text in pair)
    return reference, candidate


def _candidate(reference: str, candidate: str) -> Placeholder:
    """Return the candidate of two placeholders; a DataError unless they are a candidate and its own
    reference, since only such pairs are recorded."""
    left, right = behind(reference), behind(candidate)
    is_pair = left and right and (left.set, left.side, right.side) == (right.set, "reference", "candidate")
    if left and right and is_pair:
        case = int(recorded.load(right.set).table.at[right.number, "case"])
        if case == left.number:
            return right
    raise DataError(
        "a pair without a stored score: a placeholder paired with another text than its reference",
        "stored scores",
        "Score a candidate against its own reference, or the texts themselves.",
    )


def _with_stored(metric: Metric, stored: Callable[[list[tuple[str, str]]], dict[int, float]]) -> Metric:
    """Return a copy of a metric with stored scores for some pairs, without detail; others it scores itself.

    ``stored`` returns the scores of those pairs that are stored, by their place.
    """

    def score(
        references: Sequence[str],
        candidates: Sequence[str],
        contexts: Sequence[Context | None] | None = None,
    ) -> Scores:
        pairs = list(zip(references, candidates, strict=True))
        kept = stored(pairs)
        fresh = [row for row in range(len(pairs)) if row not in kept]
        references, candidates = ([pairs[row][side] for row in fresh] for side in (0, 1))
        scored = metric.score(references, candidates, contexts and [contexts[row] for row in fresh])
        values, details = np.zeros(len(pairs)), dict(zip(fresh, scored.details, strict=True))
        values[[*kept, *fresh]] = [*kept.values(), *scored.values]
        return replace(scored, values=values, details=[details.get(row) for row in range(len(pairs))])

    made = copy(metric)
    made.score = score  # type: ignore[method-assign]
    made.values = lambda references, candidates: score(references, candidates).values  # type: ignore[method-assign]
    return made


def settings_text(metric: Metric) -> dict[str, str]:
    """Return a metric's settings, apart from its models, in the form of a recording."""
    return {key: str(value) for key, value in metric.settings().items() if key not in metric.models()}
