"""Stored scores of public test sets, which are in the repository without the sets' texts.

``data_manifests/recorded/<set>.csv`` has one row per candidate, in the order of the set's files, with its
ratings and each metric's score; ``<set>.yml`` describes how each column was made. This module tests whether
the current code would give the same scores, and makes metrics that return the stored ones.

Stored scores are used in two cases. If the source of a role is a stored set (``recorded/radpref``),
placeholders replace the texts, and metrics return the stored scores of the placeholders. If a rule-based
metric was frozen before it first scored a test set, it returns its stored scores of that set while its rules
are being developed, until it is frozen and the set is scored again.
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
from radeval_lib.data.manifests import find, hash_file
from radeval_lib.data.records import TextPair
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics.base import Metric, Scores
from radeval_lib.metrics.by_name import create, get
from radeval_lib.paths import BUILD, RECORDED, ROOT
from radeval_lib.placeholders import Placeholder, parse_placeholder
from radeval_lib.provenance import RECORDED_SCORES, Inputs
from radeval_lib.study import dependencies
from radeval_lib.text_format import joined, long_date

if TYPE_CHECKING:
    from radeval_lib.rules.lexicon.significance import Context

SYSTEMS = "iu_systems"
"""The set with committed outputs of systems; every edition shows its stored scores."""
FROZEN_SETS = ("radpref", "mts_dialog")
"""The sets that were first scored after the rule-based metrics were frozen."""


def read_texts(name: str, root: Path) -> list[tuple[str, str]]:
    """Return the pairs (reference, candidate) of a stored set, in the order of the stored scores.

    The list is empty if the set's files are not in the data root. The pairs may be restricted text: never
    show them. Raises ChecksumError or FormatError if a file has changed or is malformed.
    """
    if name == "radpref":
        if (path := find(name, root, radpref.CASES_FILE)) is None:
            return []
        return list(radpref.read_candidates(path)[["reference", "text"]].itertuples(index=False, name=None))
    pairs = edited_reports(root) if name == "fingerprints" else readers.load(name, root)
    return [(reveal(pair.reference), reveal(pair.candidate)) for pair in pairs]


def edited_reports(root: Path) -> list[TextPair]:
    """Return reports of Open-i's odd half, each paired with an edited version; empty if Open-i is not in the
    data root."""
    if find("openi", root) is None:
        return []
    return roles.load("edited_reports", "openi/odd", size=0, seed=0, root=root)


def is_out_of_date(name: str, metric: Metric) -> bool:
    """Return whether the current code would give other scores than those stored for a set.

    A metric without models is out of date if the digest of its scores of :func:`probe_texts` changed. One
    with models is scored with test models (:func:`probe_scores`). It is out of date if the number of scores
    changed, or if more than one of them changed by more than 0.001. Smaller changes can come from sums in
    another order, which may also move one label across its threshold. Raises DataError if there is no such
    set, or a table is missing or has changed, and KeyError if no scores by the metric are stored.
    """
    recording = recorded.load(name)
    if not metric.required_roles:
        return recording.digest(metric.name) != behaviour_digest(metric)
    stored, current = recording.probe_scores(metric.name), probe_scores(metric.name)
    if len(stored) != len(current):
        return True
    is_near = np.abs(np.subtract(stored, current)) <= _TOLERANCE  # False for NaN
    return int((~is_near).sum()) > _MAX_OUTLIERS


def out_of_date(name: str, metrics: Sequence[str] | None = None) -> list[str]:
    """Return the names of those of ``metrics`` whose stored scores of a set are out of date
    (:func:`is_out_of_date`, whose errors are raised); by default, all stored metrics are tested."""
    columns = recorded.load(name).description["columns"]
    keys = [key for key in columns if metrics is None or key in metrics]
    # Creating a metric with models would load them; its class has the name and roles that are used here.
    by_key = {key: cast(Metric, get(key)) if get(key).required_roles else create(key) for key in keys}
    return [key for key, metric in by_key.items() if is_out_of_date(name, metric)]


def sets_shown(sources: Iterable[str], needs_data_root: bool) -> dict[str, list[str] | None]:
    """Return a mapping from each stored set whose scores an edition shows to the metrics shown (None: all).

    An edition without a data root shows all sets. Any other edition shows the stored sets among the
    ``sources`` of its roles, the systems' outputs and, for those of :data:`FROZEN_SETS` whose texts are a
    source, the frozen metrics.
    """
    if not needs_data_root:
        return dict.fromkeys(recorded.names())
    sources = list(sources)
    frozen = {name: list(registry.FROZEN_METRICS) for name in stored_sets(sources) if name in FROZEN_SETS}
    recorded_sets = [registry.dataset_of(source) for source in sources if registry.is_recorded(source)]
    return frozen | dict.fromkeys([*recorded_sets, SYSTEMS])


def sets_read(files: Iterable[str], sources: Iterable[str]) -> dict[str, list[str] | None]:
    """Return a mapping from each stored set that a run read to the metrics whose stored scores it shows
    (None: all).

    Parameters
    ----------
    files : the files that the run read, as in its provenance.
    sources : the sources of its roles. If the texts of a set are among them, only frozen metrics show stored
        scores.
    """
    tables = {path.name for path in map(Path, files) if (ROOT / path).parent == RECORDED}
    text_sets = {registry.dataset_of(source) for source in sources if not registry.is_recorded(source)}
    return {
        name: list(registry.FROZEN_METRICS) if name in text_sets else None
        for name in (recorded.names() if tables else ())
        if tables & set(recorded.load(name).description["tables"])
    }


def sentences(sets: Mapping[str, Sequence[str] | None]) -> list[str]:
    """Return one sentence for each stored set that says when its scores were computed and, if current code
    would give others, by which version of the metrics.

    ``sets`` is a mapping from stored set to the metrics shown; None stands for all.
    """
    sentences_of_sets = []
    for name, metrics in sets.items():
        recording, stale = recorded.load(name), out_of_date(name, metrics)
        columns, title = recording.description["columns"], recording.description["title"].partition(":")[0]
        sentence = f"The stored values for {title} were computed on {long_date(recording.scored_on)}"
        if stale:
            versions = joined(sorted({columns[key]["commit"][:7] for key in stale}))
            titles = joined([get(key).title or key for key in stale])
            sentence += f", with version {versions} of {titles}. The current version gives other scores"
        sentences_of_sets.append(f"{sentence}.")
    return sentences_of_sets


def stored_sets(sources: Iterable[str]) -> list[str]:
    """Return, without repetition, the data sets among the sources of roles that have stored scores."""
    data_sets = (name for source in sources for name in registry.datasets_of(source))
    stored = [name for name in recorded.names() if name in registry.RECORDINGS]
    return [name for name in dict.fromkeys(data_sets) if name in stored]


PROBE = "probe.csv"
_N_PROBES = 20  # the number of pairs that metrics with models score
_TOLERANCE = 1e-3  # the largest change of a score through sums in another order
_MAX_OUTLIERS = 1  # how many scores may change more, because a label may cross its threshold
_CACHE = BUILD / "cache" / "behaviours.json"
_read_cache = lru_cache(maxsize=1)(atomic.read_mapping)


@lru_cache(maxsize=1)
def probe_texts() -> tuple[list[str], list[str]]:
    """Return two lists of equal length: the generated references, and their candidates, whose scores
    characterize a metric's behaviour."""
    frame = pd.read_csv(RECORDED / PROBE, keep_default_na=False)
    return frame["reference"].tolist(), frame["candidate"].tolist()


def behaviour_digest(metric: Metric) -> str:
    """Return the SHA-256 of a metric's scores of :func:`probe_texts`, rounded to six decimals.

    The metric must need no models. The digest is cached in ``build/cache`` for the current code.
    """

    def hash_scores() -> str:
        values = metric.score(*probe_texts()).values + 0.0
        return hashlib.sha256(" ".join(f"{value:.6f}" for value in values).encode()).hexdigest()

    return _compute_once(f"{metric.signature()} {_code_digest()}", hash_scores)


def describe_behaviour(metric: Metric) -> dict[str, str]:
    """Return the entry on a metric's behaviour for a stored set, a dictionary with one key.

    The key is ``behaviour`` (:func:`behaviour_digest`) or, if the metric needs models, ``probe``
    (:func:`probe_scores`, separated by spaces).
    """
    if metric.required_roles:
        return {"probe": " ".join(f"{score:.4f}" for score in probe_scores(metric.name))}
    return {"behaviour": behaviour_digest(metric)}


def probe_scores(key: str) -> list[float]:
    """Return the scores of the first pairs of :func:`probe_texts` by a metric with models, to four decimals.

    The models are the packaged encoder and, on it, an NER model and a graph model whose heads are drawn at
    random and not trained. The scores have no meaning, but they change if the code or a package changes a
    metric's behaviour, and do not depend on what a build trains. They are cached in ``build/cache``.
    """
    key_text = f"{key} of {_N_PROBES}, over drawn models {_code_digest()} {provenance.package_versions()}"

    def score_as_json() -> str:
        draw = registry.find("radeval_lib.models.derived:make_test_model")
        with tempfile.TemporaryDirectory() as folder:
            make_metric = registry.module(registry.LOADERS["metrics"]).metric
            metric = make_metric(key, lambda role: draw(role, Path(folder)), "cpu", {})
            references, candidates = probe_texts()
            values = metric.score(references[:_N_PROBES], candidates[:_N_PROBES]).values + 0.0
        return json.dumps([round(float(value), 4) for value in values])

    return list(map(float, json.loads(_compute_once(key_text, score_as_json))))


def _compute_once(key_text: str, compute: Callable[[], str]) -> str:
    """Return the result of ``compute``, from ``build/cache`` if it was computed before for the same
    ``key_text`` and probe."""
    key = checksums.of_text(f"{key_text} {checksums.of_file(RECORDED / PROBE)}")
    digests = _read_cache(_CACHE)
    if key not in digests:
        digests[key] = compute()
        with suppress(OSError):  # a read-only cache only costs time
            atomic.write_text(_CACHE, json.dumps(digests) + "\n")
    return digests[key]


@lru_cache(maxsize=1)
def _code_digest() -> str:
    """Return the digest of all code on which the scores of any metric depend."""
    homes = {"radeval_lib.models.derived", registry.LOADERS["metrics"], *registry.METRICS.values()}
    return dependencies.modules_digest(dependencies.closure(homes))


def with_placeholder_scores(metric: Metric, names: Sequence[str] = ()) -> Metric:
    """Return a copy of a metric that returns stored scores for placeholders and scores texts itself.

    ``names`` are the settings that a page sets; the stored scores must have been computed with the
    same values. The copy raises DataError for a placeholder without a stored score by this metric with these
    settings.
    """

    def find_stored(pairs: list[tuple[str, str]]) -> dict[int, float]:
        by_row = {n: _parse_pair(*pair) for n, pair in enumerate(pairs) if any(map(parse_placeholder, pair))}
        for name in {candidate.set for candidate in by_row.values()}:
            columns = recorded.load(name).description["columns"]
            if metric.name not in columns:
                problem = f"no scores by {metric.name} are stored"
                raise DataError(problem, name, f"Run `radbook record {name}`.")
            settings = columns[metric.name]["settings"]
            if any(
                value != settings.get(key) for key, value in settings_text(metric).items() if key in names
            ):
                listed = ", ".join(f"{key} {value}" for key, value in settings.items())
                problem = f"the scores by {metric.name} were computed with other settings"
                raise DataError(problem, name, f"Use the stored settings: {listed or 'none'}.")
        texts = [pairs[row][1] for row in by_row]
        scores = recorded.read_column(texts, metric.name).tolist() if texts else []
        return dict(zip(by_row, scores, strict=True))

    return _mix_scores(metric, find_stored)


def with_stored_scores(metric: Metric, sources: Iterable[str], root: Path, inputs: Inputs) -> Metric:
    """Return a copy of a metric that returns the stored scores of sets for which it is out of date.

    These sets are among ``sources``, and their files in the data root are the files that were scored. Their
    tables of scores are recorded in ``inputs`` as read. Without any, the metric itself is returned.
    """
    scores: dict[tuple[str, str], float] = {}
    for name in stored_sets(sources):
        digests = recorded.load(name).description["files"].items()
        if not all((root / file).is_file() and hash_file(root / file) == digest for file, digest in digests):
            continue
        if metric.name in recorded.load(name).table and is_out_of_date(name, metric):
            values = recorded.load(name).table[metric.name].tolist()
            scores |= zip(map(_normalize_space, read_texts(name, root)), values, strict=True)
            inputs.note_file(RECORDED_SCORES, RECORDED / f"{name}.csv")
    if not scores:
        return metric

    def find_stored(pairs: list[tuple[str, str]]) -> dict[int, float]:
        keys = enumerate(map(_normalize_space, pairs))
        return {row: scores[key] for row, key in keys if key in scores}

    return _mix_scores(metric, find_stored)


def _normalize_space(pair: tuple[str, str]) -> tuple[str, str]:
    """Return a pair with one space for each run of white space, because pages may pass texts on one line."""
    reference, candidate = (" ".join(text.split()) for text in pair)
    return reference, candidate


def _parse_pair(reference: str, candidate: str) -> Placeholder:
    """Return the placeholder that the candidate of a pair stands for.

    Raises
    ------
    DataError
        If the pair is not the placeholder of a reference and that of a candidate for this reference, because
        only these pairs have stored scores.
    """
    left, right = parse_placeholder(reference), parse_placeholder(candidate)
    is_pair = left and right and (left.set, left.side, right.side) == (right.set, "reference", "candidate")
    if left and right and is_pair:
        case = int(recorded.load(right.set).table.at[right.number, "case"])
        if case == left.number:
            return right
    raise DataError(
        f"no score is stored for {left[1:] if left else 'a text'} with {right[1:] if right else 'a text'}",
        "stored scores",
        "Score each candidate against its own reference, or use a profile with the texts.",
    )


def _mix_scores(metric: Metric, find: Callable[[list[tuple[str, str]]], dict[int, float]]) -> Metric:
    """Return a copy of a metric that returns stored scores, without details, where it has them, and scores
    the other pairs itself.

    ``find`` takes pairs (reference, candidate) and returns a mapping from index to stored score.
    """

    def score(
        references: Sequence[str], candidates: Sequence[str], contexts: Sequence[Context | None] | None = None
    ) -> Scores:
        pairs = list(zip(references, candidates, strict=True))
        stored_scores = find(pairs)
        to_score = [row for row in range(len(pairs)) if row not in stored_scores]
        references, candidates = ([pairs[row][side] for row in to_score] for side in (0, 1))
        scored = metric.score(references, candidates, contexts and [contexts[row] for row in to_score])
        values, details = np.zeros(len(pairs)), dict(zip(to_score, scored.details, strict=True))
        values[[*stored_scores, *to_score]] = [*stored_scores.values(), *scored.values]
        return replace(scored, values=values, details=[details.get(row) for row in range(len(pairs))])

    new_metric = copy(metric)
    new_metric.score = score  # type: ignore[method-assign]
    new_metric.values = lambda references, candidates: score(references, candidates).values  # type: ignore[method-assign]
    return new_metric


def settings_text(metric: Metric) -> dict[str, str]:
    """Return a mapping from each setting of a metric, except its models, to the value as a string."""
    return {key: str(value) for key, value in metric.settings().items() if key not in metric.models()}
