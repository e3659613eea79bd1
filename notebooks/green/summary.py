"""Summarize a system's errors as GREEN does, and simulate a system with one fault.

The summary has, for each kind of error, the sentences at the centre of the largest cluster. The fault is an
effusion that is not there.

Source: Ostmeier et al. 2024, Section 3.3; released code at d72c195, ``green_score/utils.py``. There are two
deliberate differences: all numbers of clusters are tried, not a few; and three nearest sentences are given,
as in the paper's Figure 4, not one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib.categories import GREEN_NAMES, LETTERS
from radeval_lib.green_analysis import SIGNIFICANT
from radeval_lib.jobs.green import CHEST, seed_of
from radeval_lib.metrics.green import parse
from radeval_lib.models.encoders import Encoder
from radeval_lib.rules.generator import PlannedFinding, error_pairs
from radeval_lib.rules.generator.content import contradicts
from radeval_lib.rules.generator.difference import stated
from radeval_lib.rules.generator.generator import rerender, seeded
from radeval_lib.rules.generator.records import Denial, Meaning, Statement, SyntheticReport
from radeval_lib.rules.lexicon.loading import load_lexicon
from radeval_lib.study.runs import Run

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
_NEAREST = 3
FAULT = PlannedFinding("pleural_effusion", side="right", severity=1)
"""The finding that the system reports by mistake."""
# "(b) Missing a finding present in the reference: 2. effusion; nodule"
_LINE = re.compile(r"^\(([a-f])\) [^:]*: \d+\. ?(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Clusters:
    """The clusters of one category's error sentences.

    Attributes
    ----------
    chosen, most : number of clusters, and the largest number tried.
    share : of the sentences that are in the largest cluster.
    nearest : sentences nearest to the centre of the largest cluster.
    commonest : the most frequent sentence.
    """

    chosen: int = 0
    most: int = 0
    share: float = float("nan")
    nearest: tuple[str, ...] = ()
    commonest: str = ""


def error_sentences(analysis: str) -> dict[str, list[str]]:
    """Return the significant errors in an analysis, by category letter."""
    body = analysis.partition(f"[{SIGNIFICANT}]:")[2].partition("\n[")[0]
    sentences: dict[str, list[str]] = {letter: [] for letter in LETTERS}
    for letter, listed in _LINE.findall(body):
        sentences[letter] += [error.strip() for error in listed.split(";") if error.strip()]
    return sentences


def cluster(sentences: Sequence[str], encode: Encode, seed: int) -> Clusters:
    """Return the clusters of one category's sentences by k-means, k by the silhouette.

    ``encode`` gives one vector per sentence; they are scaled to length 1. With d distinct vectors, k goes
    from 2 to d - 1, since d clusters of equal vectors would always have the best silhouette. If d is below
    three, there is one cluster.
    """
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    if not sentences:
        return Clusters()
    vectors = np.asarray(encode(sentences), dtype=np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    labels, best = np.zeros(len(sentences), dtype=np.int64), float("nan")
    most = max(1, len(np.unique(vectors.round(5), axis=0)) - 1)
    for k in range(2, most + 1):
        tried = KMeans(n_clusters=k, random_state=seed, n_init=4).fit(vectors).labels_
        score = float(silhouette_score(vectors, tried))
        if not best >= score:
            labels, best = tried.astype(np.int64), score
    members = np.flatnonzero(labels == np.bincount(labels).argmax())
    order = np.argsort(-(vectors[members] @ vectors[members].mean(axis=0)), kind="stable")[:_NEAREST]
    nearest = tuple(sentences[member] for member in members[order])
    (commonest, _), *_ = Counter(sentences).most_common(1)
    return Clusters(len(np.unique(labels)), most, len(members) / len(labels), nearest, commonest)


def summarize(run: Run, analyses: Sequence[str]) -> dict[str, Clusters]:
    """Return a system's significant errors, clustered by the run's encoder, by category letter."""
    encode, seed = Encoder(run.model("encoder")).encode, seed_of(run, "clusters")
    named = [error_sentences(analysis) for analysis in analyses]
    return {
        letter: cluster([sentence for by_letter in named for sentence in by_letter[letter]], encode, seed)
        for letter in LETTERS
    }


def summary_table(analyses: Sequence[str], clusters: Mapping[str, Clusters]) -> pd.DataFrame:
    """Return a summary of a system's significant errors.

    Parameters
    ----------
    analyses : GREEN's analyses of the system's reports.
    clusters : of their errors, by category letter, from :func:`summarize`.

    Returns
    -------
    DataFrame
        One row per category: ``errors`` (their number), ``reports`` (the share of analyses with at least
        one), ``centre of largest cluster`` (the sentences nearest to it), ``share in it`` (of the category's
        errors) and ``commonest sentence``.
    """
    counts = np.array([parse(analysis).significant for analysis in analyses])
    names = [f"({letter}) {name}" for letter, name in zip(LETTERS, GREEN_NAMES, strict=True)]
    chosen = [clusters[letter] for letter in LETTERS]
    return pd.DataFrame(
        {
            "errors": counts.sum(axis=0),
            "reports": (counts > 0).mean(axis=0),
            "centre of largest cluster": ["; ".join(dict.fromkeys(cluster.nearest)) for cluster in chosen],
            "share in it": [cluster.share for cluster in chosen],
            "commonest sentence": [cluster.commonest for cluster in chosen],
        },
        index=pd.Index(names, name="error"),
    )


def faulty_pairs(n: int, seed: int, share: float) -> tuple[list[tuple[str, str]], int]:
    """Return pairs of a reference and a system's report, and the number of reports with the fault.

    Errors are random. The fault is planted in ``share`` of the reports, unless the reference or the candidate
    already has an effusion.
    """
    pairs, faults = [], 0
    for number, pair in enumerate(error_pairs(n, seed=seed, modality_anatomy=CHEST)):
        rng = seeded(seed, number, "fault")
        candidate = pair.candidate
        there = stated(candidate.plan) | stated(pair.reference.plan)
        if rng.random() < share and FAULT.concept not in there:
            candidate, faults = _with_fault(candidate, rng.getrandbits(96)), faults + 1
        pairs.append((pair.reference.findings.text, candidate.findings.text))
    return pairs, faults


def _with_fault(report: SyntheticReport, wording: int) -> SyntheticReport:
    """Return the report with the fault, and without statements that contradict it."""
    lexicon, present = load_lexicon(), frozenset([FAULT.concept])

    def stays(content: Meaning) -> bool:
        denied = isinstance(content, Denial) and FAULT.concept in content.concepts
        return not denied and not contradicts(lexicon, content, present)

    kept = [statement for statement in report.plan if stays(statement.content)]
    uid = 1 + max((statement.uid for statement in report.plan), default=-1)
    return rerender(report, (*kept, Statement(uid, FAULT, wording)))
