"""Reports in other layouts: wrapped lines, line ends of other systems, lists, a history in front.

A try holds if the reader, the judge by rules, the observations, the lexical metrics and the input of
F1-RadGraph are what they are of the report on one line. Reports are Open-i's where the data root has them,
else generated. Of lists, tags, typed line ends and histories the reader, the judge and the observations are
tried alone, because the other metrics keep their released rules.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from radeval_lib import metrics
from radeval_lib.data import openi
from radeval_lib.data.radgraph import Annotation, annotation
from radeval_lib.data.report_edits import MARKED, WRAPPED
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics.base import Metric
from radeval_lib.metrics.radgraph_metrics import F1RadGraph
from radeval_lib.rules.generator.generator import generate
from radeval_lib.rules.judge import judge_pair
from radeval_lib.rules.lexicon.markup import tokenize
from radeval_lib.rules.reader import read
from radeval_lib.rules.reader.observations import label
from tests.rules.judge.relations import FORMS

_READ_ALIKE = {**MARKED, "a history in front": FORMS["a history in front"]}
"""Layouts that what reads through the front door must not see."""


class _EveryWord:
    """An extractor for which every word is an entity, so that a graph tells all of its text."""

    name = "every word"

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        words = [tokenize(text) for text in texts]
        return [annotation(own, [(at, at + 1, "OBS-DP") for at in range(len(own))], []) for own in words]


def _panel() -> dict[str, Metric]:
    graphs = F1RadGraph()
    graphs.extractor = _EveryWord()
    names = ("bleu", "rouge_1", "rouge_2", "rouge_l", "meteor", "observations")
    return {"f1_radgraph": graphs, **{name: metrics.create(name) for name in names}}


def _texts(number: int, seed: int) -> list[str]:
    root = os.environ.get("RADEVAL_DATA_ROOT", "")
    path = Path(root) / "openi" / "indiana_reports.csv"
    if not root or not path.is_file():
        return [report.findings.text for report in generate(number, seed)]
    written = [f"{reveal(one.findings)} {reveal(one.impression)}".strip() for one in openi.load(path)]
    filled = [text for text in written if text]
    return Random(seed).sample(filled, min(number, len(filled)))


def _reading(text: str) -> Any:
    """What the reader and the labeller find, without where it stands."""
    found = read(text)
    stated = [
        (one.observation, one.presence, one.locations, one.severity, one.size_mm, one.change, one.sign_of)
        for one in found.findings
    ]
    return stated, [(one.key, one.change) for one in found.normals], label(text)


def _judged(reference: str, candidate: str) -> Any:
    found = judge_pair(reference, candidate)
    return found.analysis(), found.weighted_errors


def tries(folder: Path, reports: int = 1200, seed: int = 0) -> Iterator[tuple[str, str]]:
    """(layout, what changed) of every report in every layout, by itself and against another report."""
    pairs = list(pairwise(_texts(reports + 1, seed)))
    references, candidates = (list(side) for side in zip(*pairs, strict=True))
    panel = _panel()
    before = {name: metric.score(references, candidates).values for name, metric in panel.items()}
    for layout, lay_out in (WRAPPED | _READ_ALIKE).items():
        formed = [lay_out(text) for text in candidates]
        tried = panel if layout in WRAPPED else {}
        after = {name: metric.score(references, formed).values for name, metric in tried.items()}
        for place, ((reference, text), other) in enumerate(zip(pairs, formed, strict=True)):
            changed = [name for name in tried if before[name][place] != after[name][place]]
            if _reading(text) != _reading(other):
                changed.append("reading")
            if judge_pair(text, other).errors or judge_pair(other, text).errors:
                changed.append("errors against itself")
            if _judged(reference, text) != _judged(reference, other) or _judged(text, reference) != _judged(
                other, reference
            ):
                changed.append("errors against another report")
            yield f"report {layout}", ", ".join(changed)
