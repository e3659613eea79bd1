"""Committed outputs of systems for the studies of a public test split, and baselines for any system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from radeval_lib.data import iu_systems, openi, reading
from radeval_lib.data.manifests import find
from radeval_lib.data.records import Report, SystemReport
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics import create
from radeval_lib.stats.tokens import words

FILES = tuple(name for name in iu_systems.FILES if name != iu_systems.LAST_IMAGE)
"""The files that are compared; MLRG by the first image of each study."""
METRICS = (
    "bleu",
    "rouge_l",
    "meteor",
    "bertscore",
    "f1_radgraph",
    "ratescore",
    "observations",
    "green_rules",
    "green_rules_errors",
)
"""What is recorded of every candidate."""
CONSTANT = "a constant"
LANDMARKS = (
    CONSTANT,
    "the most frequent reference",
    "another reference",
    "the nearest reference",
)
SAME = "the reference itself"
_TRIED, _AGAINST = 100, 100  # texts among which the constant is chosen, and studies on which
_CHOOSERS = ("bleu", "rouge_l", "meteor")


def outputs(root: Path) -> pd.DataFrame:
    """Return the 590 studies of Open-i's test split with the outputs of each file and the baselines:
    ``study``, ``system``, ``reference``, ``candidate``, ``stratum``, ``gold`` (codes). Empty if the root has
    no such set."""
    records: list[SystemReport] = iu_systems.read(lambda file: find("iu_systems", root, file))
    reports = find("openi", root, "indiana_reports.csv")
    labels = find("openi_labels", root, openi.LABELS_FILE)
    if not records or reports is None or labels is None:
        return pd.DataFrame()
    texts = {(record.system, record.id): reveal(record.text) for record in records}
    studies = [record.id for record in records if record.system == iu_systems.REFERENCE]
    coded = {study.id: study for study in openi.load_labels(labels)}
    uncoded = {
        row["uid"] for row in reading.read_csv(reports, ("uid", "MeSH")) if row["MeSH"] == "No Indexing"
    }

    def stratum(study: str) -> str:
        if coded[study].codes:
            return "finding"
        if coded[study].normal:
            return "normal"
        return "uncoded" if study in uncoded else "other"

    reference = [texts[iu_systems.REFERENCE, study] for study in studies]
    candidates: dict[str, Sequence[str | None]] = {
        system: [texts[system, study] for study in studies] for system in iu_systems.FILES
    }
    candidates |= landmarks(reference, elsewhere(openi.load(reports), set(studies)))
    return pd.DataFrame(
        [
            {
                "study": number,
                "system": system,
                "reference": reference[number],
                "candidate": text,
                "stratum": stratum(study),
                "gold": coded[study].codes,
            }
            for system, outputs_of_system in candidates.items()
            for number, (study, text) in enumerate(zip(studies, outputs_of_system, strict=True))
            if text is not None
        ]
    )


def elsewhere(reports: Sequence[Report], tested: set[str]) -> list[str]:
    """Return the findings sections of studies outside a test split, without texts that occur in it."""
    withheld = {openi.text_key(report) for report in reports if report.id in tested}
    others = [report for report in reports if openi.text_key(report) not in withheld]
    return [text for report in others if (text := reveal(report.findings).strip())]


def landmarks(references: Sequence[str], others: Sequence[str]) -> dict[str, list[str | None]]:
    """Return baselines for any system, by name. Only the constant is chosen without the references.

    The constant is fixed by this rule: of the most frequent texts of other studies, the one with the highest
    mean of BLEU, ROUGE-L and METEOR against texts of other studies again. Another reference is that of the
    study half the set further on, or the next that differs; the nearest shares most
    distinct words with it (F1) of those that differ.
    """
    frequent = [text for text, _ in Counter(others).most_common(_TRIED)]
    against = list(dict.fromkeys(others))[:: max(1, len(set(others)) // _AGAINST)]
    pairs = [text for text in against for _ in frequent], frequent * len(against)
    values = [create(name).values(*pairs).reshape(len(against), -1) for name in _CHOOSERS]
    means = sum(of_metric.mean(axis=0) for of_metric in values)
    constant = frequent[int(np.argmax(means))]
    distinct = list(dict.fromkeys(references))
    bags = [set(words(text)) for text in distinct]
    near = np.array([[2 * len(a & b) / max(1, len(a) + len(b)) for b in bags] for a in bags])  # F1 of words
    np.fill_diagonal(near, -1.0)
    nearest = {text: distinct[int(np.argmax(row))] for text, row in zip(distinct, near, strict=True)}
    half, every = len(references) // 2, list(references)

    def other(number: int) -> str:
        turned = [*every[number + half :], *every[: number + half]]
        return next(text for text in turned if text != every[number])

    return {
        CONSTANT: [constant for _ in every],
        LANDMARKS[1]: [Counter(every).most_common(1)[0][0] for _ in every],
        LANDMARKS[2]: [other(number) for number in range(len(every))],
        LANDMARKS[3]: [nearest[text] for text in every],
        SAME: list(every),
    }
