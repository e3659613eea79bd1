"""GREEN's summary of a system: of each kind of error the sentences at the centre of the largest cluster.

Source: Ostmeier et al. 2024, Section 3.3; released code at d72c195, ``green_score/utils.py``. Two differences
on purpose: the number of clusters is the best of all, where the released search looks at a few; and the three
nearest sentences are given, as in the paper's Figure 4, where the code gives one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib.data.categories import GREEN_NAMES, LETTERS
from radeval_lib.data.green_analysis import INSIGNIFICANT, SIGNIFICANT
from radeval_lib.lexicon.loading import load_lexicon
from radeval_lib.metrics.green import parse
from radeval_lib.models.encoders import Encoder
from radeval_lib.models.judges.base import Pair
from radeval_lib.models.judges.rules import RulesJudge
from radeval_lib.pages.green.judging import CHEST
from radeval_lib.study.runs import Run
from radeval_lib.synthetic import HEURISTICS as HEURISTICS
from radeval_lib.synthetic import PlannedFinding, error_pairs
from radeval_lib.synthetic.content import contradicts
from radeval_lib.synthetic.difference import stated
from radeval_lib.synthetic.generator import rerender, seeded
from radeval_lib.synthetic.records import Denial, Statement, SyntheticReport

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
_NEAREST = 3
_LINE = re.compile(r"^\(([a-f])\) [^:]*: \d+\. ?(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Clusters:
    """The error sentences of one category."""

    letter: str
    name: str
    sentences: tuple[str, ...]
    labels: NDArray[np.int64]
    silhouette: float
    most: int
    largest: int
    nearest: tuple[str, ...]
    vectors: NDArray[np.float32]

    @property
    def share(self) -> float:
        """Share of the category's sentences in its largest cluster; NaN where there is none."""
        return float((self.labels == self.largest).mean()) if len(self.labels) else float("nan")


def error_sentences(analysis: str, *, significant: bool = True) -> dict[str, list[str]]:
    """The errors that an analysis names, by category letter."""
    body = analysis.partition(f"[{SIGNIFICANT if significant else INSIGNIFICANT}]:")[2]
    body = body.partition("\n[")[0]
    found: dict[str, list[str]] = {letter: [] for letter in LETTERS}
    for letter, listed in _LINE.findall(body):
        found[letter] += [said.strip() for said in listed.split(";") if said.strip()]
    return found


def encode_of(run: Run) -> Encode:
    """How the run's encoder turns texts into vectors."""
    return Encoder(run.model("encoder")).encode


def judged_by_rules(pairs: Sequence[Pair]) -> list[str]:
    """The rules judge's analyses of pairs of texts."""
    return RulesJudge().judge(pairs)


def cluster(letter: str, sentences: Sequence[str], encode: Encode, seed: int = 0) -> Clusters:
    """Cluster the sentences of one category by k-means, k by the silhouette."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    name = GREEN_NAMES[LETTERS.index(letter)]
    if not sentences:
        none = np.zeros(0, dtype=np.int64)
        return Clusters(letter, name, (), none, float("nan"), 0, 0, (), np.zeros((0, 0), dtype=np.float32))
    vectors = np.asarray(encode(sentences), dtype=np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    labels, best = np.zeros(len(sentences), dtype=np.int64), float("nan")
    distinct = len(np.unique(vectors.round(5), axis=0))
    most = max(1, distinct - 1)
    for k in range(2, most + 1):
        tried = KMeans(n_clusters=k, random_state=seed, n_init=4).fit(vectors).labels_
        score = float(silhouette_score(vectors, tried))
        if not best >= score:
            labels, best = tried.astype(np.int64), score
    largest = int(np.bincount(labels).argmax())
    members = np.flatnonzero(labels == largest)
    centre = vectors[members].mean(axis=0)
    order = np.argsort(-(vectors[members] @ centre), kind="stable")[:_NEAREST]
    nearest = tuple(sentences[place] for place in members[order])
    return Clusters(letter, name, tuple(sentences), labels, best, most, largest, nearest, vectors)


def summarize(analyses: Sequence[str], encode: Encode, seed: int = 0) -> list[Clusters]:
    """The six categories of a system's significant errors, clustered."""
    gathered: dict[str, list[str]] = {letter: [] for letter in LETTERS}
    for analysis in analyses:
        for letter, said in error_sentences(analysis).items():
            gathered[letter] += said
    return [cluster(letter, gathered[letter], encode, seed) for letter in LETTERS]


def summary_table(analyses: Sequence[str], clusters: Sequence[Clusters]) -> pd.DataFrame:
    """The summary: by category how many errors, in what share of reports, and what they are typically about.

    Index: the category's name. ``errors``, ``reports`` (share of analyses with one at least), ``typical``
    (the sentences nearest the centre of the largest cluster), ``share of errors`` in that cluster.
    """
    counts = np.array([parse(analysis).significant for analysis in analyses])
    rows = [
        (
            int(counts[:, place].sum()),
            float((counts[:, place] > 0).mean()),
            "; ".join(dict.fromkeys(one.nearest)),
            one.share,
        )
        for place, one in enumerate(clusters)
    ]
    index = pd.Index([f"({one.letter}) {one.name}" for one in clusters], name="error")
    return pd.DataFrame(rows, index=index, columns=["errors", "reports", "typical", "share of errors"])


FAULT = PlannedFinding("pleural_effusion", side="right", severity=1)
"""What the system sees by mistake."""


def faulty_pairs(n: int, seed: int, *, share: float) -> list[tuple[str, str]]:
    """References and what the system writes: errors by chance, and the fault in ``share`` of the reports."""
    pairs = []
    for number, pair in enumerate(error_pairs(n, seed=seed, modality_anatomy=CHEST)):
        rng = seeded(seed, number, "fault")
        candidate = pair.candidate
        if rng.random() < share and FAULT.concept not in stated(candidate.plan):
            candidate = _with_fault(candidate, rng.getrandbits(96))
        pairs.append((pair.reference.findings.text, candidate.findings.text))
    return pairs


def _with_fault(report: SyntheticReport, wording: int) -> SyntheticReport:
    """The report with the fault in it, and without what speaks against it."""
    lexicon, present = load_lexicon(), frozenset([FAULT.concept])
    kept = []
    for statement in report.plan:
        content = statement.content
        if contradicts(lexicon, content, present):
            continue
        if isinstance(content, Denial) and FAULT.concept in content.concepts:
            continue
        kept.append(statement)
    uid = 1 + max((statement.uid for statement in report.plan), default=-1)
    return rerender(report, (*kept, Statement(uid, FAULT, wording)))
