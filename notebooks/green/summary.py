"""Summarize a system's errors as GREEN does, and simulate a system with one fault.

For each kind of error, the summary has the sentences at the centre of the largest cluster. The fault is a
false effusion.

Source: Ostmeier et al. 2024, Section 3.3; released code at d72c195, ``green_score/utils.py``. This module
deliberately differs from the released code in two respects: it tries all numbers of clusters, not a few; and
it returns the three sentences nearest to a centre, as in the paper's Figure 4, not one.
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
from radeval_lib.jobs.green import CHEST, draw_seed
from radeval_lib.metrics.green import parse
from radeval_lib.models.encoders import Encoder
from radeval_lib.rules.generator import PlannedFinding, error_pairs
from radeval_lib.rules.generator.content import contradicts
from radeval_lib.rules.generator.difference import index_findings
from radeval_lib.rules.generator.generator import make_rng, rerender
from radeval_lib.rules.generator.records import Denial, Meaning, Statement, SyntheticReport
from radeval_lib.rules.lexicon.loading import load_lexicon
from radeval_lib.study.runs import Run

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
_N_NEAREST = 3  # Number of sentences that represent a cluster.
FAULT = PlannedFinding("pleural_effusion", side="right", severity=1)
"""The finding that the simulated system adds by mistake."""
# For example, "(b) Missing a finding present in the reference: 2. effusion; nodule"
_ERROR_LINE = re.compile(r"^\(([a-f])\) [^:]*: \d+\. ?(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Clusters:
    """The clusters of one category's error sentences; the defaults describe a category without sentences.

    Attributes
    ----------
    chosen : the number of clusters.
    most : the largest number of clusters that was tried.
    share : share of the sentences (0 to 1) that are in the largest cluster; NaN without sentences.
    nearest : the sentences nearest to the centre of the largest cluster, the nearest first.
    commonest : the most frequent sentence.
    """

    chosen: int = 0
    most: int = 0
    share: float = float("nan")
    nearest: tuple[str, ...] = ()
    commonest: str = ""


def extract_error_sentences(analysis: str) -> dict[str, list[str]]:
    """Return a mapping from category letter (``a`` to ``f``) to the significant errors in a GREEN analysis.

    Each error is given as the analysis words it.
    """
    body = analysis.partition(f"[{SIGNIFICANT}]:")[2].partition("\n[")[0]
    sentences: dict[str, list[str]] = {letter: [] for letter in LETTERS}
    for letter, errors in _ERROR_LINE.findall(body):
        sentences[letter] += [error.strip() for error in errors.split(";") if error.strip()]
    return sentences


def cluster_sentences(sentences: Sequence[str], encode: Encode, seed: int) -> Clusters:
    """Cluster the error sentences of one category by k-means, with the k that has the best silhouette.

    With d distinct vectors, each k from 2 to d - 1 is tried; d clusters, each of equal vectors, would always
    have the best silhouette. If d is less than three, there is one cluster.

    Parameters
    ----------
    sentences : the sentences of all analyses.
    encode : function that returns one vector per sentence; the vectors are then scaled to length 1.
    seed : seed of k-means.
    """
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    if not sentences:
        return Clusters()
    vectors = np.asarray(encode(sentences), dtype=np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    labels, best_score = np.zeros(len(sentences), dtype=np.int64), float("nan")
    max_clusters = max(1, len(np.unique(vectors.round(5), axis=0)) - 1)
    for k in range(2, max_clusters + 1):
        k_labels = KMeans(n_clusters=k, random_state=seed, n_init=4).fit(vectors).labels_
        score = float(silhouette_score(vectors, k_labels))
        if not best_score >= score:  # True for the first k, too: best_score is NaN.
            labels, best_score = k_labels.astype(np.int64), score
    members = np.flatnonzero(labels == np.bincount(labels).argmax())
    order = np.argsort(-(vectors[members] @ vectors[members].mean(axis=0)), kind="stable")[:_N_NEAREST]
    nearest = tuple(sentences[member] for member in members[order])
    (commonest, _), *_ = Counter(sentences).most_common(1)
    return Clusters(len(np.unique(labels)), max_clusters, len(members) / len(labels), nearest, commonest)


def cluster_errors(run: Run, analyses: Sequence[str]) -> dict[str, Clusters]:
    """Return a mapping from category letter to the clusters of the significant errors in all analyses.

    ``run`` is the page's run, whose profile names the encoder of the sentences.
    """
    encode, seed = Encoder(run.model("encoder")).encode, draw_seed(run, "clusters")
    errors = [extract_error_sentences(analysis) for analysis in analyses]
    return {
        letter: cluster_sentences([text for by_letter in errors for text in by_letter[letter]], encode, seed)
        for letter in LETTERS
    }


def tabulate_errors(analyses: Sequence[str], clusters: Mapping[str, Clusters]) -> pd.DataFrame:
    """Return a table of a system's significant errors, with one row per category.

    Parameters
    ----------
    analyses : GREEN's analyses of the system's reports.
    clusters : the clusters that :func:`cluster_errors` returned for ``analyses``.

    Returns
    -------
    DataFrame
        Columns are ``errors`` (number of errors), ``reports`` (share of the analyses with at least one such
        error, 0 to 1), ``centre of largest cluster`` (the sentences nearest to the centre), ``share of
        errors in it`` (the largest cluster's share of the category's errors, 0 to 1) and ``most frequent
        sentence``.
    """
    counts = np.array([parse(analysis).significant for analysis in analyses])
    names = [f"({letter}) {name}" for letter, name in zip(LETTERS, GREEN_NAMES, strict=True)]
    groups = [clusters[letter] for letter in LETTERS]
    return pd.DataFrame(
        {
            "errors": counts.sum(axis=0),
            "reports": (counts > 0).mean(axis=0),
            "centre of largest cluster": ["; ".join(dict.fromkeys(cluster.nearest)) for cluster in groups],
            "share of errors in it": [cluster.share for cluster in groups],
            "most frequent sentence": [cluster.commonest for cluster in groups],
        },
        index=pd.Index(names, name="error"),
    )


def generate_faulty_pairs(n: int, seed: int, share: float) -> tuple[list[tuple[str, str]], int]:
    """Simulate a system whose reports have random errors and, often, one fault: a false effusion.

    Parameters
    ----------
    n : number of reports.
    seed : seed of the references, the errors and the fault.
    share : probability (0 to 1) that the fault is planted in a report, unless the reference or the report
        already has an effusion.

    Returns
    -------
    pairs : the findings sections of each reference and of the system's report.
    faults : number of reports with the fault.
    """
    pairs, faults = [], 0
    for number, pair in enumerate(error_pairs(n, seed=seed, modality_anatomy=CHEST)):
        rng = make_rng(seed, number, "fault")
        candidate = pair.candidate
        concepts = index_findings(candidate.plan) | index_findings(pair.reference.plan)
        if rng.random() < share and FAULT.concept not in concepts:
            candidate, faults = _add_fault(candidate, rng.getrandbits(96)), faults + 1
        pairs.append((pair.reference.findings.text, candidate.findings.text))
    return pairs, faults


def _add_fault(report: SyntheticReport, wording_seed: int) -> SyntheticReport:
    """Return a report with :data:`FAULT` added and statements that contradict it removed.

    ``wording_seed`` is a 96-bit integer that decides the words of the fault.
    """
    lexicon, concepts = load_lexicon(), frozenset([FAULT.concept])

    def is_compatible(content: Meaning) -> bool:
        is_denied = isinstance(content, Denial) and FAULT.concept in content.concepts
        return not is_denied and not contradicts(lexicon, content, concepts)

    statements = [statement for statement in report.plan if is_compatible(statement.content)]
    uid = 1 + max((statement.uid for statement in report.plan), default=-1)
    return rerender(report, (*statements, Statement(uid, FAULT, wording_seed)))
