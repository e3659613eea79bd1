"""Reports of real systems on Open-i's test split, from public repositories; and baselines for any system."""

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
"""Systems that are compared. MLRG wrote a report per image; that of the first image of each study is used."""
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
"""Metrics whose scores of every report are stored."""
CONSTANT = "a constant"
LANDMARKS = (CONSTANT, "the most frequent reference", "another reference", "the nearest reference")
"""Baselines that use other texts than the reference of a study; see :func:`make_baselines`."""
SAME = "the reference itself"
# The constant is the best of this many texts against this many references.
_CONSTANTS_TRIED, _REFERENCES_TRIED = 100, 100
_CHOOSERS = ("bleu", "rouge_l", "meteor")


def load_outputs(root: Path) -> pd.DataFrame:
    """Return the reports of every system and baseline for the 590 studies of Open-i's test split.

    Returns
    -------
    DataFrame
        One row per system and study, without studies for which a system has no report: ``study`` (its number
        from 0), ``system``, ``reference``, ``candidate``, ``stratum`` (``finding``, ``normal``, ``other``
        codes or ``uncoded``) and ``gold``, the codes that people gave the study. Empty if the root lacks a
        file.
    """
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

    def stratum_of(study: str) -> str:
        if coded[study].codes:
            return "finding"
        if coded[study].normal:
            return "normal"
        return "uncoded" if study in uncoded else "other"

    reference = [texts[iu_systems.REFERENCE, study] for study in studies]
    candidates: dict[str, Sequence[str | None]] = {
        system: [texts[system, study] for study in studies] for system in iu_systems.FILES
    }
    candidates |= make_baselines(reference, list_texts_outside(openi.load(reports), set(studies)))
    return pd.DataFrame(
        [
            {
                "study": number,
                "system": system,
                "reference": reference[number],
                "candidate": text,
                "stratum": stratum_of(study),
                "gold": coded[study].codes,
            }
            for system, system_reports in candidates.items()
            for number, (study, text) in enumerate(zip(studies, system_reports, strict=True))
            if text is not None
        ]
    )


def list_texts_outside(reports: Sequence[Report], tested: set[str]) -> list[str]:
    """Return the findings sections of studies outside a test split, without texts that occur in it.

    ``tested`` has the ids of the studies in the test split.
    """
    test_keys = {openi.join_words(report) for report in reports if report.id in tested}
    others = [report for report in reports if openi.join_words(report) not in test_keys]
    return [text for report in others if (text := reveal(report.findings).strip())]


def make_baselines(references: Sequence[str], others: Sequence[str]) -> dict[str, list[str | None]]:
    """Return the candidate of every baseline for each reference: a list per baseline, by its name.

    - The constant is, of the most frequent ``others``, the text with the highest mean of BLEU, ROUGE-L and
      METEOR against further ``others``. It is the only baseline chosen without the references.
    - The most frequent reference is the same for all studies.
    - Another reference is the reference of the study half the set further on, or the next one that differs.
    - The nearest reference is, of those that differ, the one with the highest F1 of distinct words.
    - The reference itself is the last baseline.

    Parameters
    ----------
    references : the reference of each study, with at least two distinct ones.
    others : texts of studies outside the test split; at least one.
    """
    frequent = [text for text, _ in Counter(others).most_common(_CONSTANTS_TRIED)]
    sampled = list(dict.fromkeys(others))[:: max(1, len(set(others)) // _REFERENCES_TRIED)]
    pairs = [text for text in sampled for _ in frequent], frequent * len(sampled)
    scores = [create(name).values(*pairs).reshape(len(sampled), -1) for name in _CHOOSERS]
    means = sum(values.mean(axis=0) for values in scores)
    constant = frequent[int(np.argmax(means))]
    distinct = list(dict.fromkeys(references))
    vocabularies = [set(words(text)) for text in distinct]
    overlap = [[2 * len(a & b) / max(1, len(a) + len(b)) for b in vocabularies] for a in vocabularies]
    word_f1 = np.array(overlap)
    np.fill_diagonal(word_f1, -1.0)
    nearest = {text: distinct[int(np.argmax(row))] for text, row in zip(distinct, word_f1, strict=True)}
    half, all_references = len(references) // 2, list(references)

    def other_reference(number: int) -> str:
        rotated = [*all_references[number + half :], *all_references[: number + half]]
        return next(text for text in rotated if text != all_references[number])

    return {
        CONSTANT: [constant for _ in all_references],
        LANDMARKS[1]: [Counter(all_references).most_common(1)[0][0] for _ in all_references],
        LANDMARKS[2]: [other_reference(number) for number in range(len(all_references))],
        LANDMARKS[3]: [nearest[text] for text in all_references],
        SAME: list(all_references),
    }
